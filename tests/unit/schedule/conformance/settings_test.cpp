// The thread factory and the rejection policy: reading, replacing, and refusing bad values.
#include <gtest/gtest.h>

#include <utility>

#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using spool::scheduled_thread_pool_executor;
using spool::thread_factory;

TEST(scheduled_thread_pool_executor, STPE_016_the_factory_given_is_the_one_in_use) {
    const thread_factory given = plain_factory();
    spool::scheduled_pool_options options = scheduler_of(1);
    options.thread_factory = given;
    const scheduled_thread_pool_executor pool{std::move(options)};
    EXPECT_TRUE(pool.thread_factory() == given);
    EXPECT_FALSE(pool.thread_factory() == plain_factory()) << "another of the same kind";
}

TEST(scheduled_thread_pool_executor, STPE_017_the_factory_can_be_replaced) {
    const thread_factory second = plain_factory();
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    EXPECT_FALSE(pool.thread_factory() == second);
    pool.set_thread_factory(second);
    EXPECT_TRUE(pool.thread_factory() == second);
}

TEST(scheduled_thread_pool_executor, STPE_018_an_empty_factory_cannot_be_set) {
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const thread_factory before = pool.thread_factory();
    expect_refused([&] { pool.set_thread_factory({}); }, "the thread factory is empty");
    EXPECT_TRUE(pool.thread_factory() == before);
}

TEST(scheduled_thread_pool_executor, STPE_019_the_default_policy_aborts) {
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    ASSERT_TRUE(ends(pool));
    EXPECT_NE(pool.rejection().target<spool::abort_policy>(), nullptr);
    EXPECT_THROW(pool.execute([] {}), spool::rejected_execution);
}

}  // namespace
}  // namespace conformance
