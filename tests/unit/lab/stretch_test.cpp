#include "stretch.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "summary_text.hpp"
#include "unit/lab/tiny_scenarios.hpp"

namespace {

using namespace std::chrono_literals;
using spool::lab::blocking_stretch;
using spool::lab::cpu_stretch;
using test::run_record;
using test::simulated;
using test::sizes;
using test::tasks;
using test::with_pool;

// A real run in which every task took `factor` times as long as on an idle machine.
run_record real_run(bool cpu, int factor) {
    test::scenario s = with_pool(sizes(2, 2, 100));
    s.classes[0].cpu = cpu;
    run_record run = spool::lab::simulate(
        s, std::make_shared<const std::vector<test::planned_task>>(tasks(20, 50ms, 10ms)));
    run.simulated = false;
    for (auto& o : run.outcomes) {
        o.end = o.start + (o.end - o.start) * factor;
    }
    return run;
}

TEST(lab_stretch, computing_tasks_that_the_machine_stretched_are_a_warning_with_both_times) {
    const run_record run = real_run(true, 5);
    ASSERT_TRUE(cpu_stretch(run).has_value());
    EXPECT_EQ(cpu_stretch(run)->took, 50ms);
    EXPECT_EQ(cpu_stretch(run)->expected, 10ms);
    const auto warnings = spool::lab::warnings_of(run, spool::lab::summarise(run));
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("that compute: on average they ran 50 ms"), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find("they run 10 ms"), std::string::npos) << warnings[0];
}

TEST(lab_stretch, waiting_tasks_that_woke_late_are_a_warning_too) {
    const run_record run = real_run(false, 3);
    const auto warnings = spool::lab::warnings_of(run, spool::lab::summarise(run));
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("that wait: on average they ran 30 ms"), std::string::npos) << warnings[0];
}

TEST(lab_stretch, a_run_on_an_idle_machine_has_no_warning) {
    for (const bool cpu : {false, true}) {
        const run_record run = real_run(cpu, 1);
        EXPECT_TRUE(spool::lab::warnings_of(run, spool::lab::summarise(run)).empty());
    }
}

TEST(lab_stretch, tasks_that_share_the_cpus_among_themselves_were_not_stretched_by_the_machine) {
    // With 64 tasks at once, each takes much longer than it computes.
    test::scenario s = with_pool(sizes(64, 64, 100));
    s.classes[0].cpu = true;
    run_record run = spool::lab::simulate(
        s, std::make_shared<const std::vector<test::planned_task>>(tasks(64, 0ms, 10ms)));
    run.simulated = false;
    ASSERT_TRUE(cpu_stretch(run).has_value());
    EXPECT_FALSE(cpu_stretch(run)->is_notable());
}

TEST(lab_stretch, service_factors_and_simulated_runs_are_not_taken_for_a_stretch) {
    test::scenario s = with_pool(sizes(2, 2, 100));
    s.changes = {{.at = 0ms, .service_factor = 4}};
    run_record run = simulated(s, tasks(20, 50ms, 10ms));
    EXPECT_FALSE(blocking_stretch(run).has_value());
    run.simulated = false;
    EXPECT_EQ(blocking_stretch(run)->expected, 40ms);
    EXPECT_FALSE(blocking_stretch(run)->is_notable());
}

}  // namespace
