// try_execute: returns the outcome instead of calling the policy. The task stays whole unless the
// pool accepts it.
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/tracked.hpp"

namespace {

using spool::admission_result;

struct counting_hooks : spool::pool_hooks {
    void rejected(const spool::task_info&, spool::rejection_reason) override { ++refusals; }
    std::atomic<int> refusals{0};
};

}  // namespace

TEST(pool_try_execute, answers_full_and_leaves_the_task_whole_and_counts_nothing) {
    const auto hooks = std::make_shared<counting_hooks>();
    std::atomic<int> handled{0};
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 1,
                                      .queue = test::bounded(1),
                                      .rejection = [&](spool::task&&, spool::rejection_reason,
                                                       spool::thread_pool_executor&) { ++handled; },
                                      .hooks = hooks});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    EXPECT_EQ(pool.try_execute([&ran] { ++ran; }), admission_result::accepted);
    spool::task mine = [&ran] { ran += 10; };
    const auto id = mine.id();
    const auto before = pool.snapshot();
    EXPECT_EQ(pool.try_execute(std::move(mine)), admission_result::full);
    EXPECT_EQ(mine.id(), id);
    EXPECT_EQ(pool.snapshot(), before);
    EXPECT_EQ(pool.rejected_count(), 0U);
    EXPECT_EQ(hooks->refusals, 0);
    EXPECT_EQ(handled, 0);
    mine();
    EXPECT_EQ(ran, 10);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 11);
}

TEST(pool_try_execute, answers_shut_down_and_leaves_the_task_whole) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1});
    pool.shutdown();
    spool::task mine = [&ran] { ++ran; };
    const auto id = mine.id();
    EXPECT_EQ(pool.try_execute(std::move(mine)), admission_result::shut_down);
    EXPECT_EQ(mine.id(), id);
    mine();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(pool.rejected_count(), 0U);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_try_execute, moves_from_the_task_when_it_is_accepted) {
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1});
    spool::task mine = [&ran, counted = test::tracked{alive}] { ++ran; };
    EXPECT_EQ(pool.try_execute(std::move(mine)), admission_result::accepted);
    EXPECT_TRUE(mine.empty());
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(alive, 0);
}

TEST(pool_try_execute, leaves_the_future_of_a_refused_task_pending) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::synchronous()});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    auto [handle, work] = spool::future_task<int>{[] { return 4; }}.split();
    EXPECT_EQ(pool.try_execute(std::move(work)), admission_result::full);
    EXPECT_EQ(handle.state(), spool::future_state::pending);
    work();
    EXPECT_EQ(handle.get(), 4);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_try_execute, of_the_same_task_again_succeeds_once_there_is_room) {
    test::busy_workers busy;
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::synchronous()});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    spool::task mine = [&ran] { ++ran; };
    EXPECT_EQ(pool.try_execute(std::move(mine)), admission_result::full);
    pool.set_maximum_size(2);
    EXPECT_EQ(pool.try_execute(std::move(mine)), admission_result::accepted);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}
