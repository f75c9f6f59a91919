// this_task: what a running task may ask about itself. Interruption is std::stop_token, nothing else: a stop is requested
// by cancelling the task's future or by shutdown_now(), and the task notices at a wait, or when it asks.
#pragma once

#include <chrono>
#include <stop_token>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task_scope.hpp"

namespace spool::inline v1::this_task {

/// The current task's token: valid also after the task has ended, and never stopped by what happens to a later
/// task on the same thread. Outside of any task, a token that never stops. Allocates on the first call in a task.
[[nodiscard]] SPOOL_API std::stop_token stop_token();

/// The same question without a token: two loads, no allocation.
[[nodiscard]] inline bool stop_requested() noexcept {
    const task_scope* const scope = task_scope::current();
    return scope != nullptr && scope->stop_requested();
}

/// \throws interrupted if the current task's stop was requested.
SPOOL_API void interruption_point();

/// Sleeps until then. Returns no sooner, unless
/// \throws interrupted the current task's stop is requested before it returns (also when it was requested before
/// the call, whatever the time).
SPOOL_API void sleep_until(deadline until);

/// Sleeps for at least `d`; `d` may be zero, negative or as large as it likes.
template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> d) {
    sleep_until(deadline::after(d));
}

}  // namespace spool::inline v1::this_task
