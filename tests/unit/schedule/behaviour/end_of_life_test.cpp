// shutdown_now(), the destructor, and futures that outlive their pool.
#include <gtest/gtest.h>

#include <optional>

#include "schedule_helpers.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;

// A pool that can be destroyed while its clock and its futures live on.
struct mortal_pool {
    explicit mortal_pool(std::size_t workers = 1) {
        pool.emplace(spool::scheduled_pool_options{.core_size = workers, .clock = clock});
    }
    spool::scheduled_thread_pool_executor* operator->() { return &*pool; }

    std::shared_ptr<spool::testing::manual_clock> clock = std::make_shared<spool::testing::manual_clock>();
    std::optional<spool::scheduled_thread_pool_executor> pool;
};

TEST(scheduled_destructor, cancels_tasks_that_are_not_due_and_runs_due_ones) {
    mortal_pool mortal;
    test::busy_workers busy;
    busy.hold(*mortal.pool);
    const auto due = mortal->schedule([] { return 1; }, 1h);
    const auto now = mortal->submit([] { return 2; });
    const auto delayed = mortal->schedule([] { return 3; }, 1h + 1ns);
    const auto periodic = mortal->schedule_at_fixed_rate([] {}, 0h, 1h);
    std::atomic<int> called{0};
    delayed.on_done([&] { ++called; });
    periodic.on_done([&] { ++called; });
    mortal.clock->advance(1h);
    std::thread releaser{[&] {
        delayed.wait();  // the destructor cancels it
        busy.release();
    }};
    mortal.pool.reset();
    releaser.join();
    EXPECT_EQ(due.get(), 1);
    EXPECT_EQ(now.get(), 2);
    EXPECT_TRUE(delayed.is_cancelled());
    EXPECT_TRUE(periodic.is_cancelled());
    EXPECT_EQ(called, 2);
    EXPECT_EQ(delayed.delay(), 0ns);
    EXPECT_FALSE(delayed.cancel());
}

// Due by the steady clock, but the time of day was set back by an hour: waiting for the task would
// hang.
TEST(scheduled_destructor, does_not_wait_for_a_time_of_day_that_was_set_back) {
    mortal_pool mortal;
    test::busy_workers busy;
    busy.hold(*mortal.pool);
    const auto alarm = mortal->schedule_at([] {}, mortal.clock->wall_now() + 1s);
    mortal.clock->advance(1s);
    mortal.clock->set_wall(mortal.clock->wall_now() - 1h);
    std::thread destroyer{[&] { mortal.pool.reset(); }};
    const bool cancelled = alarm.wait_for(test::long_delay());
    EXPECT_TRUE(cancelled && alarm.is_cancelled());
    busy.release();
    mortal.clock->advance(2h);
    destroyer.join();
}

TEST(scheduled_destructor, on_an_own_worker_cancels_tasks_that_are_not_due_and_runs_the_rest_there) {
    const auto clock = std::make_shared<spool::testing::manual_clock>();
    auto pool = std::make_unique<spool::scheduled_thread_pool_executor>(
        spool::scheduled_pool_options{.core_size = 2, .clock = clock});
    auto& handle = *pool;
    const auto delayed = handle.schedule([] {}, 1h);
    const auto periodic = handle.schedule_at_fixed_rate([] {}, 1h, 1h);
    spool::future<int> due;
    // Keeps the task from destroying the pool while execute() is still inside it.
    test::gate begin;
    test::gate destroyed;
    handle.execute([&] {
        begin.wait();
        due = handle.submit([] { return 4; });
        pool.reset();
        destroyed.open();
    });
    begin.open();
    ASSERT_TRUE(destroyed.opens());
    EXPECT_EQ(due.get(), 4);
    EXPECT_TRUE(delayed.is_cancelled());
    EXPECT_TRUE(periodic.is_cancelled());
}

TEST(scheduled_destructor, by_a_periodic_task_of_its_own_ends_the_series) {
    const auto clock = std::make_shared<spool::testing::manual_clock>();
    auto pool = std::make_unique<spool::scheduled_thread_pool_executor>(
        spool::scheduled_pool_options{.core_size = 1, .clock = clock});
    test::gate destroyed;
    const auto series = pool->schedule_at_fixed_rate(
        [&] {
            pool.reset();
            destroyed.open();
        },
        1h, 1h);
    clock->advance(1h);
    ASSERT_TRUE(destroyed.opens());
    EXPECT_TRUE(series.wait_for(test::long_delay()));
    EXPECT_TRUE(series.is_cancelled());
    EXPECT_EQ(series.run_count(), 1U);
}

TEST(scheduled_close, on_an_own_worker_waits_for_delayed_tasks_and_runs_them_there) {
    test::timed_pool timed({.core_size = 1});
    const auto delayed = timed.pool.schedule([] { return std::this_thread::get_id(); }, 2h);
    const auto closer = timed.pool.submit([&] {
        timed.pool.close();
        return std::this_thread::get_id();
    });
    EXPECT_TRUE(test::eventually([&] { return timed.pool.is_shutdown(); }));
    EXPECT_TRUE(test::others_fall_asleep());
    EXPECT_FALSE(closer.is_done());
    timed.clock->advance(2h);
    EXPECT_EQ(delayed.get(), closer.get());
    EXPECT_TRUE(timed.pool.await_termination(test::long_delay()));
}

// A task may change the policies at any time, but nothing continues in a pool that is being
// destroyed.
TEST(scheduled_destructor, is_not_held_up_by_a_policy_that_a_task_sets_meanwhile) {
    mortal_pool mortal;
    auto& pool = *mortal.pool;
    const auto delayed = pool.schedule([] {}, 2h);
    test::gate started;
    const auto series = pool.schedule_at_fixed_rate(
        [&] {
            started.open();
            delayed.wait();  // the destructor cancels it
            pool.set_run_delayed_after_shutdown(true);
            pool.set_run_periodic_after_shutdown(true);
        },
        1h, 1h);
    mortal.clock->advance(1h);
    ASSERT_TRUE(started.opens());
    std::thread destroyer{[&] { mortal.pool.reset(); }};
    const bool ended = series.wait_for(test::long_delay());
    EXPECT_TRUE(ended && series.is_cancelled());
    series.cancel();
    destroyer.join();
}

// ---- shutdown_now

TEST(scheduled_shutdown_now, hands_back_everything_in_order_and_the_futures_wait) {
    test::busy_workers busy;
    test::timed_pool timed;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(timed.pool);
    const auto late = timed.pool.schedule([] { return 3; }, 3h);
    const auto periodic = timed.pool.schedule_at_fixed_rate([] {}, 2h, 1h);
    const auto soon = timed.pool.schedule_at([] { return 1; }, timed.clock->wall_now() + 1h);
    std::atomic<bool> executed{false};
    timed.pool.execute([&] { executed = true; });
    const auto gone = timed.pool.schedule([] {}, 1min);
    gone.cancel();
    std::vector<spool::task> back = timed.pool.shutdown_now();
    busy.release();
    ASSERT_EQ(back.size(), 4U);
    EXPECT_EQ(back[1].id(), soon.id());
    EXPECT_EQ(back[2].id(), periodic.id());
    EXPECT_EQ(back[3].id(), late.id());
    EXPECT_TRUE(timed.pool.await_termination(test::long_delay()));
    EXPECT_FALSE(soon.is_done() || late.is_done() || periodic.is_done());
    EXPECT_EQ(late.delay(), 0ns) << "it waits no longer";
    for (spool::task& t : back) {
        t();
    }
    EXPECT_TRUE(executed);
    EXPECT_EQ(soon.get() + late.get(), 4);
    EXPECT_TRUE(periodic.is_cancelled()) << "once, and no more";
    EXPECT_EQ(periodic.run_count(), 1U);
}

TEST(scheduled_shutdown_now, a_series_that_was_handed_back_may_run_when_the_pool_is_long_gone) {
    std::atomic<int> alive{0};
    mortal_pool mortal;
    const auto series = mortal->schedule_at_fixed_rate([counted = test::tracked{alive}] {}, 1h, 1h);
    std::vector<spool::task> back = mortal->shutdown_now();
    mortal.pool.reset();
    ASSERT_EQ(back.size(), 1U);
    EXPECT_FALSE(series.is_done());
    back[0]();
    EXPECT_EQ(series.run_count(), 1U);
    EXPECT_TRUE(series.is_cancelled());
    back.clear();
    EXPECT_EQ(alive, 0);
}

TEST(scheduled_shutdown_now, a_task_handed_back_and_dropped_is_cancelled) {
    mortal_pool mortal;
    const auto once = mortal->schedule([] {}, 1h);
    const auto series = mortal->schedule_with_fixed_delay([] {}, 1h, 1h);
    std::vector<spool::task> back = mortal->shutdown_now();
    back.clear();
    EXPECT_TRUE(once.is_cancelled());
    EXPECT_TRUE(series.is_cancelled());
}

TEST(scheduled_shutdown_now, asks_a_run_under_way_to_stop_and_ends_its_series) {
    test::gate started;
    test::timed_pool timed;
    const auto series = timed.pool.schedule_at_fixed_rate(
        [&](std::stop_token stop) {
            started.open();
            while (!stop.stop_requested()) {
                std::this_thread::yield();
            }
        },
        1h, 1h);
    timed.clock->advance(1h);
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(timed.pool.shutdown_now().empty());
    EXPECT_TRUE(series.wait_for(test::long_delay()));
    EXPECT_TRUE(series.is_cancelled());
}

}  // namespace
