// The queue as seen from outside: remove, purge, remove_on_cancel, for_each, counts.
#include <gtest/gtest.h>

#include "schedule_helpers.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;

TEST(scheduled_removal, a_cancelled_task_leaves_the_queue_at_once_if_so_configured) {
    test::timed_pool timed;
    EXPECT_TRUE(timed.pool.remove_on_cancel());
    const auto once = timed.pool.schedule([] {}, 1h);
    const auto wall = timed.pool.schedule_at([] {}, timed.clock->wall_now() + 2h);
    const auto series = timed.pool.schedule_at_fixed_rate([] {}, 3h, 1h);
    EXPECT_EQ(timed.pool.queue().size(), 3U);
    EXPECT_TRUE(once.cancel() && wall.cancel() && series.cancel());
    EXPECT_EQ(timed.pool.queue().size(), 0U);
    EXPECT_EQ(timed.pool.task_count(), 0U);
}

TEST(scheduled_removal, a_cancelled_task_otherwise_stays_until_it_is_due) {
    test::timed_pool timed({.core_size = 1, .remove_on_cancel = false});
    std::atomic<int> alive{0};
    const auto once = timed.pool.schedule([counted = test::tracked{alive}] {}, 1h);
    EXPECT_TRUE(once.cancel());
    EXPECT_EQ(alive, 0) << "its callable goes at once all the same";
    EXPECT_EQ(timed.pool.queue().size(), 1U);
    timed.advance(1h);
    EXPECT_EQ(timed.pool.queue().size(), 0U);
}

TEST(scheduled_removal, remove_on_cancel_can_be_changed_at_any_time) {
    test::timed_pool timed;
    const auto one = timed.pool.schedule([] {}, 1h);
    const auto other = timed.pool.schedule([] {}, 1h);
    timed.pool.set_remove_on_cancel(false);
    EXPECT_FALSE(timed.pool.remove_on_cancel());
    one.cancel();
    EXPECT_EQ(timed.pool.queue().size(), 2U);
    timed.pool.set_remove_on_cancel(true);
    other.cancel();
    EXPECT_EQ(timed.pool.queue().size(), 1U);
    timed.pool.shutdown();
    EXPECT_TRUE(timed.pool.await_termination(test::long_delay())) << "the cancelled are not waited for";
}

TEST(scheduled_removal, purge_removes_cancelled_tasks_and_returns_their_number) {
    test::timed_pool timed({.core_size = 1, .remove_on_cancel = false});
    std::vector<spool::scheduled_future<void>> timers;
    for (int i = 0; i < 10; ++i) {
        timers.push_back(timed.pool.schedule([] {}, std::chrono::minutes{i + 1}));
        timers.push_back(timed.pool.schedule_at_fixed_rate([] {}, std::chrono::hours{i + 1}, 1h));
    }
    for (int i = 0; i < 20; i += 3) {
        timers[static_cast<std::size_t>(i)].cancel();
    }
    EXPECT_EQ(timed.pool.purge(), 7U);
    EXPECT_EQ(timed.pool.queue().size(), 13U);
    EXPECT_EQ(timed.pool.purge(), 0U);
}

TEST(scheduled_removal, a_removed_task_is_cancelled_and_its_callbacks_run) {
    test::timed_pool timed;
    std::atomic<int> alive{0};
    auto timer = timed.pool.schedule([counted = test::tracked{alive}] {}, 1h);
    int called = 0;
    timer.on_done([&] { ++called; });
    EXPECT_TRUE(timed.pool.remove(timer));
    EXPECT_FALSE(timed.pool.remove(timer));
    EXPECT_TRUE(timer.is_cancelled());
    EXPECT_EQ(called, 1);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(timed.pool.queue().size(), 0U);
}

TEST(scheduled_removal, works_by_the_tasks_number_too_and_for_a_series) {
    test::timed_pool timed;
    const auto timer = timed.pool.schedule([] {}, 1h);
    const auto series = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    EXPECT_TRUE(timed.pool.remove(timer.id()));
    timed.advance(3h);
    EXPECT_EQ(series.run_count(), 3U);
    EXPECT_TRUE(timed.pool.remove(series));
    EXPECT_TRUE(timer.is_cancelled() && series.is_cancelled());
}

TEST(scheduled_removal, fails_for_a_running_task) {
    test::gate started;
    test::gate go_on;
    test::timed_pool timed;
    const test::open_at_end open{go_on};
    const auto timer = timed.pool.schedule(
        [&] {
            started.open();
            go_on.wait();
            return 3;
        },
        1h);
    timed.clock->advance(1h);
    ASSERT_TRUE(started.opens());
    EXPECT_FALSE(timed.pool.remove(timer));
    EXPECT_EQ(timer.delay(), 0ns);
    go_on.open();
    EXPECT_EQ(timer.get(), 3);
}

TEST(scheduled_queue, shows_its_tasks_in_the_order_in_which_they_come_due) {
    test::timed_pool timed;
    std::vector<spool::task_id> expected;
    std::vector<spool::scheduled_future<void>> timers;
    for (int i = 0; i < 60; ++i) {  // latest first, in pairs with the same due time
        timers.push_back(timed.pool.schedule([] {}, std::chrono::hours{60 - i / 2}));
    }
    for (int hour = 29; hour >= 0; --hour) {
        expected.push_back(timers[static_cast<std::size_t>(2 * hour)].id());
        expected.push_back(timers[static_cast<std::size_t>(2 * hour + 1)].id());
    }
    std::vector<spool::task_id> seen;
    timed.pool.queue().for_each([&](const spool::task& t) { seen.push_back(t.id()); });
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(timed.pool.queue().size(), 60U);
    EXPECT_FALSE(timers[7].is_done()) << "looking at a task takes nothing from it";
    const auto is = [](spool::task_id id) { return [id](const spool::task& t) { return t.id() == id; }; };
    EXPECT_TRUE(timed.pool.queue().contains(is(timers[7].id())));
    timers[7].cancel();
    EXPECT_FALSE(timed.pool.queue().contains(is(timers[7].id())));
}

TEST(scheduled_queue, poll_returns_only_due_tasks) {
    test::busy_workers busy;
    test::timed_pool timed;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(timed.pool);
    const auto timer = timed.pool.schedule([] { return 9; }, 1h);
    EXPECT_FALSE(timed.pool.queue().poll().has_value());
    timed.clock->advance(1h);
    std::optional<spool::task> taken = timed.pool.queue().poll();
    ASSERT_TRUE(taken.has_value());
    (*taken)();
    EXPECT_EQ(timer.get(), 9);
}

TEST(scheduled_queue, takes_a_task_that_is_no_future_and_keeps_its_own_due_time) {
    struct at_nine {
        spool::due_time when;
        std::atomic<bool>* ran;
        void operator()() const { *ran = true; }
        [[nodiscard]] spool::due_time due() const { return when; }
    };
    test::timed_pool timed;
    std::atomic<bool> ran{false};
    timed.pool.execute(at_nine{timed.clock->now() + 9h, &ran});
    timed.settle();
    EXPECT_FALSE(ran);
    timed.advance(9h);
    EXPECT_TRUE(ran);
}

TEST(scheduled_counts, every_run_of_a_series_is_a_task_completed) {
    test::timed_pool timed;
    const auto series = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    for (int i = 0; i < 4; ++i) {
        timed.clock->advance(1h);
        ASSERT_TRUE(test::eventually(
            [&] { return timed.pool.completed_task_count() == 1U + static_cast<unsigned>(i); }));
    }
    EXPECT_EQ(series.run_count(), 4U);
    EXPECT_EQ(timed.pool.task_count(), 5U) << "and the one that waits";
    const spool::pool_snapshot now = timed.pool.snapshot();
    EXPECT_EQ(now.queued, 1U);
    EXPECT_EQ(now.active, 0U);
}

}  // namespace
