// invoke_all: all tasks complete, or as many as the time allows.
#include <gtest/gtest.h>

#include "unit/pool/conformance/invoke_all_checks.hpp"

namespace conformance {
namespace {

using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_076_invoke_all_of_no_tasks_brings_no_futures) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_all_of_no_tasks_brings_no_futures(pool);
}

TEST(thread_pool_executor, TPE_077_invoke_all_refuses_an_empty_task) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_all_refuses_an_empty_task(pool);
}

TEST(thread_pool_executor, TPE_078_invoke_all_leaves_an_exception_in_its_future) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_all_leaves_an_exception_in_its_future(pool);
}

TEST(thread_pool_executor, TPE_079_invoke_all_brings_every_value) {
    thread_pool_executor pool{sized(2, 2)};
    checks::invoke_all_brings_every_value(pool);
}

TEST(thread_pool_executor, TPE_088_timed_invoke_all_of_no_tasks_brings_no_futures) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_all_of_no_tasks_brings_no_futures(pool);
}

TEST(thread_pool_executor, TPE_089_timed_invoke_all_refuses_an_empty_task) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_all_refuses_an_empty_task(pool);
}

TEST(thread_pool_executor, TPE_090_timed_invoke_all_leaves_an_exception_in_its_future) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_all_leaves_an_exception_in_its_future(pool);
}

TEST(thread_pool_executor, TPE_091_timed_invoke_all_brings_every_value) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_all_brings_every_value(pool);
}

TEST(thread_pool_executor, TPE_092_timed_invoke_all_cancels_what_is_late_and_keeps_the_rest) {
    thread_pool_executor pool{sized(2, 2)};
    checks::timed_invoke_all_cancels_what_is_late_and_keeps_the_rest(pool);
}

}  // namespace
}  // namespace conformance
