#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "duration_text.hpp"
#include "json_fields.hpp"
#include "limits.hpp"

namespace spool::lab {
namespace {

// One random stream per purpose and index, so that a change to one class leaves the draws of the
// other classes as they are.
enum class purpose : std::uint64_t { arrival = 1, choice, service };

random_stream stream_for(const scenario& s, purpose p, std::size_t index) {
    return {s.seed, static_cast<std::uint64_t>(p) << 32U | index};
}

void add_shared(const scenario& s, std::vector<planned_task>& plan) {
    std::vector<double> up_to;
    up_to.reserve(s.classes.size());
    for (const task_class& c : s.classes) {
        up_to.push_back((up_to.empty() ? 0 : up_to.back()) + c.share);
    }
    random_stream choice = stream_for(s, purpose::choice, 0);
    for (std::size_t i = 0; i < s.arrivals.size(); ++i) {
        random_stream random = stream_for(s, purpose::arrival, i);
        for (const nanoseconds t : arrival_times(s.arrivals[i], random)) {
            const double pick = choice.uniform() * up_to.back();
            const auto chosen = std::upper_bound(up_to.begin(), up_to.end(), pick);
            plan.push_back({.arrival = t, .of_class = static_cast<std::uint32_t>(chosen - up_to.begin())});
        }
    }
}

void add_own(const scenario& s, std::vector<planned_task>& plan) {
    std::size_t source = s.arrivals.size();
    for (std::size_t c = 0; c < s.classes.size(); ++c) {
        for (const arrival_source& a : s.classes[c].arrivals) {
            random_stream random = stream_for(s, purpose::arrival, source++);
            for (const nanoseconds t : arrival_times(a, random)) {
                plan.push_back({.arrival = t, .of_class = static_cast<std::uint32_t>(c)});
            }
        }
    }
}

}  // namespace

std::vector<planned_task> make_plan(const scenario& s) {
    std::vector<planned_task> plan;
    if (!s.arrivals.empty()) {
        add_shared(s, plan);
    }
    add_own(s, plan);
    std::stable_sort(plan.begin(), plan.end(),
                     [](const planned_task& a, const planned_task& b) { return a.arrival < b.arrival; });

    std::vector<service_times> times;
    std::vector<random_stream> random;
    for (std::size_t c = 0; c < s.classes.size(); ++c) {
        times.emplace_back(s.classes[c].service);
        random.push_back(stream_for(s, purpose::service, c));
    }
    double work = 0;
    for (planned_task& t : plan) {
        t.service = times[t.of_class].next(random[t.of_class]);
        work += seconds(t.service);
    }
    double factor = 1;
    for (const change& c : s.changes) {
        factor = std::max(factor, c.service_factor.value_or(1));
    }
    work *= factor;
    if (work > seconds(longest_duration)) {
        throw input_error(fmt::format("the tasks together run for up to {:.3g} s: expected at most {}", work,
                                      to_text(longest_duration)));
    }
    return plan;
}

double mean_concurrency(const scenario& s, const std::vector<planned_task>& plan) {
    double work = 0;
    for (const planned_task& t : plan) {
        work += seconds(t.service) * service_factor(s, t.of_class, t.arrival);
    }
    return work / seconds(s.duration);
}

}  // namespace spool::lab
