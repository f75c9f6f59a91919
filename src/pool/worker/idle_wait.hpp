// idle_wait: one idle period of a worker, until its next task. Only idle workers read the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "pool/pool.hpp"
#include "spool/base/deadline.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/detail/spinning.hpp"

namespace spool::inline v1 {

/// The `Idle` of worker_path::fetch_or_leave().
class idle_wait {
public:
    idle_wait(detail::pool& pool, task& next) noexcept : pool_(pool), next_(next) {}

    bool poll() { return pool_.backlog.poll_into(next_); }
    /// The worker stays though it timed out, for tasks that are not due: another keep-alive period
    /// begins.
    void must_stay() noexcept {
        keep_alive_begun_ = false;
        needed_ = true;
    }
    wait_result wait(bool limited, function_ref<bool()> look_again) {
        const deadline until = limited ? end_of_keep_alive() : deadline::never();
        std::optional<task> polled;
        wait_result how = wait_result::timed_out;
        if (holds_memory()) {
            const deadline soon = std::min(until, deadline::after(std::chrono::milliseconds{1}));
            how =
                pool_.backlog.pop_until(polled, {.until = soon, .stop = {}, .spin = spin_time()}, look_again);
        }
        if (how == wait_result::timed_out) {
            free_memory();
            how = pool_.backlog.pop_until(polled, {.until = until, .stop = {}, .spin = spin_time()},
                                          look_again);
        }
        if (polled.has_value()) {
            next_ = *std::move(polled);
            const deadline::time_point now = deadline::clock::now();
            pool_.idle_waits.record(now - since_, now);
        }
        return how;
    }

private:
    // The memory of futures. An idle worker frees what it and the pool hold, after a while: more
    // tasks may be about to come.
    [[nodiscard]] bool holds_memory() const noexcept {
        return !detail::state_returns::current()->empty() || !pool_.memory.looks_empty();
    }
    void free_memory() noexcept {
        detail::state_returns::current()->free_all();
        pool_.memory.trim();
    }
    deadline end_of_keep_alive() noexcept {
        // A worker that has been idle for the keep-alive but is needed asks again at most this
        // often.
        constexpr std::chrono::nanoseconds least = std::chrono::seconds{1};
        if (!std::exchange(keep_alive_begun_, true)) {
            keep_alive_since_ = deadline::clock::now();
        }
        const std::chrono::nanoseconds keep_alive = pool_.settings.keep_alive();
        const std::chrono::nanoseconds most = needed_ ? std::max(keep_alive, least) : keep_alive;
        return most < deadline::time_point::max() - keep_alive_since_ ? deadline::at(keep_alive_since_ + most)
                                                                      : deadline::never();
    }
    // How much of the wait the worker may spin.
    std::chrono::nanoseconds spin_time() noexcept {
        const deadline::time_point now = deadline::clock::now();
        if (since_ == deadline::time_point{}) {
            since_ = now;
        }
        const idle_spin& spin = pool_.config.idle_spin;
        const std::chrono::nanoseconds none{0};
        std::chrono::nanoseconds budget = spin.time();
        if (spin.is_adaptive()) {
            budget = is_spinning_worthwhile(now) ? pool_.idle_waits.next_spin() : none;
        } else if (spin.is_low_latency()) {
            budget = can_spinning_help() ? pool_.idle_waits.next_spin() : none;
        }
        return std::max(none, budget - (now - since_));
    }

    detail::pool& pool_;
    task& next_;
    deadline::time_point since_{};
    deadline::time_point keep_alive_since_{};  // when the current keep-alive period began
    bool keep_alive_begun_ = false;
    bool needed_ = false;  // the worker timed out, but had to stay
};

}  // namespace spool::inline v1
