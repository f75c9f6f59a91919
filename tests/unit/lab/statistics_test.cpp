#include "statistics.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "duration_text.hpp"
#include "histogram.hpp"
#include "unit/lab/tiny_scenarios.hpp"

namespace {

using namespace std::chrono_literals;
using spool::lab::nanoseconds;
using spool::lab::parse_duration;
using spool::lab::summarise;
using test::simulated;
using test::sizes;
using test::tasks;
using test::with_pool;

TEST(lab_percentiles, are_the_nearest_rank_of_a_known_set) {
    std::vector<nanoseconds> values;
    for (int i = 1000; i >= 1; --i) {
        values.push_back(nanoseconds{i});
    }
    const auto p = spool::lab::percentiles_of(values);
    EXPECT_EQ(p.p50, 500ns);
    EXPECT_EQ(p.p90, 900ns);
    EXPECT_EQ(p.p95, 950ns);
    EXPECT_EQ(p.p99, 990ns);
    EXPECT_EQ(p.p999, 999ns);
    EXPECT_EQ(p.most, 1000ns);
    std::vector<nanoseconds> one{7ns};
    EXPECT_EQ(spool::lab::percentiles_of(one).p999, 7ns);
}

TEST(lab_histogram, knows_every_value_to_six_percent) {
    for (nanoseconds::rep v = 1; v < 1'000'000'000'000; v = v * 7 / 5 + 1) {
        spool::lab::histogram h;
        h.add(nanoseconds{v});
        EXPECT_NEAR(static_cast<double>(h.quantile(0.5).count()), static_cast<double>(v),
                    static_cast<double>(v) * 0.06);
    }
}

TEST(lab_histogram, finds_quantiles_of_the_added_values) {
    spool::lab::histogram h;
    for (int i = 0; i < 99; ++i) {
        h.add(10us);
    }
    h.add(10ms);
    EXPECT_NEAR(static_cast<double>(h.quantile(0.5).count()), 1e4, 600);
    EXPECT_NEAR(static_cast<double>(h.quantile(0.995).count()), 1e7, 6e5);
    EXPECT_EQ(h.total(), 100U);
}

TEST(lab_summary, counts_waits_from_the_intended_arrival) {
    // One worker, and a task of 10 ms every 5 ms: the n-th task waits 5 n ms, although arrivals
    // keep their pace.
    const auto s = summarise(simulated(with_pool(sizes(1, 1, 100)), tasks(21, 5ms, 10ms)));
    EXPECT_EQ(s.all.wait.most, 100ms);
    EXPECT_EQ(s.all.wait.p50, 50ms);
    EXPECT_EQ(s.all.latency.most, 110ms);
    EXPECT_EQ(s.all.run.p50, 10ms);
}

TEST(lab_summary, a_task_that_never_ran_missed_its_deadline) {
    test::scenario s = with_pool(sizes(1, 1, 1));
    s.classes[0].deadline = 150ms;
    const auto summary = summarise(simulated(s, tasks(4, 0ms, 100ms)));
    EXPECT_EQ(summary.all.completed, 2U);
    EXPECT_EQ(summary.all.lost, 2U);
    EXPECT_EQ(summary.all.late, 3U);  // the two lost tasks, and the second, which ended at 200 ms
    EXPECT_DOUBLE_EQ(summary.all.late_share(), 0.75);
    EXPECT_DOUBLE_EQ(summary.all.refusal_share(), 0.5);
}

TEST(lab_summary, the_time_slots_add_up_to_the_whole) {
    const auto run = simulated(with_pool(sizes(2, 4, 4)), tasks(200, 5ms, 30ms));
    double arrived = 0;
    double done = 0;
    double refused = 0;
    const auto slots = spool::lab::over_time(run);
    const double width = spool::lab::seconds(slots[1].at - slots[0].at);
    for (const auto& s : slots) {
        arrived += s.arrivals * width;
        done += s.completed * width;
        refused += s.refused * width;
    }
    EXPECT_NEAR(arrived, 200, 1e-6);
    EXPECT_NEAR(done, static_cast<double>(summarise(run).all.completed), 1e-6);
    EXPECT_NEAR(done + refused, 200, 1e-6);
}

TEST(lab_summary, percentiles_over_time_are_those_of_enough_tasks) {
    // 100 tasks per second for 10 s: a slot has about ten tasks. A bin ends with 125, because an
    // eighth of the run has passed.
    const auto slow =
        spool::lab::over_time(simulated(with_pool(sizes(2, 4, 4), 10s), tasks(1000, 10ms, 1ms)));
    EXPECT_GE(slow.back().bin, 7U);
    EXPECT_LE(slow.back().bin, 9U);
    // Ten times as many tasks: a bin ends with 200.
    const auto fast =
        spool::lab::over_time(simulated(with_pool(sizes(2, 4, 4), 10s), tasks(10'000, 1ms, 1ms)));
    EXPECT_EQ(fast.back().bin, 49U);
    EXPECT_EQ(fast[0].bin, fast[1].bin);
    EXPECT_EQ(fast[1].total_p99, 1ms);
}

TEST(lab_summary, a_task_that_ends_after_the_last_slot_makes_no_peak_in_it) {
    // One worker needs 10 s for the tasks that arrive within 1 s. The slots end after 2 s.
    const auto slots =
        spool::lab::over_time(simulated(with_pool(sizes(1, 1, 1000)), tasks(100, 10ms, 100ms)));
    EXPECT_LE(slots.back().at, 2s);
    for (const auto& s : slots) {
        EXPECT_LE(s.completed, 50.0 + 1e-6) << spool::lab::to_text(s.at);
    }
}

TEST(lab_summary, a_slot_without_a_sample_repeats_the_one_before) {
    auto run = simulated(with_pool(sizes(2, 4, 8)), tasks(50, 20ms, 20ms));
    std::erase_if(run.samples, [](const auto& one) { return one.at >= 500ms && one.at < 600ms; });
    for (const auto& s : spool::lab::over_time(run)) {
        EXPECT_GT(s.workers, s.at == 0s ? 0.0 : 1.0) << spool::lab::to_text(s.at);
    }
}

TEST(lab_durations, are_read_and_written_as_people_do) {
    EXPECT_EQ(parse_duration("50ms"), 50ms);
    EXPECT_EQ(parse_duration("1.5s"), 1500ms);
    EXPECT_EQ(parse_duration("2 m"), 2min);
    EXPECT_EQ(parse_duration("7us"), 7us);
    for (const char* wrong : {"", "ms", "5", "-1s", "5 parsecs", "nan s", "1e30s"}) {
        EXPECT_FALSE(parse_duration(wrong).has_value()) << wrong;
    }
    EXPECT_EQ(spool::lab::to_text(1250us), "1.25 ms");
    EXPECT_EQ(spool::lab::to_text(40s), "40 s");
    EXPECT_EQ(spool::lab::to_text(0s), "0 s");
}

}  // namespace
