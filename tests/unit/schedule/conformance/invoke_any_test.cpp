// invoke_any on a scheduler: the first result wins.
#include <gtest/gtest.h>

#include "unit/pool/conformance/invoke_any_checks.hpp"
#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using spool::scheduled_thread_pool_executor;

TEST(scheduled_thread_pool_executor, STPE_033_invoke_any_of_no_tasks_is_refused) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_any_of_no_tasks_is_refused(pool);
}

TEST(scheduled_thread_pool_executor, STPE_034_invoke_any_refuses_an_empty_task_without_waiting_for_others) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_any_refuses_an_empty_task_without_waiting_for_others(pool);
}

TEST(scheduled_thread_pool_executor, STPE_035_invoke_any_throws_what_its_only_task_threw) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_any_throws_what_its_only_task_threw(pool);
}

TEST(scheduled_thread_pool_executor, STPE_036_invoke_any_returns_one_of_the_values) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_any_returns_one_of_the_values(pool);
}

TEST(scheduled_thread_pool_executor, STPE_044_timed_invoke_any_of_no_tasks_is_refused) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_any_of_no_tasks_is_refused(pool);
}

TEST(scheduled_thread_pool_executor,
     STPE_045_timed_invoke_any_refuses_an_empty_task_without_waiting_for_others) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_any_refuses_an_empty_task_without_waiting_for_others(pool);
}

TEST(scheduled_thread_pool_executor, STPE_046_timed_invoke_any_throws_what_its_only_task_threw) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_any_throws_what_its_only_task_threw(pool);
}

TEST(scheduled_thread_pool_executor, STPE_047_timed_invoke_any_returns_one_of_the_values) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_any_returns_one_of_the_values(pool);
}

}  // namespace
}  // namespace conformance
