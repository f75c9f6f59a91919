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
    idle_wait(detail::pool& pool, worker& w, task& next) noexcept : pool_(pool), worker_(w), next_(next) {}
    idle_wait(const idle_wait&) = delete;
    idle_wait& operator=(const idle_wait&) = delete;
    ~idle_wait() {
        if (since_ != deadline::time_point{}) {
            worker_.meter.idle.end(ended_ != deadline::time_point{} ? ended_ : deadline::clock::now());
        }
    }

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
        const wait_limits limits{.until = until, .stop = {}, .spin = spin_time()};
        const wait_result how = pool_.backlog.pop_until(polled, limits, look_again);
        if (polled.has_value()) {
            next_ = *std::move(polled);
            ended_ = deadline::clock::now();
            pool_.idle_waits.record(ended_ - since_);
        }
        return how;
    }

private:
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
            worker_.meter.idle.begin(now);
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
    worker& worker_;
    task& next_;
    deadline::time_point since_{};
    deadline::time_point ended_{};
    deadline::time_point keep_alive_since_{};  // when the current keep-alive period began
    bool keep_alive_begun_ = false;
    bool needed_ = false;  // the worker timed out, but had to stay
};

}  // namespace spool::inline v1
