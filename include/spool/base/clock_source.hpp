// clock_source: where a scheduled pool reads the time. The default is the real clocks; tests supply
// their own.
#pragma once

#include <chrono>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

/// A clock calls time_changed() when its time changes other than by passing, for example when a
/// test advances it. time_changed() must not add or remove listeners.
class clock_listener {
public:
    virtual void time_changed() noexcept = 0;

protected:
    ~clock_listener() = default;
};

/// A pair of clocks: a steady one for delays, and the time of day. See
/// spool::testing::manual_clock.
///
/// Thread safety: any thread may call every member. now() and wall_now() take no lock that the
/// clock holds while it calls a listener.
class SPOOL_API clock_source {
public:
    clock_source() = default;
    clock_source(const clock_source&) = delete;
    clock_source& operator=(const clock_source&) = delete;
    virtual ~clock_source();

    [[nodiscard]] virtual due_time now() const noexcept = 0;
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_now() const noexcept = 0;
    /// Until when, on the real steady clock, a thread that waits for `due` may sleep. A clock that
    /// tells its listeners of every change may return deadline::never().
    [[nodiscard]] virtual deadline sleep_limit(due_time due) const noexcept = 0;

    virtual void add_listener(clock_listener& listener) = 0;
    /// When it returns, no call of `listener` is in progress.
    virtual void remove_listener(clock_listener& listener) noexcept = 0;
};

}  // namespace spool::inline v1
