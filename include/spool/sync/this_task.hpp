// this_task: what a running task may ask about itself. Interruption uses std::stop_token and
// nothing else. Cancelling the task's future, or shutdown_now(), requests a stop. The task notices
// it at a wait, or when it asks.
#pragma once

#include <chrono>
#include <stop_token>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/detail/task_scope.hpp"

namespace spool::inline v1::this_task {

/// The token of the current task. It stays valid after the task has ended, and a later task on the
/// same thread never stops it. Outside of any task, a token that never stops. The first call in a
/// task allocates.
[[nodiscard]] SPOOL_API std::stop_token stop_token();

/// Whether a stop of the current task was requested. No allocation: two loads per enclosing task.
[[nodiscard]] inline bool stop_requested() noexcept {
    const task_scope* const scope = task_scope::current();
    return scope != nullptr && scope->stop_requested();
}

/// \throws interrupted if the current task's stop was requested.
SPOOL_API void interruption_point();

/// Sleeps until `until`, never shorter.
/// \throws interrupted if the current task's stop is requested before the call or during the sleep,
/// even if `until` has already passed.
SPOOL_API void sleep_until(deadline until);

/// Sleeps for at least `d`. `d` may be zero, negative or arbitrarily large.
template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> d) {
    sleep_until(deadline::after(d));
}

}  // namespace spool::inline v1::this_task
