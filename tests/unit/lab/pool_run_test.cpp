#include "pool_run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "statistics.hpp"
#include "unit/lab/tiny_scenarios.hpp"
#include "view.hpp"

namespace {

using namespace std::chrono_literals;
using spool::lab::fate;
using test::refusal;
using test::sizes;
using test::tasks;
using test::with_pool;

spool::lab::run_record run_for_real(const test::scenario& s, std::vector<test::planned_task> plan) {
    const auto quiet = spool::lab::make_quiet_view();
    return spool::lab::run_on_pool(
        s, std::make_shared<const std::vector<test::planned_task>>(std::move(plan)), *quiet, "test");
}

TEST(lab_run, every_task_ends_in_exactly_one_way_under_every_policy) {
    for (const refusal policy :
         {refusal::abort, refusal::discard, refusal::discard_oldest, refusal::caller_runs}) {
        test::settings pool = sizes(1, 2, 4);
        pool.rejection = policy;
        const auto run = run_for_real(with_pool(pool, 100ms), tasks(100, 1ms, 5ms));
        const auto s = spool::lab::summarise(run);
        EXPECT_EQ(s.all.arrived, 100U);
        EXPECT_EQ(s.all.completed + s.all.lost, 100U) << to_text(policy);
        EXPECT_EQ(s.all.refusals, run.refusal_times.size()) << to_text(policy);
        EXPECT_EQ(s.all.lost, policy == refusal::caller_runs ? 0 : s.all.refusals) << to_text(policy);
        EXPECT_GT(s.all.refusals, 0U) << to_text(policy);
        EXPECT_LE(run.largest_pool, 2U);
    }
}

TEST(lab_run, a_refused_task_is_submitted_again) {
    test::scenario s = with_pool(sizes(1, 1, 0), 50ms);
    s.classes[0].retry = {.attempts = 50, .after = 5ms};
    const auto run = run_for_real(s, tasks(3, 0ms, 20ms));
    for (const auto& o : run.outcomes) {
        EXPECT_EQ(o.how, fate::completed);
    }
    EXPECT_GT(run.outcomes[2].refusals, 0);
}

TEST(lab_run, waits_count_from_the_intended_arrival_though_the_pool_is_behind) {
    const auto run = run_for_real(with_pool(sizes(1, 1, 100), 100ms), tasks(20, 1ms, 10ms));
    EXPECT_GE(run.outcomes[19].start - (*run.plan)[19].arrival, 150ms);
}

TEST(lab_run, settings_change_at_their_time) {
    test::scenario s = with_pool(sizes(1, 8, 100), 200ms);
    s.changes = {{.at = 50ms, .core = 6, .keep_alive = 1s}};
    EXPECT_EQ(run_for_real(s, tasks(60, 1ms, 20ms)).largest_pool, 6U);
}

}  // namespace
