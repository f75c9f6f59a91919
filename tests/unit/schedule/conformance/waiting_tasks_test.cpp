// Tasks that are not due yet: what shutdown_now() and cancel() do to them, and which tasks cannot
// be scheduled.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/any_timeout.hpp"
#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_future;
using spool::scheduled_thread_pool_executor;
using spool::task;

TEST(scheduled_thread_pool_executor,
     STPE_027_shutdown_now_hands_back_waiting_tasks_and_a_dropped_task_is_cancelled) {
    std::atomic<int> runs{0};
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool};
    const auto body = [&runs] { ++runs; };
    std::vector<scheduled_future<void>> futures;
    for (int i = 0; i < 3; ++i) {
        futures.push_back(pool.schedule(body, 9s));
        futures.push_back(pool.schedule_at_fixed_rate(body, 9s, 9s));
        futures.push_back(pool.schedule_with_fixed_delay(body, 9s, 9s));
    }
    EXPECT_EQ(pool.queue().size(), 9U);

    std::vector<task> handed_back = pool.shutdown_now();
    EXPECT_TRUE(pool.is_shutdown());
    EXPECT_TRUE(pool.queue().empty());
    EXPECT_EQ(handed_back.size(), 9U);
    ASSERT_TRUE(pool.await_termination(test::long_delay())) << "termination does not wait for due times";
    for (const auto& f : futures) {
        EXPECT_EQ(std::count_if(handed_back.begin(), handed_back.end(),
                                [&f](const task& t) { return t.id() == f.id(); }),
                  1);
        EXPECT_FALSE(f.is_done()) << "the caller has the task and could still run it";
        EXPECT_FALSE(f.is_cancelled());
        EXPECT_EQ(f.delay(), 0s) << "a task that was handed back has no due time";
    }

    handed_back.clear();
    for (const auto& f : futures) {
        EXPECT_TRUE(f.is_cancelled()) << "the task was destroyed without a run";
    }
    EXPECT_EQ(runs, 0);
}

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

TEST(scheduled_thread_pool_executor,
     STPE_023_STPE_024_a_task_that_is_due_waits_in_the_queue_and_can_be_removed_until_it_runs) {
    blocker held;
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool, held};
    const auto futures = schedule_five(pool, held.body(), 1ms);
    EXPECT_EQ(pool.queue().size(), 5U);
    clock->advance(1ms);
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(is_queued(pool, futures[0]));
    EXPECT_FALSE(pool.remove(futures[0]));
    EXPECT_TRUE(is_queued(pool, futures[4]));
    EXPECT_TRUE(pool.remove(futures[4]));
    EXPECT_FALSE(pool.remove(futures[4]));
    EXPECT_FALSE(is_queued(pool, futures[4]));
    EXPECT_EQ(pool.queue().size(), 3U);
}

TEST(scheduled_thread_pool_executor, STPE_025_purge_removes_the_cancelled_tasks) {
    const auto clock = standing_clock();
    spool::scheduled_pool_options options = scheduler_of(1, clock);
    options.remove_on_cancel = false;
    scheduled_thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool};
    const auto futures = schedule_five(
        pool, [] {}, 10s);
    EXPECT_TRUE(futures[4].cancel(spool::cancel_mode::interrupt));
    EXPECT_TRUE(futures[3].cancel(spool::cancel_mode::let_run));
    EXPECT_EQ(pool.task_count(), 5U) << "they leave when they are due, or by purge()";

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

TEST(scheduled_thread_pool_executor, STPE_025_a_cancelled_task_leaves_the_queue_at_once_by_default) {
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
    EXPECT_EQ(pool.purge(), 0U) << "no cancelled task is left in the queue";
    clock->advance(10s);
}

TEST(scheduled_thread_pool_executor, STPE_055_a_task_with_the_largest_delay_runs_after_every_other_task) {
    test::gate immediate_ran;
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool};
    const auto never_again = pool.schedule_with_fixed_delay(
        [&] { pool.execute([&] { immediate_ran.open(); }); }, 0s, std::chrono::seconds::max());
    ASSERT_TRUE(immediate_ran.opens());

    // The only worker has requeued the periodic task before it ran the immediate one.
    EXPECT_EQ(never_again.run_count(), 1U);
    EXPECT_TRUE(is_queued(pool, never_again));
    EXPECT_GT(never_again.delay(), std::chrono::years{100});
    EXPECT_NO_THROW(pool.submit([] {}).get_for(test::long_delay())) << "the far task delays no other";
}

// The refusal must name the empty callable, and not one of the other arguments.
template <class F>
void expect_empty_callable(F f) {
    const std::string text = test::what_of<std::invalid_argument>(f);
    EXPECT_NE(text.find("empty callable"), std::string::npos) << text;
}

TEST(scheduled_thread_pool_executor, STPE_008_an_empty_task_cannot_be_scheduled_for_any_delay) {
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const spool::pool_snapshot before = pool.snapshot();
    const std::function<void()> no_action;
    const std::function<int()> no_function;
    test::for_any_timeout([&](auto delay) {
        expect_empty_callable([&] { pool.schedule(no_action, delay); });
        expect_empty_callable([&] { pool.schedule(no_function, delay); });
        expect_empty_callable([&] { pool.schedule_at_fixed_rate(no_action, delay, 1s); });
        expect_empty_callable([&] { pool.schedule_with_fixed_delay(no_action, delay, 1s); });
        EXPECT_THROW(pool.schedule_at_fixed_rate(no_action, 1s, delay), std::invalid_argument);
        EXPECT_THROW(pool.schedule_with_fixed_delay(no_action, 1s, delay), std::invalid_argument);
    });
    EXPECT_EQ(pool.snapshot(), before);
}

}  // namespace
}  // namespace conformance
