// How many tasks are running, completed and queued.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_002_the_active_count_is_the_number_of_running_tasks) {
    blocker held;
    std::atomic<std::size_t> seen_inside{99};
    thread_pool_executor pool{sized(2, 2)};
    const ended_at_last end{pool, held};
    EXPECT_EQ(pool.active_count(), 0U);
    pool.execute([&, block = held.body()] {
        seen_inside = pool.active_count();
        block();
    });
    ASSERT_TRUE(held.holds(1));
    EXPECT_EQ(seen_inside, 1U);
    EXPECT_EQ(pool.active_count(), 1U);

    held.release();
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 0; }));
}

TEST(thread_pool_executor, TPE_005_a_task_counts_as_completed_only_after_its_end) {
    blocker held;
    std::atomic<std::uint64_t> seen_inside{99};
    thread_pool_executor pool{sized(2, 2)};
    const ended_at_last end{pool, held};
    EXPECT_EQ(pool.completed_task_count(), 0U);
    pool.execute([&, block = held.body()] {
        seen_inside = pool.completed_task_count();
        block();
    });
    ASSERT_TRUE(held.holds(1));
    EXPECT_EQ(seen_inside, 0U);
    EXPECT_EQ(pool.completed_task_count(), 0U);

    held.release();
    EXPECT_TRUE(test::eventually([&] { return pool.completed_task_count() == 1; }));
}

TEST(thread_pool_executor, TPE_018_the_task_count_includes_running_and_queued_tasks) {
    constexpr std::uint64_t tasks = 4;
    blocker held;
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool, held};
    EXPECT_EQ(pool.task_count(), 0U);
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    for (std::uint64_t given = 1;; ++given) {
        EXPECT_EQ(pool.task_count(), given);
        EXPECT_EQ(pool.completed_task_count(), 0U);
        if (given == tasks) {
            break;
        }
        pool.execute(held.body());
    }
    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(pool.task_count(), tasks);
    EXPECT_EQ(pool.completed_task_count(), tasks);
}

}  // namespace
}  // namespace conformance
