// What a pool guarantees over every kind of queue.
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/tracked.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/queues/queue_kinds.hpp"

namespace {

using spool::task;

class pool_over : public testing::TestWithParam<test::queue_kind> {
protected:
    spool::pool_options sized(std::size_t n) {
        return {.core_size = n,
                .maximum_size = n,
                .queue = GetParam().make(),
                .rejection = spool::block_policy{test::long_delay()}};
    }
};
INSTANTIATE_TEST_SUITE_P(kinds, pool_over, testing::ValuesIn(test::queue_kinds()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(pool_over, runs_every_task_once) {
    std::vector<std::atomic<int>> ran(500);
    {
        spool::thread_pool_executor pool(sized(3));
        for (std::atomic<int>& count : ran) {
            pool.execute([&count] { ++count; });
        }
        ASSERT_TRUE(test::ends(pool));
        EXPECT_EQ(pool.completed_task_count(), ran.size());
    }
    for (const std::atomic<int>& count : ran) {
        ASSERT_EQ(count, 1);
    }
}

TEST_P(pool_over, two_tasks_that_wait_for_each_other_both_run) {
    spool::thread_pool_executor pool(sized(2));
    pool.prestart_all_core_threads();
    for (int round = 0; round < 200; ++round) {
        test::gate first;
        test::gate second;
        const auto one = pool.submit([&] {
            first.open();
            return second.opens();
        });
        const auto other = pool.submit([&] {
            second.open();
            return first.opens();
        });
        ASSERT_TRUE(one.get() && other.get());
    }
}

TEST_P(pool_over, idle_workers_wake_for_a_burst) {
    spool::thread_pool_executor pool(sized(4));
    pool.prestart_all_core_threads();
    for (int round = 0; round < 20; ++round) {
        std::vector<spool::future<bool>> together;
        std::atomic<int> here{0};
        test::gate all_here;
        for (int i = 0; i < 4; ++i) {
            together.push_back(pool.submit([&] {
                if (++here == 4) {
                    all_here.open();
                }
                return all_here.opens();
            }));
        }
        for (const auto& one : together) {
            ASSERT_TRUE(one.get());
        }
    }
}

TEST_P(pool_over, queued_tasks_can_be_removed_purged_and_handed_back) {
    if (!GetParam().stores) {
        return;  // this queue never stores a task
    }
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool(sized(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    const auto removed = pool.submit([&ran] { ++ran; });
    const auto cancelled = pool.submit([&ran] { ++ran; });
    for (int i = 0; i < 3; ++i) {
        pool.execute([&ran, counted = test::tracked{alive}] { ++ran; });
    }
    EXPECT_TRUE(pool.remove(removed));
    EXPECT_FALSE(pool.remove(removed));
    cancelled.cancel();
    EXPECT_EQ(pool.purge(), 1U);
    EXPECT_EQ(pool.queue().size(), 3U);
    EXPECT_EQ(alive, 3);
    EXPECT_EQ(pool.shutdown_now().size(), 3U);
    EXPECT_EQ(alive, 0);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
}

TEST_P(pool_over, idle_workers_leave_at_shutdown) {
    spool::thread_pool_executor pool(sized(3));
    pool.prestart_all_core_threads();
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.pool_size(), 0U);
}

TEST_P(pool_over, nested_submission_finishes_in_a_pool_of_one) {
    spool::pool_options options = sized(1);
    options.maximum_size = 2;
    spool::thread_pool_executor pool(std::move(options));
    const auto outer = pool.submit([&pool] { return pool.submit([] { return 7; }).get(); });
    EXPECT_EQ(outer.get(), 7);
}

}  // namespace
