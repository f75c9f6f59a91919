// Workers that leave when they are idle, and workers that stay.
#include <gtest/gtest.h>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::pool_options;
using spool::thread_pool_executor;

pool_options impatient() {
    pool_options options = sized(2, 10);
    options.keep_alive = test::short_delay();
    return options;
}

TEST(thread_pool_executor, TPE_094_core_workers_may_not_time_out_by_default) {
    const thread_pool_executor pool{sized(2, 2)};
    EXPECT_FALSE(pool.core_threads_may_time_out());
}

TEST(thread_pool_executor, TPE_095_with_core_time_out_an_idle_pool_shrinks_to_nothing) {
    blocker held;
    thread_pool_executor pool{impatient()};
    const ended_at_last end{pool, held};
    pool.allow_core_threads_to_time_out(true);
    EXPECT_TRUE(pool.core_threads_may_time_out());
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    EXPECT_EQ(pool.pool_size(), 1U);

    const auto idle = test::time_of([&] {
        held.release();
        EXPECT_TRUE(test::eventually([&] { return pool.pool_size() == 0; }));
    });
    EXPECT_GE(idle, test::short_delay());
    EXPECT_FALSE(pool.is_shutdown());
    EXPECT_EQ(pool.completed_task_count(), 1U);
}

TEST(thread_pool_executor, TPE_096_without_core_time_out_idle_core_workers_stay) {
    blocker held;
    thread_pool_executor pool{impatient()};
    const ended_at_last end{pool, held};
    pool.allow_core_threads_to_time_out(false);
    EXPECT_FALSE(pool.core_threads_may_time_out());
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    held.release();
    ASSERT_TRUE(test::eventually([&] { return pool.active_count() == 0; }));

    EXPECT_FALSE(pool.await_termination(2 * test::short_delay()));  // lets the time pass
    EXPECT_EQ(pool.pool_size(), 1U);
}

}  // namespace
}  // namespace conformance
