#include "spool/sync/this_task.hpp"

#include "spool/base/error.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/sync/event_count.hpp"

namespace spool::inline v1::this_task {

std::stop_token stop_token() {
    return task_scope::current_token();
}

void interruption_point() {
    if (stop_requested()) {
        throw interrupted("this_task::interruption_point: stop requested");
    }
}

void sleep_until(deadline until) {
    event_count never_notified;
    const wait_limits limits{.until = until, .stop = stop_token()};
    if (never_notified.await([] { return false; }, limits) == wait_result::interrupted) {
        throw interrupted("this_task::sleep: stop requested");
    }
}

}  // namespace spool::inline v1::this_task
