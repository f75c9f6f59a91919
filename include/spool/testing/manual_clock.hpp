// manual_clock: a clock that stands still until a test advances it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "spool/base/clock_source.hpp"
#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/detail/mutex.hpp"

namespace spool::inline v1::testing {

/// For tests of code that schedules: a test advances time by hours at once, and no task runs early.
///
///     auto clock = std::make_shared<spool::testing::manual_clock>();
///     spool::scheduled_thread_pool_executor pool({.core_size = 1, .clock = clock});
///     auto alarm = pool.schedule([] { return ring(); }, 8h);
///     clock->advance(8h);
///     alarm.get();
///
/// advance() returns at once. The tasks that have become due then run on the pool's threads: wait
/// for their futures.
///
/// Thread safety: any thread may call every member.
class SPOOL_API manual_clock final : public clock_source {
public:
    /// Starts one hour after the epoch of the steady clock, at midnight of 1 January 2000, UTC.
    manual_clock();
    ~manual_clock() override;

    /// Advances both clocks. A negative duration changes nothing: the steady clock never goes back.
    template <class Rep, class Period>
    void advance(std::chrono::duration<Rep, Period> d) {
        move_on(saturated(d));
    }
    /// Changes only the time of day, as if a user set the clock.
    void set_wall(std::chrono::system_clock::time_point to);

    [[nodiscard]] due_time now() const noexcept override;
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() const noexcept override;
    [[nodiscard]] deadline sleep_limit(due_time due) const noexcept override;
    void add_listener(clock_listener& listener) override;
    void remove_listener(clock_listener& listener) noexcept override;

private:
    void move_on(std::chrono::nanoseconds d);
    void tell();

    std::atomic<std::int64_t> now_;          // ns on the steady clock
    std::atomic<std::int64_t> wall_offset_;  // ns from now_ to the time of day
    detail::mutex mutex_;                    // held while the listeners are called
    std::vector<clock_listener*> listeners_ SPOOL_GUARDED_BY(mutex_);
};

}  // namespace spool::inline v1::testing
