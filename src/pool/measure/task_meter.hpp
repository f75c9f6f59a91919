// task_meter: times the tasks of a pool, and counts what happens to them off the fast path.
//
// M1  Every counter only grows.
// M2  A timed task counts as often as the period said when it was submitted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "pool/measure/kind_table.hpp"
#include "pool/measure/sample_filter.hpp"
#include "pool/measure/sample_rate.hpp"
#include "pool/worker/worker.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/pool/measuring.hpp"

namespace spool::inline v1 {

class current_settings;

namespace detail {
struct pool;
}

class task_meter {
public:
    using clock = std::chrono::steady_clock;

    explicit task_meter(sample_filter& filter) noexcept : filter_(filter) {}

    // ---- A timed task

    struct run {
        std::uint32_t weight = 0;  // 0: the task is not timed
        std::uint32_t kind = 0;
        clock::time_point started{};
        // Of the task around it on the same worker:
        task_id outer = 0;
        std::uint32_t outer_kind = 0;
        std::int64_t outer_since = 0;
    };
    /// Called on the worker right before the body. Reads the clock if the task is timed.
    [[nodiscard]] run begin(const detail::pool& pool, worker& w, const task& work) noexcept;
    /// The same for the body of a future that a waiter has claimed.
    [[nodiscard]] run begin(const detail::pool& pool, worker& w, future_link body) noexcept;
    /// Called on the worker after the body. Precondition: the worker is not detached.
    void end(const detail::pool& pool, worker& w, const run& r) noexcept;

    // ---- Settings

    /// Follows the settings. If several threads change them, the last call sees the last change.
    void set(const current_settings& from) noexcept;
    /// A reader has seen that many started tasks: lowers or raises the period, if it is adaptive.
    /// Returns the most that a reader has seen: a worker that loses its first task, or destroys its
    /// pool, takes one back.
    std::uint64_t follow(clock::time_point now, std::uint64_t started, std::size_t workers) noexcept;
    [[nodiscard]] std::uint32_t period() const noexcept;

    // ---- Counters

    void count_failure() noexcept { failed_.fetch_add(1); }
    void count_taken_out(std::uint64_t n = 1) noexcept { taken_out_.fetch_add(n); }
    void add_blocked(std::chrono::nanoseconds d) noexcept { blocked_.fetch_add(d.count()); }
    [[nodiscard]] std::uint64_t failed() const noexcept { return failed_.load(); }
    [[nodiscard]] std::uint64_t taken_out() const noexcept { return taken_out_.load(); }
    [[nodiscard]] std::chrono::nanoseconds blocked() const noexcept {
        return std::chrono::nanoseconds{blocked_.load()};
    }
    [[nodiscard]] const kind_table& kinds() const noexcept { return kinds_; }

private:
    run begin_timed(worker& w, task_id id, kind_key kind, std::chrono::nanoseconds waited,
                    clock::time_point now, std::uint32_t weight) noexcept;

    sample_filter& filter_;
    sample_rate rate_;
    kind_table kinds_;
    std::atomic<std::uint32_t> per_second_{0};  // 0: not adaptive
    std::atomic<std::uint64_t> failed_{0};      // statistic
    std::atomic<std::uint64_t> taken_out_{0};   // statistic
    std::atomic<std::int64_t> blocked_{0};      // ns; statistic
    // For follow(): the most started tasks, and the reading before.
    detail::mutex mutex_;
    std::uint64_t most_started_ SPOOL_GUARDED_BY(mutex_) = 0;
    clock::time_point followed_at_ SPOOL_GUARDED_BY(mutex_){};
    std::uint64_t followed_ SPOOL_GUARDED_BY(mutex_) = 0;
};

}  // namespace spool::inline v1
