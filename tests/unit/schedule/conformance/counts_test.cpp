// How many tasks are running, completed and queued, and how many workers there are.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using spool::scheduled_thread_pool_executor;

TEST(scheduled_thread_pool_executor, STPE_010_the_active_count_is_the_number_of_running_tasks) {
    blocker held;
    std::atomic<std::size_t> seen_inside{99};
    scheduled_thread_pool_executor pool{scheduler_of(2)};
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

TEST(scheduled_thread_pool_executor, STPE_011_a_task_counts_as_completed_only_after_its_end) {
    blocker held;
    std::atomic<std::uint64_t> seen_inside{99};
    scheduled_thread_pool_executor pool{scheduler_of(2)};
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

TEST(scheduled_thread_pool_executor, STPE_012_the_core_size_reads_back) {
    const scheduled_thread_pool_executor one{scheduler_of(1)};
    const scheduled_thread_pool_executor three{scheduler_of(3)};
    EXPECT_EQ(one.core_size(), 1U);
    EXPECT_EQ(three.core_size(), 3U);
}

TEST(scheduled_thread_pool_executor, STPE_013_the_largest_size_is_remembered_after_the_end) {
    constexpr int workers = 3;
    blocker held;
    scheduled_thread_pool_executor pool{scheduler_of(workers)};
    const ended_at_last end{pool, held};
    EXPECT_EQ(pool.largest_pool_size(), 0U);
    for (int i = 0; i < workers; ++i) {
        pool.execute(held.body());
    }
    ASSERT_TRUE(held.holds(workers));
    EXPECT_EQ(pool.largest_pool_size(), 3U);

    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_EQ(pool.largest_pool_size(), 3U);
}

TEST(scheduled_thread_pool_executor, STPE_014_the_first_task_brings_the_first_worker) {
    blocker held;
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool, held};
    EXPECT_EQ(pool.pool_size(), 0U);
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    EXPECT_EQ(pool.pool_size(), 1U);
}

TEST(scheduled_thread_pool_executor, STPE_015_the_task_count_includes_running_and_queued_tasks) {
    constexpr std::uint64_t tasks = 4;
    blocker held;
    scheduled_thread_pool_executor pool{scheduler_of(1)};
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
