// A plain task in a pool without hooks takes the fast path through a worker. The same guarantees
// hold as on the slow path.
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "scripted_queue.hpp"
#include "support/eventually.hpp"

namespace {

// For a callable to own: stores how many tasks had been completed when the callable was destroyed.
std::shared_ptr<void> completed_at_its_end(const spool::thread_pool_executor& pool,
                                           std::atomic<std::uint64_t>& answer) {
    return {nullptr, [&pool, &answer](void*) { answer = pool.completed_task_count(); }};
}

}  // namespace

TEST(pool_short_way, a_task_that_was_taken_when_the_pool_stops_is_stopped) {
    test::queue_script script;
    test::busy_workers busy;
    std::atomic<bool> asked{false};
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = std::make_unique<test::scripted_queue>(4, script)});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    pool.execute([&asked] { asked = spool::this_task::stop_requested(); });
    script.after_pop.arm([&pool] { EXPECT_TRUE(pool.shutdown_now().empty()); });
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(asked);
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(pool_short_way, a_first_task_whose_worker_begins_after_the_stop_is_stopped) {
    test::gate begin;
    std::atomic<bool> asked{false};
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{begin};
    pool.set_thread_factory([&begin](spool::task body, const spool::worker_info&) {
        return spool::worker_thread{std::thread{[&begin, body = std::move(body)]() mutable {
            begin.wait();
            body();
        }}};
    });
    pool.execute([&asked] { asked = spool::this_task::stop_requested(); });
    EXPECT_TRUE(pool.shutdown_now().empty());  // the task has a worker: it is not handed back
    begin.open();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(asked);
}

TEST(pool_short_way, a_worker_that_is_one_too_many_takes_no_other_task) {
    test::busy_workers first;
    test::busy_workers second;
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 2, .maximum_size = 2});
    const test::open_at_end first_guard{first.release_gate()};
    const test::open_at_end second_guard{second.release_gate()};
    first.hold(pool);
    second.hold(pool);
    ASSERT_TRUE(first.started() && second.started());
    pool.execute([&ran] { ++ran; });
    pool.set_core_size(1);
    pool.set_maximum_size(1);
    first.release();
    EXPECT_TRUE(test::eventually([&pool] { return pool.pool_size() == 1; }));
    EXPECT_EQ(ran, 0);
    second.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

TEST(pool_short_way, a_task_is_destroyed_before_it_counts_as_completed) {
    std::atomic<std::uint64_t> at_the_end_of_the_first{9};
    std::atomic<std::uint64_t> at_the_end_of_the_second{9};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    pool.execute([own = completed_at_its_end(pool, at_the_end_of_the_first)] {});
    pool.execute([own = completed_at_its_end(pool, at_the_end_of_the_second)] {});
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(at_the_end_of_the_first, 1U);
    EXPECT_EQ(at_the_end_of_the_second, 2U);
}

TEST(pool_short_way, a_task_that_runs_counts_as_running_and_not_as_queued) {
    test::busy_workers first;
    test::busy_workers second;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end first_guard{first.release_gate()};
    const test::open_at_end second_guard{second.release_gate()};
    first.hold(pool);
    ASSERT_TRUE(first.started());
    test::gate runs;
    pool.execute([&] {
        runs.open();
        second.release_gate().wait();
    });
    EXPECT_EQ(pool.task_count(), 2U);
    first.release();
    ASSERT_TRUE(runs.opens());
    EXPECT_EQ(pool.active_count(), 1U);
    EXPECT_EQ(pool.completed_task_count(), 1U);
    EXPECT_EQ(pool.task_count(), 2U);
    second.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(pool_short_way, a_token_that_a_task_left_behind_is_not_stopped_with_its_idle_worker) {
    test::queue_script script;
    test::gate idle;
    std::stop_token kept;
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = std::make_unique<test::scripted_queue>(4, script)});
    pool.execute([&](std::stop_token stop) {
        kept = std::move(stop);
        script.before_pop.arm([&idle] { idle.open(); });
    });
    ASSERT_TRUE(idle.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_FALSE(kept.stop_requested());
}

TEST(pool_short_way, a_token_that_was_asked_for_between_two_tasks_is_not_stopped_with_the_second) {
    test::queue_script script;
    test::busy_workers busy;
    test::gate runs;
    std::stop_token kept;
    std::atomic<bool> stopped{false};
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = std::make_unique<test::scripted_queue>(4, script)});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    pool.execute([&] {
        runs.open();
        stopped = test::eventually([] { return spool::this_task::stop_requested(); });
    });
    script.after_pop.arm([&kept] { kept = spool::this_task::stop_token(); });
    busy.release();
    ASSERT_TRUE(runs.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(stopped);
    EXPECT_NE(kept, std::stop_token{});
    EXPECT_FALSE(kept.stop_requested());
}

// The exception may refer to what the callable owns.
TEST(pool_short_way, what_a_task_threw_is_gone_before_its_callable) {
    const auto thrown = std::make_shared<int>(0);
    std::atomic<bool> gone_first{false};
    spool::thread_pool_executor pool(
        {.core_size = 1, .uncaught = [](const spool::worker_info&, const std::exception_ptr&) {}});
    const auto look = [&gone_first, left = std::weak_ptr<int>{thrown}](void*) {
        gone_first = left.use_count() == 1;
    };
    pool.execute(
        [&thrown, owned = std::shared_ptr<void>{nullptr, look}] { throw std::shared_ptr<int>{thrown}; });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_TRUE(gone_first);
}
