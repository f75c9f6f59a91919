// shutdown(): the two policies decide what runs and what is cancelled, whether they are set before
// or after it.
#include <gtest/gtest.h>

#include <tuple>

#include "schedule_helpers.hpp"

namespace {

using namespace std::chrono_literals;

enum class set { before, after };  // when the policies are set, relative to shutdown()

class scheduled_policies : public testing::TestWithParam<std::tuple<bool, bool, set>> {
protected:
    const bool delayed_runs_ = std::get<0>(GetParam());
    const bool periodic_runs_ = std::get<1>(GetParam());
    const bool late_ = std::get<2>(GetParam()) == set::after;
    test::timed_pool timed_{{.core_size = 1,
                             .run_delayed_after_shutdown = delayed_runs_ || late_,
                             .run_periodic_after_shutdown = periodic_runs_ || late_}};
};

TEST_P(scheduled_policies, decide_which_tasks_run_after_shutdown) {
    auto& pool = timed_.pool;
    test::busy_workers busy;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(pool);
    const auto due = pool.schedule([] { return 1; }, 1h);
    const auto delayed = pool.schedule([] { return 2; }, 3h);
    std::atomic<int> runs{0};
    const auto periodic = pool.schedule_at_fixed_rate([&] { ++runs; }, 2h, 2h);
    timed_.clock->advance(1h);
    pool.shutdown();
    if (late_) {
        EXPECT_FALSE(delayed.is_done() || periodic.is_done());
        pool.set_run_delayed_after_shutdown(delayed_runs_);
        pool.set_run_periodic_after_shutdown(periodic_runs_);
    }
    EXPECT_EQ(pool.run_delayed_after_shutdown(), delayed_runs_);
    EXPECT_EQ(pool.run_periodic_after_shutdown(), periodic_runs_);
    EXPECT_EQ(delayed.is_cancelled(), !delayed_runs_);
    EXPECT_EQ(periodic.is_cancelled(), !periodic_runs_);
    EXPECT_EQ(pool.queue().size(), 1U + (delayed_runs_ ? 1U : 0U) + (periodic_runs_ ? 1U : 0U));
    busy.release();
    EXPECT_EQ(due.get(), 1) << "what is due runs in any case";
    timed_.clock->advance(2h);
    if (delayed_runs_) {
        EXPECT_EQ(delayed.get(), 2);
    }
    if (periodic_runs_) {
        EXPECT_TRUE(test::eventually([&] { return runs == 1; }));
        EXPECT_FALSE(pool.is_terminated());
        timed_.clock->advance(2h);
        EXPECT_TRUE(test::eventually([&] { return runs == 2; }));
        EXPECT_TRUE(periodic.cancel());
    }
    EXPECT_TRUE(pool.await_termination(test::long_delay())) << pool.describe();
    EXPECT_EQ(runs, periodic_runs_ ? 2 : 0);
}
INSTANTIATE_TEST_SUITE_P(all, scheduled_policies,
                         testing::Combine(testing::Bool(), testing::Bool(),
                                          testing::Values(set::before, set::after)));

TEST(scheduled_shutdown, refuses_everything_new_naming_the_pool) {
    test::timed_pool timed({.name = "closed", .core_size = 1});
    auto& pool = timed.pool;
    pool.shutdown();
    const auto refused = [&](auto call) {
        try {
            call();
        } catch (const spool::rejected_execution& e) {
            return e.reason() == spool::rejection_reason::shut_down && test::contains(e.what(), "\"closed\"");
        }
        return false;
    };
    EXPECT_TRUE(refused([&] { pool.schedule([] {}, 1h); }));
    EXPECT_TRUE(refused([&] { pool.schedule_at([] {}, timed.clock->wall_now() + 1h); }));
    EXPECT_TRUE(refused([&] { pool.schedule_at([] {}, timed.clock->now() + 1h); }));
    EXPECT_TRUE(refused([&] { pool.schedule_at_fixed_rate([] {}, 1h, 1h); }));
    EXPECT_TRUE(refused([&] { pool.schedule_with_fixed_delay([] {}, 1h, 1h); }));
    EXPECT_TRUE(refused([&] { static_cast<void>(pool.submit([] {})); }));
    EXPECT_TRUE(refused([&] { pool.execute([] {}); }));
    EXPECT_EQ(pool.rejected_count(), 7U);
    EXPECT_EQ(pool.try_execute([] {}), spool::admission_result::shut_down);
    EXPECT_EQ(pool.queue().size(), 0U);
}

TEST(scheduled_shutdown, a_refused_task_that_the_policy_drops_leaves_a_cancelled_future) {
    test::timed_pool timed({.core_size = 1, .rejection = spool::discard_policy{}});
    timed.pool.shutdown();
    EXPECT_TRUE(timed.pool.schedule([] {}, 1h).is_cancelled());
    EXPECT_TRUE(timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h).is_cancelled());
}

TEST(scheduled_shutdown, close_waits_for_delayed_tasks_to_come_due_and_run) {
    test::timed_pool timed({.core_size = 2});
    const auto delayed = timed.pool.schedule([] { return 5; }, 3h);
    const auto periodic = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    test::gate closed;
    std::thread closer{[&] {
        timed.pool.close();
        closed.open();
    }};
    EXPECT_TRUE(test::eventually([&] { return periodic.is_cancelled(); }));
    timed.clock->advance(3h - 1ns);
    EXPECT_TRUE(test::others_fall_asleep());
    EXPECT_FALSE(closed.is_open());
    timed.clock->advance(1ns);
    EXPECT_TRUE(closed.opens());
    closer.join();
    EXPECT_EQ(delayed.get(), 5);
    EXPECT_TRUE(timed.pool.is_terminated());
    EXPECT_EQ(timed.pool.pool_size(), 0U);
}

TEST(scheduled_shutdown, the_last_delayed_task_that_is_cancelled_ends_the_pool) {
    test::timed_pool timed({.core_size = 2});
    timed.pool.prestart_all_core_threads();
    const auto one = timed.pool.schedule([] {}, 1h);
    const auto other = timed.pool.schedule([] {}, 2h);
    timed.pool.shutdown();
    EXPECT_TRUE(test::others_fall_asleep());
    EXPECT_TRUE(one.cancel());
    EXPECT_FALSE(timed.pool.is_terminated());
    EXPECT_TRUE(other.cancel());
    EXPECT_TRUE(timed.pool.await_termination(test::long_delay()));
}

TEST(scheduled_shutdown, the_last_delayed_task_that_is_removed_ends_the_pool) {
    test::timed_pool timed({.core_size = 2});
    const auto one = timed.pool.schedule([] {}, 1h);
    timed.pool.shutdown();
    EXPECT_TRUE(timed.pool.remove(one));
    EXPECT_TRUE(one.is_cancelled());
    EXPECT_TRUE(timed.pool.await_termination(test::long_delay()));
}

TEST(scheduled_shutdown, callbacks_of_the_cancelled_run_before_it_returns_and_may_call_the_pool) {
    test::timed_pool timed({.core_size = 1, .run_delayed_after_shutdown = false});
    auto& pool = timed.pool;
    std::vector<std::string> seen;
    std::vector<spool::scheduled_future<void>> futures;
    for (int i = 0; i < 3; ++i) {
        futures.push_back(pool.schedule([] {}, 1h));
        futures.back().on_done([&](const spool::future<void>& f) {
            seen.push_back(f.is_cancelled() ? "cancelled" : "done");
            EXPECT_EQ(pool.queue().size(), 0U);
            EXPECT_THROW(pool.schedule([] {}, 1h), spool::rejected_execution);
            pool.shutdown();
            futures[0].cancel();
            pool.set_run_delayed_after_shutdown(false);
            static_cast<void>(pool.purge());
        });
    }
    pool.shutdown();
    EXPECT_EQ(seen, (std::vector<std::string>{"cancelled", "cancelled", "cancelled"}));
}

// shutdown() comes during a run of the series: it leaves that run alone. The run is the last one,
// unless the policy lets the series go on.
TEST(scheduled_shutdown, a_series_that_is_running_ends_with_its_run) {
    for (const bool goes_on : {false, true}) {
        test::timed_pool timed({.core_size = 1, .run_periodic_after_shutdown = goes_on});
        test::gate started;
        test::gate go_on;
        const test::open_at_end open{go_on};
        const auto series = timed.pool.schedule_at_fixed_rate(
            [&] {
                started.open();
                go_on.wait();
            },
            1h, 1h);
        timed.clock->advance(1h);
        ASSERT_TRUE(started.opens());
        timed.pool.shutdown();
        EXPECT_FALSE(series.is_done()) << "a run under way is left alone";
        go_on.open();
        if (goes_on) {
            timed.clock->advance(1h);
            EXPECT_TRUE(test::eventually([&] { return series.run_count() == 2; }));
            timed.pool.set_run_periodic_after_shutdown(false);
        }
        EXPECT_TRUE(series.wait_for(test::long_delay()));
        EXPECT_TRUE(series.is_cancelled());
        EXPECT_TRUE(timed.pool.await_termination(test::long_delay()));
        EXPECT_EQ(series.run_count(), goes_on ? 2U : 1U);
    }
}

}  // namespace
