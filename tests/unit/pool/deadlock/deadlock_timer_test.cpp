// A worker waits for a timer of its own pool: what lend() does before the timer is due, and
// afterwards.
#include <atomic>
#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include <spool/testing/manual_clock.hpp>

#include "unit/pool/deadlock/deadlock_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::deadlock_policy;
using spool::scheduled_thread_pool_executor;
using spool::testing::manual_clock;

/// A pool with one worker and the lend policy. The test drives its clock.
class lending_timers {
public:
    test::reports told;
    std::shared_ptr<manual_clock> clock = std::make_shared<manual_clock>();
    scheduled_thread_pool_executor pool{{.name = "timers",
                                         .core_size = 1,
                                         .on_deadlock = deadlock_policy::lend(told.handler()),
                                         .clock = clock}};

    /// Looks for deadlocks several times, as the watching worker would within a few seconds.
    static void look_often() {
        for (int i = 0; i < 10; ++i) {
            static_cast<void>(spool::deadlock_watch::check());
        }
    }
    /// True if no lent thread was started, or all lent threads have left.
    [[nodiscard]] bool one_worker_is_left() {
        return test::eventually([this] { return pool.pool_size() == 1; });
    }
};

// The delay counts from the manual clock's start. By the real clock, a time 3 s after that start is
// long over, and one a century later is not. Only the pool's clock may matter.
class deadlock_timer : public testing::TestWithParam<std::chrono::hours> {};

TEST_P(deadlock_timer, gets_one_report_and_one_thread_when_it_is_due_by_the_clock_of_its_pool) {
    lending_timers lends;
    std::atomic<bool> ran{false};
    const std::chrono::nanoseconds delay = GetParam() + 3s;
    auto outer = lends.pool.submit([&] { lends.pool.schedule([&] { ran = true; }, delay).get(); });
    ASSERT_TRUE(lends.told.come());
    lending_timers::look_often();
    EXPECT_TRUE(lends.one_worker_is_left());
    EXPECT_FALSE(ran);
    EXPECT_EQ(lends.pool.largest_pool_size(), 1U);
    lends.clock->advance(delay);
    EXPECT_TRUE(test::eventually([&] { return ran.load(); }));
    outer.cancel();
    EXPECT_TRUE(lends.one_worker_is_left());
    EXPECT_EQ(lends.told.size(), 1U);
    EXPECT_EQ(lends.pool.largest_pool_size(), 2U);
}
INSTANTIATE_TEST_SUITE_P(near_and_far, deadlock_timer,
                         testing::Values(std::chrono::hours{0}, std::chrono::hours{24 * 365 * 100}));

TEST(deadlock_timer_lend, a_timer_for_a_time_of_day_gets_its_thread_when_that_time_is_set) {
    lending_timers lends;
    std::atomic<bool> ran{false};
    const auto noon = lends.clock->wall_now() + 12h;
    auto outer = lends.pool.submit([&] { lends.pool.schedule_at([&] { ran = true; }, noon).get(); });
    ASSERT_TRUE(lends.told.come());
    lending_timers::look_often();
    EXPECT_EQ(lends.pool.largest_pool_size(), 1U);
    lends.clock->set_wall(noon);
    EXPECT_TRUE(test::eventually([&] { return ran.load(); }));
    outer.cancel();
    EXPECT_TRUE(lends.one_worker_is_left());
    EXPECT_EQ(lends.told.size(), 1U);
}

TEST(deadlock_timer_lend, a_wait_for_a_periodic_task_is_reported_once_and_lent_a_thread_for_each_run) {
    lending_timers lends;
    std::atomic<int> runs{0};
    auto outer = lends.pool.submit([&] { lends.pool.schedule_at_fixed_rate([&] { ++runs; }, 1h, 1h).get(); });
    ASSERT_TRUE(lends.told.come());
    for (int turn = 1; turn <= 3; ++turn) {
        lends.clock->advance(1h);
        ASSERT_TRUE(test::eventually([&] { return runs == turn; })) << turn;
    }
    EXPECT_EQ(lends.told.size(), 1U);
    outer.cancel();
    EXPECT_TRUE(lends.one_worker_is_left());
}

// Any pool may have a queue that holds tasks back until they are due. Only that queue knows which
// are due.
TEST(deadlock_timer_lend, a_task_in_a_delay_queue_gets_its_thread_when_it_is_due) {
    struct late_task {
        spool::due_time when;
        std::atomic<bool>* ran;
        [[nodiscard]] spool::due_time due() const { return when; }
        void operator()() const { *ran = true; }
    };
    test::reports told;
    std::atomic<bool> ran{false};
    spool::thread_pool_executor pool({.name = "late",
                                      .core_size = 1,
                                      .maximum_size = 1,
                                      .queue = std::make_unique<spool::delay_queue<spool::task>>(),
                                      .on_deadlock = deadlock_policy::lend(told.handler())});
    const auto outer = [&](std::chrono::nanoseconds delay) {
        return pool.submit([&pool, &ran, delay] {
            pool.submit(late_task{spool::due_time::clock::now() + delay, &ran}).get();
        });
    };
    auto never = outer(24h);
    ASSERT_TRUE(told.come());
    lending_timers::look_often();
    EXPECT_EQ(pool.largest_pool_size(), 1U);
    never.cancel();
    auto soon = outer(1ms);
    EXPECT_TRUE(test::eventually([&] { return ran.load(); }));
    soon.cancel();
    EXPECT_EQ(told.size(), 2U);
    static_cast<void>(pool.shutdown_now());  // the first task is not due for a day
}

TEST(deadlock_timer_report, a_wait_for_a_timer_is_reported_once_before_it_is_due) {
    test::reports told;
    auto clock = std::make_shared<manual_clock>();
    scheduled_thread_pool_executor pool({.name = "timers",
                                         .core_size = 1,
                                         .on_deadlock = deadlock_policy::report(told.handler()),
                                         .clock = clock});
    auto outer = pool.submit([&] { pool.schedule([] {}, 1h).get(); });
    ASSERT_TRUE(told.come());
    clock->advance(1h);
    lending_timers::look_often();
    EXPECT_EQ(told.size(), 1U);
    outer.cancel();
}

}  // namespace
