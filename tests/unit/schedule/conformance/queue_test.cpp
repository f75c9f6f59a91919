// The queue of a working scheduler: looking at it, and removing tasks.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_future;
using spool::scheduled_thread_pool_executor;

constexpr int tasks = 5;

// Schedules five tasks that are due after the same delay.
template <class Body>
std::vector<scheduled_future<void>> schedule_five(scheduled_thread_pool_executor& pool, Body body,
                                                  std::chrono::nanoseconds delay) {
    std::vector<scheduled_future<void>> futures;
    for (int i = 0; i < tasks; ++i) {
        futures.push_back(pool.schedule(body, delay));
    }
    return futures;
}

TEST(scheduled_thread_pool_executor, STPE_023_the_queue_holds_what_does_not_run) {
    blocker held;
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool, held};
    const auto futures = schedule_five(pool, held.body(), 1ms);
    EXPECT_EQ(pool.queue().size(), 5U);
    clock->advance(1ms);
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(is_queued(pool, futures[0]));
    for (std::size_t i = 1; i < futures.size(); ++i) {
        EXPECT_TRUE(is_queued(pool, futures[i]));
    }
    EXPECT_EQ(pool.queue().size(), 4U);
}

TEST(scheduled_thread_pool_executor, STPE_024_a_waiting_task_can_be_removed_once_a_running_one_not) {
    blocker held;
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool, held};
    const auto futures = schedule_five(pool, held.body(), 1ms);
    clock->advance(1ms);
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(pool.remove(futures[0]));
    EXPECT_FALSE(pool.remove(futures[0].id()));
    EXPECT_TRUE(is_queued(pool, futures[4]));
    EXPECT_TRUE(is_queued(pool, futures[3]));

    EXPECT_TRUE(pool.remove(futures[4]));
    EXPECT_FALSE(pool.remove(futures[4]));
    EXPECT_FALSE(is_queued(pool, futures[4]));
    EXPECT_TRUE(is_queued(pool, futures[3]));

    EXPECT_TRUE(pool.remove(futures[3].id()));  // by id instead of by future
    EXPECT_FALSE(pool.remove(futures[3].id()));
    EXPECT_FALSE(is_queued(pool, futures[3]));
    EXPECT_EQ(pool.queue().size(), 2U);

    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(held.left(), 3) << "the removed ones never ran, the others did";
    EXPECT_TRUE(futures[4].is_cancelled());
    EXPECT_TRUE(futures[3].is_cancelled());
}

TEST(scheduled_thread_pool_executor, STPE_025_purge_takes_the_cancelled_ones_out) {
    const auto clock = standing_clock();
    spool::scheduled_pool_options options = scheduler_of(1, clock);
    options.remove_on_cancel = false;
    scheduled_thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool};
    const auto futures = schedule_five(
        pool, [] {}, 10s);
    EXPECT_TRUE(futures[4].cancel(spool::cancel_mode::interrupt));
    EXPECT_TRUE(futures[3].cancel(spool::cancel_mode::let_run));
    EXPECT_EQ(pool.task_count(), 5U) << "they leave at their time, or by purge()";

    EXPECT_EQ(pool.purge(), 2U);
    EXPECT_EQ(pool.task_count(), 3U);
    EXPECT_EQ(pool.queue().size(), 3U);
    EXPECT_EQ(pool.purge(), 0U);
    EXPECT_EQ(pool.task_count(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(is_queued(pool, futures[i]));
    }
    clock->advance(10s);  // a task that is not due would keep the pool from ending
}

TEST(scheduled_thread_pool_executor, STPE_025_a_cancelled_task_leaves_at_once_unless_told_otherwise) {
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool};
    const auto futures = schedule_five(
        pool, [] {}, 10s);
    EXPECT_EQ(pool.task_count(), 5U);
    EXPECT_TRUE(futures[4].cancel(spool::cancel_mode::interrupt));
    EXPECT_TRUE(futures[3].cancel(spool::cancel_mode::let_run));
    EXPECT_EQ(pool.task_count(), 3U);
    EXPECT_EQ(pool.queue().size(), 3U);
    EXPECT_EQ(pool.purge(), 0U) << "there is nothing left for it";
    clock->advance(10s);
}

}  // namespace
}  // namespace conformance
