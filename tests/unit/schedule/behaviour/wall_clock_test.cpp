// Tasks scheduled for a time of day: they follow when the clock is set.
#include <memory>
#include <stdexcept>

#include <gtest/gtest.h>

#include "schedule_helpers.hpp"
#include "support/throws.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

class scheduled_wall_clock : public testing::Test {
protected:
    auto at(system_clock::time_point when, int number) {
        return timed_.pool.schedule_at([this, number] { ran_.add(number); }, when);
    }
    test::record<int> ran_;
    test::timed_pool timed_;
    const system_clock::time_point today_ = timed_.clock->wall_now();
};

TEST_F(scheduled_wall_clock, a_task_for_a_time_of_day_runs_when_that_time_passes) {
    const auto alarm = at(today_ + 8h, 1);
    EXPECT_EQ(alarm.delay(), 8h);
    timed_.advance(8h - 1ns);
    EXPECT_FALSE(alarm.is_done());
    timed_.advance(1ns);
    EXPECT_TRUE(alarm.is_done());
}

TEST_F(scheduled_wall_clock, a_clock_set_forward_makes_the_task_run_at_once) {
    const auto alarm = at(today_ + 8h, 1);
    const auto delayed = timed_.pool.schedule([] {}, 8h);
    timed_.settle();
    timed_.clock->set_wall(today_ + 9h);
    EXPECT_TRUE(alarm.wait_for(test::long_delay()));
    timed_.settle();
    EXPECT_FALSE(delayed.is_done()) << "a delay knows nothing of the time of day";
}

TEST_F(scheduled_wall_clock, set_back_it_waits_for_its_time) {
    const auto alarm = at(today_ + 8h, 1);
    timed_.clock->set_wall(today_ - 2h);
    timed_.advance(8h);
    EXPECT_FALSE(alarm.is_done());
    EXPECT_EQ(alarm.delay(), 2h);
    timed_.advance(2h);
    EXPECT_TRUE(alarm.is_done());
}

TEST_F(scheduled_wall_clock, a_clock_set_back_at_the_due_moment_makes_no_task_run_early) {
    test::busy_workers busy;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(timed_.pool);
    const auto alarm = at(today_ + 1s, 1);
    timed_.clock->advance(1s);
    timed_.clock->set_wall(today_);
    busy.release();
    timed_.settle();
    EXPECT_FALSE(alarm.is_done());
    timed_.advance(1s);
    EXPECT_TRUE(alarm.is_done());
}

TEST_F(scheduled_wall_clock, the_far_past_is_now_and_the_far_future_is_not) {
    const auto past = at(system_clock::time_point::min(), 1);
    const auto epoch = at(system_clock::time_point{}, 2);
    const auto future = at(system_clock::time_point::max(), 3);
    timed_.settle();
    EXPECT_TRUE(past.is_done());
    EXPECT_TRUE(epoch.is_done());
    timed_.advance(24h * 365 * 200);
    EXPECT_FALSE(future.is_done());
    EXPECT_TRUE(future.cancel());
}

TEST_F(scheduled_wall_clock, coarse_and_huge_time_points_of_both_clocks_do_not_overflow) {
    using years = std::chrono::duration<std::int64_t, std::ratio<31556952>>;
    const auto never =
        timed_.pool.schedule_at([] {}, std::chrono::time_point<system_clock, years>{years::max() / 2});
    const auto before =
        timed_.pool.schedule_at([] {}, std::chrono::time_point<system_clock, years>{years{-100'000}});
    const auto steady_never = timed_.pool.schedule_at([] {}, std::chrono::steady_clock::time_point::max());
    const auto steady_before = timed_.pool.schedule_at([] {}, std::chrono::steady_clock::time_point::min());
    timed_.settle();
    EXPECT_TRUE(before.is_done());
    EXPECT_TRUE(steady_before.is_done());
    EXPECT_FALSE(never.is_done());
    EXPECT_FALSE(steady_never.is_done());
    EXPECT_TRUE(timed_.pool.remove(never));
    EXPECT_TRUE(timed_.pool.remove(steady_never));
}

TEST_F(scheduled_wall_clock, equal_times_stay_in_the_order_of_submission_when_the_clock_is_set) {
    std::vector<int> expected;
    for (int i = 0; i < 100; ++i) {
        at(today_ + 2h, i);
        expected.push_back(i);
    }
    timed_.settle();
    timed_.clock->set_wall(today_ + 1h);
    timed_.settle();
    EXPECT_EQ(ran_.size(), 0U);
    timed_.advance(1h);
    EXPECT_EQ(ran_.all(), expected);
}

TEST_F(scheduled_wall_clock, the_earlier_runs_first_though_a_step_passes_both) {
    at(today_ + 1h, 1);
    at(today_ + 3h, 3);
    at(today_ + 2h, 2);
    timed_.settle();
    timed_.clock->set_wall(today_ + 4h);
    timed_.settle();
    EXPECT_EQ(ran_.all(), (std::vector<int>{1, 2, 3}));
}

TEST_F(scheduled_wall_clock, the_smallest_step_takes_effect_if_the_clock_reports_it) {
    const auto alarm = at(today_ + 1s, 1);
    timed_.advance(1s - 2us);
    timed_.clock->set_wall(today_ + 1s - 1us);
    timed_.settle();
    EXPECT_FALSE(alarm.is_done());
    timed_.clock->set_wall(today_ + 1s);
    EXPECT_TRUE(alarm.wait_for(test::long_delay()));
}

TEST_F(scheduled_wall_clock, a_worker_that_waits_does_not_run_it_before_its_time) {
    std::atomic<bool> early{false};
    test::gate in_wait;
    const auto alarm = timed_.pool.schedule_at(
        [&] { early = early || timed_.clock->wall_now() < today_ + 1s; }, today_ + 1s);
    const auto waiter = timed_.pool.submit([&] {
        timed_.clock->advance(1s);
        timed_.clock->set_wall(today_ - 1h);
        in_wait.open();
        alarm.wait();
    });
    ASSERT_TRUE(in_wait.opens());
    timed_.pool.set_core_size(2);
    timed_.clock->advance(1h + 1s);
    EXPECT_TRUE(waiter.wait_for(test::long_delay()));
    EXPECT_FALSE(early);
}

TEST_F(scheduled_wall_clock, a_clock_before_1970_is_as_good_as_any) {
    const system_clock::time_point old{-24h};
    timed_.clock->set_wall(old);
    const auto alarm = at(old + 48h, 1);
    timed_.advance(48h);
    EXPECT_TRUE(alarm.is_done());
}

TEST_F(scheduled_wall_clock, a_clock_set_from_one_end_of_time_to_the_other_overflows_nothing) {
    const auto alarm = at(today_ + 1h, 1);
    timed_.clock->set_wall(system_clock::time_point::min());
    timed_.settle();
    EXPECT_FALSE(alarm.is_done());
    timed_.clock->set_wall(system_clock::time_point::max());
    EXPECT_TRUE(alarm.wait_for(test::long_delay()));
}

// ---- A clock that does not notify anything, like the real ones: a worker has to look again and
// again

class silent_clock final : public spool::clock_source {
public:
    [[nodiscard]] spool::due_time now() const noexcept override { return time.now(); }
    [[nodiscard]] system_clock::time_point wall_now() const noexcept override {
        const auto answer = time.wall_now() + ahead.load();
        if (jumps_after_this.exchange(false)) {
            ahead = 2h;
        }
        return answer;
    }
    [[nodiscard]] spool::deadline sleep_limit(spool::due_time) const noexcept override {
        return spool::deadline::after(1ms);
    }
    void add_listener(spool::clock_listener&) override {}
    void remove_listener(spool::clock_listener&) noexcept override {}

    mutable std::atomic<system_clock::duration> ahead{system_clock::duration::zero()};
    mutable std::atomic<bool> jumps_after_this{false};
    spool::testing::manual_clock time;
};

class refusing_clock final : public spool::clock_source {
public:
    [[nodiscard]] spool::due_time now() const noexcept override { return {}; }
    [[nodiscard]] system_clock::time_point wall_now() const noexcept override { return {}; }
    [[nodiscard]] spool::deadline sleep_limit(spool::due_time) const noexcept override {
        return spool::deadline::after(1ms);
    }
    void add_listener(spool::clock_listener&) override { throw std::runtime_error("no listeners here"); }
    void remove_listener(spool::clock_listener&) noexcept override { ++removed; }
    int removed = 0;
};

TEST(scheduled_clock, a_clock_that_refuses_a_listener_makes_the_constructor_throw_its_exception) {
    const auto clock = std::make_shared<refusing_clock>();
    const auto make = [&] { spool::scheduled_thread_pool_executor{{.core_size = 1, .clock = clock}}; };
    EXPECT_EQ(test::what_of<std::runtime_error>(make), "no listeners here");
    EXPECT_EQ(clock->removed, 0);
    EXPECT_EQ(clock.use_count(), 1);
}

class scheduled_silent_clock : public testing::Test {
protected:
    ~scheduled_silent_clock() override { static_cast<void>(pool_.shutdown_now()); }

    const std::shared_ptr<silent_clock> clock_ = std::make_shared<silent_clock>();
    spool::scheduled_thread_pool_executor pool_{{.core_size = 1, .clock = clock_}};
};

TEST_F(scheduled_silent_clock, that_jumps_while_a_task_is_on_its_way_into_the_queue_is_noticed) {
    const auto when = clock_->wall_now() + 1h;
    clock_->jumps_after_this = true;
    const auto alarm = pool_.schedule_at([] {}, when);
    pool_.submit([] {}).get();
    EXPECT_TRUE(alarm.is_done()) << "its time of day has been there for an hour";
}

// The time of day lags by too little to be followed. A task that is due by the steady clock waits
// for the rest, and delays no other task.
TEST_F(scheduled_silent_clock, that_lags_delays_only_the_task_that_it_times) {
    const auto when = clock_->wall_now() + 10s;
    std::atomic<bool> early{false};
    const auto alarm = pool_.schedule_at([&] { early = clock_->wall_now() < when; }, when);
    const auto delayed = pool_.schedule([] {}, 10s);
    clock_->ahead = -500us;
    clock_->time.advance(10s);
    pool_.submit([] {}).get();
    EXPECT_TRUE(delayed.is_done());
    EXPECT_FALSE(alarm.is_done());
    clock_->time.advance(500us);
    pool_.submit([] {}).get();
    EXPECT_TRUE(alarm.is_done());
    EXPECT_FALSE(early);
}

}  // namespace
