// invoke_any: the first result wins.
#include <gtest/gtest.h>

#include "unit/pool/conformance/invoke_any_checks.hpp"

namespace conformance {
namespace {

using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_071_invoke_any_of_no_tasks_is_refused) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_any_of_no_tasks_is_refused(pool);
}

TEST(thread_pool_executor, TPE_072_invoke_any_refuses_an_empty_task_without_waiting_for_others) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_any_refuses_an_empty_task_without_waiting_for_others(pool);
}

TEST(thread_pool_executor, TPE_073_invoke_any_throws_what_its_only_task_threw) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_any_throws_what_its_only_task_threw(pool);
}

TEST(thread_pool_executor, TPE_074_invoke_any_returns_one_of_the_values) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_any_returns_one_of_the_values(pool);
}

TEST(thread_pool_executor, TPE_082_timed_invoke_any_of_no_tasks_is_refused) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_any_of_no_tasks_is_refused(pool);
}

TEST(thread_pool_executor, TPE_083_timed_invoke_any_refuses_an_empty_task_without_waiting_for_others) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_any_refuses_an_empty_task_without_waiting_for_others(pool);
}

TEST(thread_pool_executor, TPE_084_timed_invoke_any_throws_what_its_only_task_threw) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_any_throws_what_its_only_task_threw(pool);
}

TEST(thread_pool_executor, TPE_085_timed_invoke_any_returns_one_of_the_values) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_any_returns_one_of_the_values(pool);
}

}  // namespace
}  // namespace conformance
