// The states of scheduled futures: a timer with its result and its callable.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "spool/base/export.hpp"
#include "spool/schedule/detail/timer.hpp"
#include "spool/schedule/scheduled_pool_options.hpp"

namespace spool::inline v1::detail {

template <class T, class F>
class once_body final : public future_body<T, F, timer> {
public:
    using future_body<T, F, timer>::future_body;
    [[nodiscard]] timer_kind kind() const noexcept override { return timer_kind::once; }
};

template <class T, class F>
class wall_time_body final : public future_body<T, F, timer> {
public:
    template <class G>
    wall_time_body(std::chrono::system_clock::time_point wall, G&& f)
        : future_body<T, F, timer>(std::forward<G>(f)), wall_time_(wall) {}
    [[nodiscard]] timer_kind kind() const noexcept override { return timer_kind::at_wall_time; }
    [[nodiscard]] SPOOL_UNWATCHED std::chrono::system_clock::time_point wall_time() const noexcept override {
        return wall_time_;
    }

private:
    const std::chrono::system_clock::time_point wall_time_;
};

/// From when the period of a series counts.
enum class repetition {
    fixed_rate,   ///< from when the run was due
    fixed_delay,  ///< from the end of the run
};

class schedule_link;  // requeues into the pool; see src/schedule

/// When a periodic body runs again, and its counts.
class SPOOL_API series {
public:
    series(std::shared_ptr<const schedule_link> pool, due_time first, std::chrono::nanoseconds period,
           repetition how, const periodic_options& options);
    ~series();
    series(const series&) = delete;
    series& operator=(const series&) = delete;

    /// The due time of the next run, jitter included. The first call is for the first run.
    [[nodiscard]] due_time due() noexcept;
    /// Runs the body once and requeues it, as long as the series lasts. Returns what
    /// timer::run_as_task() returns.
    bool run(timer& body);
    /// Counts a run that begins. True: the caller must pass an exception from the run to failed().
    [[nodiscard]] bool begin() noexcept;
    /// True if an exception from the body must end the process.
    [[nodiscard]] bool is_fatal() const noexcept;
    void failed(const std::exception_ptr& error) noexcept;
    [[nodiscard]] timer::run_counts counts() const noexcept;

private:
    void move_on() noexcept;

    const std::shared_ptr<const schedule_link> pool_;
    // The time of the current run, without jitter. Only the runner changes it.
    due_time grid_;
    const std::chrono::nanoseconds period_;
    const repetition repetition_;
    const missed_runs missed_;
    const on_exception on_exception_;
    const std::chrono::nanoseconds jitter_;
    std::uint64_t random_;
    std::atomic<std::uint64_t> runs_{0};      // statistic
    std::atomic<std::uint64_t> failures_{0};  // statistic
};

template <class F>
class periodic_body final : public future_body<void, F, timer> {
public:
    template <class G, class... Args>
    periodic_body(std::in_place_t, G&& f, Args&&... args)
        : future_body<void, F, timer>(std::forward<G>(f)), series_(std::forward<Args>(args)...) {
        this->stamp = series_.due();
    }
    [[nodiscard]] timer_kind kind() const noexcept override { return timer_kind::periodic; }
    [[nodiscard]] timer::run_counts counts() const noexcept override { return series_.counts(); }
    bool run_as_task() override { return series_.run(*this); }

private:
    void run_body_and_forget() override {
        const auto call = [this] { future_body<void, F, timer>::run_body_and_forget(); };
        if (!series_.begin()) {
            call();
            return;
        }
        if (series_.is_fatal()) {
            [&call]() noexcept { call(); }();  // noexcept: the crash shows the place that threw
            return;
        }
        try {
            call();
        } catch (...) {
            series_.failed(std::current_exception());
        }
    }

    series series_;
};

}  // namespace spool::inline v1::detail
