#include "advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "json_fields.hpp"
#include "unit/lab/tiny_scenarios.hpp"

namespace {

using namespace std::chrono_literals;
using namespace spool::lab;

// 200 tasks per second of 20 ms each keep four workers busy. The pool has two core workers and an
// unbounded queue.
scenario overloaded() {
    scenario s = test::with_pool({.core = 2, .maximum = 8}, 3s);
    s.classes[0].arrivals = {{.rate = 200, .until = 3s}};
    s.classes[0].service = {.kind = distribution::exponential, .first = 20ms};
    return s;
}

TEST(what_if, tries_at_least_two_hundred_settings_each_once) {
    const auto all = candidates(overloaded());
    EXPECT_GE(all.size(), 200U);
    for (const settings& one : all) {
        EXPECT_EQ(std::count(all.begin(), all.end(), one), 1);
        EXPECT_LE(one.core, one.maximum);
    }
}

TEST(what_if, nothing_on_the_frontier_is_dominated) {
    const scenario s = overloaded();
    const auto best = frontier(sweep(s, candidates(s)));
    ASSERT_GT(best.size(), 2U);
    for (const trial& a : best) {
        for (const trial& b : best) {
            const bool beats = a.figures.all.wait.p99 < b.figures.all.wait.p99 &&
                               a.figures.all.refusal_share() < b.figures.all.refusal_share() &&
                               a.figures.peak_threads < b.figures.peak_threads;
            EXPECT_FALSE(beats);
        }
    }
}

TEST(what_if, recommends_settings_that_meet_the_goal_and_says_why) {
    const scenario s = overloaded();
    const goal wanted = parse_goal("p99<50ms,reject<0.1%", s);
    const advice a = advise(s, wanted, sweep(s, candidates(s)));
    ASSERT_TRUE(a.meets_goal);
    EXPECT_TRUE(wanted.met(summarise(simulate(with_settings(s, a.recommended.with)))));
    EXPECT_FALSE(wanted.met(a.own.figures));
    std::string why;
    for (const std::string& sentence : a.why) {
        why += sentence + "\n";
    }
    EXPECT_NE(why.find("an unbounded queue never refuses, so the pool stayed at 2 of 8 threads"),
              std::string::npos)
        << why;
    EXPECT_NE(why.find("Fewer threads do not do"), std::string::npos) << why;
}

TEST(what_if, reports_that_nothing_meets_the_goal) {
    const scenario s = overloaded();
    const advice a = advise(s, parse_goal("p99<50ms,threads<2", s), sweep(s, candidates(s)));
    EXPECT_FALSE(a.meets_goal);
    EXPECT_NE(a.why.at(1).find("Nothing that was tried meets the goal"), std::string::npos) << a.why.at(1);
}

TEST(lab_goal, reads_waits_shares_threads_and_classes) {
    const scenario s = overloaded();
    const goal g = parse_goal("p99.9 < 50ms, task.reject<0.1%, late<5 %, threads<8", s);
    ASSERT_EQ(g.parts.size(), 4U);
    EXPECT_EQ(g.parts[0].what, metric::p999);
    EXPECT_DOUBLE_EQ(g.parts[0].limit, 50e6);
    EXPECT_EQ(g.parts[1].of_class, "task");
    EXPECT_DOUBLE_EQ(g.parts[1].limit, 0.001);
    EXPECT_DOUBLE_EQ(g.parts[3].limit, 8);
}

TEST(lab_goal, total_times_are_waits_and_runs_together) {
    const scenario s = test::with_pool(test::sizes(1, 1, 10));
    const run_summary run = summarise(test::simulated(s, test::tasks(2, 0ms, 30ms)));
    const goal g = parse_goal("max<35ms,total.max<65ms,task.total.p50<35ms", s);
    EXPECT_EQ(g.parts[1].of, span::total);
    EXPECT_DOUBLE_EQ(g.parts[0].figure(run), 30e6);
    EXPECT_DOUBLE_EQ(g.parts[1].figure(run), 60e6);
    EXPECT_EQ(g.parts[2].figure_text(run), "task: p50 total 30 ms");
    EXPECT_TRUE(g.met(run));
    EXPECT_FALSE(parse_goal("total.max<60ms", s).met(run));
}

TEST(what_if, recommends_settings_that_meet_a_goal_on_total_times) {
    scenario s = overloaded();
    s.classes[0].service = {.first = 20ms};
    const goal wanted = parse_goal("total.p99<40ms", s);
    const advice a = advise(s, wanted, sweep(s, candidates(s), {}, wanted.needs_totals()));
    ASSERT_TRUE(a.meets_goal);
    EXPECT_TRUE(wanted.met(a.recommended.figures));
    EXPECT_GE(a.recommended.figures.all.latency.p99, 20ms);
}

TEST(lab_goal, refuses_unknown_text_and_lists_what_it_accepts) {
    const scenario s = overloaded();
    for (const char* wrong : {"", "p99", "p98<1ms", "p99<5", "reject<1", "threads<8%", "other.p99<1ms",
                              "total.reject<1%", "total.threads<8", "total.<1ms"}) {
        EXPECT_THROW(static_cast<void>(parse_goal(wrong, s)), input_error) << wrong;
    }
}

}  // namespace
