// invoke_all on a scheduler: all tasks complete, or as many as the time allows.
#include <gtest/gtest.h>

#include "unit/pool/conformance/invoke_all_checks.hpp"
#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using spool::scheduled_thread_pool_executor;

TEST(scheduled_thread_pool_executor, STPE_038_invoke_all_of_no_tasks_brings_no_futures) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_all_of_no_tasks_brings_no_futures(pool);
}

TEST(scheduled_thread_pool_executor, STPE_039_invoke_all_refuses_an_empty_task) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_all_refuses_an_empty_task(pool);
}

TEST(scheduled_thread_pool_executor, STPE_040_invoke_all_leaves_an_exception_in_its_future) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_all_leaves_an_exception_in_its_future(pool);
}

TEST(scheduled_thread_pool_executor, STPE_041_invoke_all_brings_every_value) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::invoke_all_brings_every_value(pool);
}

TEST(scheduled_thread_pool_executor, STPE_050_timed_invoke_all_of_no_tasks_brings_no_futures) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_all_of_no_tasks_brings_no_futures(pool);
}

TEST(scheduled_thread_pool_executor, STPE_051_timed_invoke_all_refuses_an_empty_task) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_all_refuses_an_empty_task(pool);
}

TEST(scheduled_thread_pool_executor, STPE_052_timed_invoke_all_leaves_an_exception_in_its_future) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_all_leaves_an_exception_in_its_future(pool);
}

TEST(scheduled_thread_pool_executor, STPE_053_timed_invoke_all_brings_every_value) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_all_brings_every_value(pool);
}

TEST(scheduled_thread_pool_executor, STPE_054_timed_invoke_all_cancels_what_is_late_and_keeps_the_rest) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    checks::timed_invoke_all_cancels_what_is_late_and_keeps_the_rest(pool);
}

}  // namespace
}  // namespace conformance
