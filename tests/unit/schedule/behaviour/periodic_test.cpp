// When a periodic task runs: rate, delay, missed runs, jitter.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::missed_runs;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class scheduled_periodic : public testing::Test {
protected:
    /// Records the time of each run, in milliseconds since the start. A run advances the clock by
    /// `takes`.
    auto noting(milliseconds takes = 0ms) {
        return [this, takes] {
            runs_.add(std::chrono::duration_cast<milliseconds>(timed_.clock->now() - start_).count());
            timed_.clock->advance(takes);
        };
    }
    /// The first run advances the clock by `takes`, later runs do not advance it.
    auto noting_with_first_of(milliseconds takes) {
        return [this, takes]() mutable {
            runs_.add(std::chrono::duration_cast<milliseconds>(timed_.clock->now() - start_).count());
            timed_.clock->advance(std::exchange(takes, 0ms));
        };
    }
    using times = std::vector<milliseconds::rep>;

    test::timed_pool timed_;
    const spool::due_time start_ = timed_.clock->now();
    test::record<milliseconds::rep> runs_;
};

TEST_F(scheduled_periodic, fixed_rate_runs_at_the_initial_delay_and_then_once_every_period) {
    const auto series = timed_.pool.schedule_at_fixed_rate(noting(), 5ms, 10ms);
    EXPECT_TRUE(series.is_periodic());
    for (int ms = 1; ms <= 36; ++ms) {
        timed_.advance(1ms);
    }
    EXPECT_EQ(runs_.all(), (times{5, 15, 25, 35}));
    EXPECT_EQ(series.run_count(), 4U);
    EXPECT_EQ(series.delay(), 9ms);
    EXPECT_FALSE(series.is_done());
}

TEST_F(scheduled_periodic, fixed_rate_counts_from_when_a_run_was_due_and_not_from_its_end) {
    timed_.pool.schedule_at_fixed_rate(noting(4ms), 0ms, 10ms);
    timed_.settle();
    for (int i = 0; i < 8; ++i) {
        timed_.advance(3ms);
    }
    EXPECT_EQ(runs_.all(), (times{0, 10, 20, 30, 40}));
}

TEST_F(scheduled_periodic, fixed_delay_counts_from_the_end_of_a_run) {
    timed_.pool.schedule_with_fixed_delay(noting(4ms), 0ms, 10ms);
    timed_.settle();
    for (int i = 0; i < 40; ++i) {
        timed_.advance(1ms);
    }
    EXPECT_EQ(runs_.all(), (times{0, 14, 28, 42, 56}));
}

TEST_F(scheduled_periodic, fixed_delay_makes_up_for_nothing) {
    timed_.pool.schedule_with_fixed_delay(noting(), 0ms, 10ms);
    timed_.settle();
    timed_.advance(1000ms);
    EXPECT_EQ(runs_.all(), (times{0, 1000}));
}

// ---- The first run takes 35 ms, with a period of 10 ms: the runs at 10, 20 and 30 ms are missed.

TEST_F(scheduled_periodic, catch_up_makes_every_missed_run_at_once) {
    timed_.pool.schedule_at_fixed_rate(noting_with_first_of(35ms), 0ms, 10ms);
    timed_.settle();
    EXPECT_EQ(runs_.all(), (times{0, 35, 35, 35}));
    timed_.advance(5ms);
    EXPECT_EQ(runs_.all(), (times{0, 35, 35, 35, 40}));
}

TEST_F(scheduled_periodic, skip_makes_none_of_the_missed_runs) {
    timed_.pool.schedule_at_fixed_rate(noting_with_first_of(35ms), 0ms, 10ms, {.missed = missed_runs::skip});
    timed_.settle();
    EXPECT_EQ(runs_.all(), (times{0}));
    timed_.advance(4ms);
    EXPECT_EQ(runs_.all(), (times{0}));
    timed_.advance(1ms);
    timed_.advance(10ms);
    EXPECT_EQ(runs_.all(), (times{0, 40, 50}));
}

TEST_F(scheduled_periodic, coalesce_makes_one_run_for_all_that_were_missed) {
    timed_.pool.schedule_at_fixed_rate(noting_with_first_of(35ms), 0ms, 10ms,
                                       {.missed = missed_runs::coalesce});
    timed_.settle();
    EXPECT_EQ(runs_.all(), (times{0, 35}));
    timed_.advance(4ms);
    EXPECT_EQ(runs_.all(), (times{0, 35}));
    timed_.advance(1ms);
    timed_.advance(10ms);
    EXPECT_EQ(runs_.all(), (times{0, 35, 40, 50}));
}

// Each run begins exactly when it is due, so none is missed.
TEST_F(scheduled_periodic, the_three_agree_where_nothing_was_missed) {
    for (const missed_runs missed : {missed_runs::catch_up, missed_runs::skip, missed_runs::coalesce}) {
        test::timed_pool timed;
        std::atomic<int> runs{0};
        const auto series =
            timed.pool.schedule_at_fixed_rate([&] { ++runs; }, 10ms, 10ms, {.missed = missed});
        for (int i = 0; i < 20; ++i) {
            timed.advance(5ms);
        }
        EXPECT_EQ(runs, 10) << static_cast<int>(missed);
        EXPECT_EQ(series.delay(), 10ms);
    }
}

TEST_F(scheduled_periodic, no_free_worker_is_a_missed_run_too) {
    test::busy_workers busy;
    const test::open_at_end open{busy.release_gate()};
    timed_.pool.schedule_at_fixed_rate(noting(), 10ms, 10ms, {.missed = missed_runs::skip});
    busy.hold(timed_.pool);
    timed_.clock->advance(45ms);
    busy.release();
    timed_.settle();
    EXPECT_EQ(runs_.all(), (times{45})) << "the run of 10 is made, those of 20 to 40 are not";
    timed_.advance(5ms);
    EXPECT_EQ(runs_.all(), (times{45, 50}));
}

TEST_F(scheduled_periodic, a_period_too_long_to_add_never_elapses) {
    const auto series = timed_.pool.schedule_at_fixed_rate(noting(), 1ms, nanoseconds::max());
    timed_.advance(1ms);
    EXPECT_EQ(runs_.size(), 1U);
    timed_.advance(24h * 365 * 100);
    EXPECT_EQ(runs_.size(), 1U);
    EXPECT_TRUE(series.cancel());
}

// ---- Jitter

TEST_F(scheduled_periodic, jitter_delays_a_run_by_at_most_the_setting_and_keeps_the_grid) {
    constexpr auto period = 1000us;
    constexpr auto jitter = 400us;
    test::record<nanoseconds::rep> at;
    timed_.pool.schedule_at_fixed_rate([&] { at.add((timed_.clock->now() - start_).count()); }, period,
                                       period, {.jitter = jitter});
    while (at.size() < 100) {
        timed_.advance(25us);
    }
    nanoseconds sum = 0ns;
    nanoseconds least = 1h;
    nanoseconds most = 0ns;
    for (std::size_t i = 0; i < 100; ++i) {
        const nanoseconds late = nanoseconds{at.all()[i]} - period * static_cast<int>(i + 1);
        EXPECT_GE(late, 0ns);
        EXPECT_LE(late, jitter + 25us) << "the step of the clock included";
        sum += late;
        least = std::min(least, late);
        most = std::max(most, late);
    }
    EXPECT_NEAR(static_cast<double>((sum / 100).count()), 212'000, 60'000);
    EXPECT_LT(least, 100us);
    EXPECT_GT(most, 300us);
}

TEST_F(scheduled_periodic, jitter_differs_between_tasks) {
    std::vector<spool::scheduled_future<void>> many;
    std::vector<nanoseconds> delays;
    for (int i = 0; i < 50; ++i) {
        many.push_back(timed_.pool.schedule_at_fixed_rate([] {}, 1s, 1s, {.jitter = 1s}));
        delays.push_back(many.back().delay());
        EXPECT_GE(delays.back(), 1s);
        EXPECT_LE(delays.back(), 2s);
    }
    std::sort(delays.begin(), delays.end());
    EXPECT_EQ(std::unique(delays.begin(), delays.end()), delays.end());
    EXPECT_GT(delays.back() - delays.front(), 500ms);
}

TEST_F(scheduled_periodic, the_largest_jitter_does_not_overflow) {
    const auto series =
        timed_.pool.schedule_with_fixed_delay(noting(), 1h, 1h, {.jitter = nanoseconds::max()});
    EXPECT_GE(series.delay(), 1h);
    EXPECT_TRUE(series.cancel());
}

TEST_F(scheduled_periodic, runs_of_one_task_never_overlap_though_they_are_late_and_workers_are_free) {
    test::timed_pool many({.core_size = 4});
    many.pool.prestart_all_core_threads();
    std::atomic<int> inside{0};
    std::atomic<int> runs{0};
    std::atomic<int> overlaps{0};
    const auto series = many.pool.schedule_at_fixed_rate(
        [&] {
            overlaps += ++inside != 1 ? 1 : 0;
            std::this_thread::yield();
            ++runs;
            --inside;
        },
        0ms, 1us);
    many.clock->advance(1ms);
    EXPECT_TRUE(test::eventually([&] { return runs == 1001; })) << runs;
    EXPECT_EQ(overlaps, 0);
    EXPECT_EQ(series.run_count(), 1001U);
}

}  // namespace
