// The lab keeps its time limits: the generator follows its schedule, and what-if takes at most ten
// seconds.
#include <gtest/gtest.h>

#include <chrono>

#include "duration_text.hpp"
#include "pool_run.hpp"
#include "statistics.hpp"
#include "sweep.hpp"
#include "view.hpp"

namespace {

using namespace std::chrono_literals;
using namespace spool::lab;

scenario of_rate(double rate, service_time service, nanoseconds duration, settings pool) {
    scenario s;
    s.name = "pace";
    s.duration = duration;
    s.pool = pool;
    s.classes = {
        {.name = "task", .arrivals = {{.rate = rate, .until = duration}}, .service = std::move(service)}};
    return s;
}

TEST(lab_pace, twenty_thousand_arrivals_per_second_are_less_than_a_millisecond_late) {
    scenario s = of_rate(20'000, {.first = 5us}, 3s, {.core = 2, .maximum = 2});
    s.classes[0].cpu = true;
    const auto quiet = make_quiet_view();
    const run_summary run = summarise(run_on_pool(s, *quiet));
    ASSERT_EQ(run.all.completed, run.all.arrived);
    RecordProperty("p99", to_text(run.lateness.p99));
    EXPECT_LT(run.lateness.p99, 1ms);
}

TEST(lab_pace, what_if_evaluates_two_hundred_settings_of_a_minute_in_ten_seconds) {
    const scenario s =
        of_rate(2000, {.kind = distribution::exponential, .first = 10ms}, 60s, {.core = 8, .maximum = 32});
    const auto all = candidates(s);
    ASSERT_GE(all.size(), 200U);
    const auto began = std::chrono::steady_clock::now();
    const auto trials = sweep(s, all);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
    EXPECT_GE(trials.front().figures.all.arrived, 115'000U);
}

}  // namespace
