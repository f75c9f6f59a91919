#include "plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "duration_text.hpp"

namespace {

using namespace std::chrono_literals;
using namespace spool::lab;

scenario with_class(arrival_source arrivals, service_time service, nanoseconds duration = 10s) {
    scenario s;
    s.name = "plan";
    s.duration = duration;
    if (arrivals.until == 0s) {
        arrivals.until = duration;
    }
    s.classes = {{.name = "a", .arrivals = {std::move(arrivals)}, .service = std::move(service)}};
    return s;
}

double mean_service(const std::vector<planned_task>& plan) {
    double sum = 0;
    for (const planned_task& t : plan) {
        sum += seconds(t.service);
    }
    return sum / static_cast<double>(plan.size());
}

TEST(lab_plan, constant_arrivals_come_evenly) {
    const auto plan = make_plan(with_class({.kind = arrival_kind::constant, .rate = 100}, {.first = 5ms}));
    ASSERT_EQ(plan.size(), 1000U);
    EXPECT_EQ(plan[1].arrival - plan[0].arrival, 10ms);
    EXPECT_EQ(plan[7].service, 5ms);
}

TEST(lab_plan, poisson_arrivals_have_their_rate_and_vary_as_much_as_they_should) {
    const auto plan = make_plan(with_class({.rate = 1000}, {.first = 1ms}));
    EXPECT_NEAR(static_cast<double>(plan.size()), 10'000, 400);  // four standard deviations
    double squares = 0;
    for (std::size_t i = 1; i < plan.size(); ++i) {
        const double gap = seconds(plan[i].arrival - plan[i - 1].arrival) * 1000;
        squares += gap * gap;
    }
    // The mean square of an exponential gap.
    EXPECT_NEAR(squares / static_cast<double>(plan.size()), 2, 0.2);
}

TEST(lab_plan, bursts_come_together_and_may_be_spread) {
    const auto plan = make_plan(with_class(
        {.kind = arrival_kind::bursts, .burst = 10, .every = 1s, .spread = 100ms}, {.first = 1ms}));
    ASSERT_EQ(plan.size(), 100U);
    EXPECT_EQ(plan[9].arrival, 90ms);
    EXPECT_EQ(plan[10].arrival, 1s);
}

TEST(lab_plan, a_ramp_has_most_of_its_tasks_at_its_high_end) {
    const auto plan =
        make_plan(with_class({.kind = arrival_kind::ramp, .rate = 0, .end_rate = 1000}, {.first = 1ms}));
    EXPECT_NEAR(static_cast<double>(plan.size()), 5000, 300);
    const auto half =
        std::count_if(plan.begin(), plan.end(), [](const planned_task& t) { return t.arrival < 5s; });
    EXPECT_NEAR(static_cast<double>(half) / static_cast<double>(plan.size()), 0.25, 0.03);
}

TEST(lab_plan, a_source_keeps_to_its_stretch_of_time) {
    const auto plan = make_plan(with_class({.rate = 500, .from = 2s, .until = 3s}, {.first = 1ms}));
    EXPECT_GE(plan.front().arrival, 2s);
    EXPECT_LT(plan.back().arrival, 3s);
}

TEST(lab_plan, service_times_have_the_mean_that_they_state) {
    for (const service_time& t :
         {service_time{.kind = distribution::exponential, .first = 10ms},
          service_time{.kind = distribution::log_normal, .first = 10ms, .shape = 0.8},
          service_time{.kind = distribution::bimodal, .first = 2ms, .slow = 80ms, .shape = 0.1},
          service_time{.kind = distribution::trace, .values = {1ms, 2ms, 6ms}}}) {
        const auto plan = make_plan(with_class({.rate = 3000}, t));
        EXPECT_NEAR(mean_service(plan), seconds(t.mean()), seconds(t.mean()) * 0.05);
    }
}

TEST(lab_plan, classes_share_the_arrivals_in_their_proportions) {
    scenario s = with_class({.rate = 1}, {.first = 1ms});
    s.classes.push_back({.name = "b", .share = 3, .service = {.first = 2ms}});
    s.classes[0].arrivals.clear();
    s.classes[0].share = 1;
    s.arrivals = {{.rate = 1000, .until = 10s}};
    const auto plan = make_plan(s);
    const auto second =
        std::count_if(plan.begin(), plan.end(), [](const planned_task& t) { return t.of_class == 1; });
    EXPECT_NEAR(static_cast<double>(second) / static_cast<double>(plan.size()), 0.75, 0.03);
}

TEST(lab_plan, a_second_class_does_not_change_the_first) {
    scenario s = with_class({.rate = 100}, {.kind = distribution::exponential, .first = 5ms});
    const auto before = make_plan(s);
    s.classes.push_back({.name = "b", .arrivals = {{.rate = 50, .until = 10s}}, .service = {.first = 2ms}});
    std::vector<nanoseconds> first;
    for (const planned_task& t : make_plan(s)) {
        if (t.of_class == 0) {
            first.push_back(t.service);
        }
    }
    ASSERT_EQ(first.size(), before.size());
    EXPECT_EQ(first[100], before[100].service);
}

TEST(lab_plan, another_duration_stretches_the_phase_that_lasts_to_the_end) {
    scenario s = with_class({.kind = arrival_kind::constant, .rate = 100}, {.first = 5ms});
    s.classes[0].arrivals.push_back({.kind = arrival_kind::constant, .rate = 10, .from = 3s, .until = 6s});
    EXPECT_EQ(make_plan(lasting(s, 20s)).size(), 2030U);
    EXPECT_EQ(make_plan(lasting(s, 4s)).size(), 410U);
    EXPECT_EQ(make_plan(lasting(s, 2s)).size(), 200U);
}

TEST(lab_plan, a_higher_speed_gives_the_same_events_in_less_time) {
    const scenario s = with_class({.kind = arrival_kind::constant, .rate = 100}, {.first = 8ms});
    const auto plan = make_plan(sped_up(s, 4));
    ASSERT_EQ(plan.size(), 1000U);
    EXPECT_EQ(plan[1].arrival, 2500us);
    EXPECT_EQ(plan[1].service, 2ms);
    EXPECT_NEAR(mean_concurrency(s, make_plan(s)), mean_concurrency(sped_up(s, 4), plan), 1e-6);
}

}  // namespace
