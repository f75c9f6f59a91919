// clock_source: where a pool that waits for times reads the time. The real clocks by default; tests bring their own.
#pragma once

#include <chrono>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

/// Told when time has moved in another way than by passing. Must not touch the clock's list of listeners.
class clock_listener {
public:
    virtual void time_changed() noexcept = 0;

protected:
    ~clock_listener() = default;
};

/// A pair of clocks: one that only moves forward, for delays, and the time of day. See spool::testing::manual_clock.
///
/// Thread safety: every member from any thread. now() and wall_now() take no lock that is held while a listener is called.
class SPOOL_API clock_source {
public:
    clock_source() = default;
    clock_source(const clock_source&) = delete;
    clock_source& operator=(const clock_source&) = delete;
    virtual ~clock_source();

    [[nodiscard]] virtual due_time now() const noexcept = 0;
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_now() const noexcept = 0;
    /// How long a thread that waits for `due` may sleep by the real clock. One that is told of every change may sleep for ever.
    [[nodiscard]] virtual deadline sleep_limit(due_time due) const noexcept = 0;

    virtual void add_listener(clock_listener& listener) = 0;
    /// On return no call of it is under way.
    virtual void remove_listener(clock_listener& listener) noexcept = 0;
};

}  // namespace spool::inline v1
