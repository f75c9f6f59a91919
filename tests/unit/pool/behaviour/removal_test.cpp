// Removing tasks from the queue, and pools that are constructed on a queue with tasks in it.
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/tracked.hpp"

namespace {

std::unique_ptr<spool::linked_blocking_queue<spool::task>> holding(std::vector<spool::task> tasks) {
    auto queue = std::make_unique<spool::linked_blocking_queue<spool::task>>();
    for (spool::task& t : tasks) {
        queue->put(std::move(t));
    }
    return queue;
}

template <class... Tasks>
std::vector<spool::task> list_of(Tasks... tasks) {
    std::vector<spool::task> list;
    (list.push_back(std::move(tasks)), ...);
    return list;
}

}  // namespace

TEST(pool_removal, by_id_takes_a_queued_task_out_once_and_destroys_it) {
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    spool::task work = [&ran, counted = test::tracked{alive}] { ++ran; };
    const spool::task_id id = work.id();
    pool.execute(std::move(work));
    pool.execute([&ran] { ran += 10; });
    EXPECT_TRUE(pool.remove(id));
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(pool.remove(id));
    EXPECT_EQ(pool.task_count(), 2U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 10);
}

TEST(pool_removal, by_future_cancels_it_and_a_running_or_done_one_is_not_there) {
    test::gate started;
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{release};
    const auto running = pool.submit([&] { started.open(), release.wait(); });
    const auto queued = pool.submit([] {});
    ASSERT_TRUE(started.opens());
    EXPECT_FALSE(pool.remove(running));
    EXPECT_TRUE(pool.remove(queued));
    EXPECT_TRUE(queued.is_cancelled());
    EXPECT_FALSE(pool.remove(queued));
    release.open();
    running.get();
    EXPECT_FALSE(pool.remove(running));
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_removal, purge_takes_out_what_was_cancelled_and_nothing_else) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    std::vector<spool::future<void>> queued;
    for (int i = 0; i < 4; ++i) {
        queued.push_back(pool.submit([&ran] { ++ran; }));
    }
    pool.execute([&ran] { ++ran; });
    queued[1].cancel();
    queued[3].cancel();
    EXPECT_EQ(pool.queue().size(), 5U);
    EXPECT_EQ(pool.purge(), 2U);
    EXPECT_EQ(pool.queue().size(), 3U);
    EXPECT_EQ(pool.purge(), 0U);
    EXPECT_EQ(pool.task_count(), 4U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 3);
}

// Only this task keeps the pool from terminating, and no worker can be started for it. So its
// removal must terminate the pool.
TEST(pool_removal, of_the_last_task_ends_a_pool_that_shuts_down_without_workers) {
    const spool::thread_factory none = [](spool::task, const spool::worker_info&) {
        return spool::worker_thread{};
    };
    spool::task only = [] {};
    const spool::task_id id = only.id();
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = holding(list_of(std::move(only))), .thread_factory = none});
    pool.shutdown();
    EXPECT_FALSE(pool.is_terminated());
    EXPECT_TRUE(pool.remove(id));
    EXPECT_TRUE(pool.is_terminated());
}

TEST(pool_removal, purge_of_the_last_task_ends_a_pool_that_shuts_down_without_workers) {
    const spool::thread_factory none = [](spool::task, const spool::worker_info&) {
        return spool::worker_thread{};
    };
    auto [handle, work] = spool::future_task<void>{[] {}}.split();
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = holding(list_of(std::move(work))), .thread_factory = none});
    pool.shutdown();
    handle.cancel();
    EXPECT_FALSE(pool.is_terminated());
    EXPECT_EQ(pool.purge(), 1U);
    EXPECT_TRUE(pool.is_terminated());
}

TEST(pool_removal, of_the_last_queued_task_lets_a_pool_that_shuts_down_end_with_its_running_one) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    const auto queued = pool.submit([&ran] { ++ran; });
    pool.shutdown();
    EXPECT_TRUE(pool.remove(queued));
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
}

TEST(pool_prefilled, prestart_runs_what_the_queue_held) {
    std::atomic<int> ran{0};
    auto [handle, work] = spool::future_task<int>{[&ran] { return ++ran; }}.split();
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = holding(list_of([&ran] { ++ran; }, std::move(work)))});
    EXPECT_EQ(pool.task_count(), 2U);
    EXPECT_EQ(ran, 0);
    EXPECT_TRUE(pool.prestart_core_thread());
    ASSERT_TRUE(handle.wait_for(test::long_delay()));
    EXPECT_EQ(handle.get(), 2);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(pool_prefilled, shutdown_runs_what_the_queue_held) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool(
        {.core_size = 0, .maximum_size = 2, .queue = holding(list_of([&ran] { ++ran; }, [&ran] { ++ran; }))});
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(pool_prefilled, destruction_runs_what_the_queue_held) {
    std::atomic<int> ran{0};
    {
        const spool::thread_pool_executor pool(
            {.core_size = 1, .queue = holding(list_of([&ran] { ++ran; }))});
    }
    EXPECT_EQ(ran, 1);
}

TEST(pool_prefilled, shutdown_now_hands_back_what_the_queue_held) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .queue = holding(list_of([&ran] { ++ran; }))});
    EXPECT_EQ(pool.shutdown_now().size(), 1U);
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
}
