#include "scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "duration_text.hpp"
#include "json_fields.hpp"
#include "limits.hpp"

namespace spool::lab {

bool scenario::cpu_bound() const {
    return std::any_of(classes.begin(), classes.end(), [](const task_class& c) { return c.cpu; });
}

scenario sped_up(scenario s, double factor) {
    const auto shrink = [factor](nanoseconds& d) { d = from_seconds(seconds(d) / factor); };
    shrink(s.duration);
    shrink(s.pool.keep_alive);
    for (arrival_source& a : s.arrivals) {
        a.speed_up(factor);
    }
    for (task_class& c : s.classes) {
        for (arrival_source& a : c.arrivals) {
            a.speed_up(factor);
        }
        c.service.speed_up(factor);
        shrink(c.deadline);
        shrink(c.retry.after);
    }
    for (change& c : s.changes) {
        shrink(c.at);
        if (c.keep_alive.has_value()) {
            shrink(*c.keep_alive);
        }
    }
    return s;
}

scenario lasting(scenario s, nanoseconds duration) {
    const auto adapt = [&](std::vector<arrival_source>& sources) {
        for (arrival_source& a : sources) {
            a.until = a.until == s.duration ? duration : std::min(a.until, duration);
        }
        std::erase_if(sources, [](const arrival_source& a) { return a.until <= a.from; });
    };
    adapt(s.arrivals);
    for (task_class& c : s.classes) {
        adapt(c.arrivals);
    }
    s.duration = duration;
    return s;
}

void check_size(const scenario& s) {
    if (s.duration > longest_run) {
        throw input_error(fmt::format("the scenario lasts {}: expected at most {}", to_text(s.duration),
                                      to_text(longest_run)));
    }
    const auto expected = [](const std::vector<arrival_source>& sources) {
        return std::accumulate(sources.begin(), sources.end(), 0.0,
                               [](double sum, const arrival_source& a) { return sum + a.expected(); });
    };
    double submissions = 0;
    std::size_t most_attempts = 1;
    for (const task_class& c : s.classes) {
        submissions += expected(c.arrivals) * static_cast<double>(c.retry.attempts);
        most_attempts = std::max(most_attempts, c.retry.attempts);
    }
    submissions += expected(s.arrivals) * static_cast<double>(most_attempts);
    if (submissions > most_submissions) {
        throw input_error(fmt::format("up to {:.3g} tasks come, retries included: expected at most {:.10g}",
                                      submissions, most_submissions));
    }
}

double service_factor(const scenario& s, std::size_t of_class, nanoseconds t) {
    double factor = 1;
    for (const change& c : s.changes) {
        if (c.at > t) {
            break;
        }
        if (c.service_factor.has_value() && (c.of_class.empty() || c.of_class == s.classes[of_class].name)) {
            factor = *c.service_factor;
        }
    }
    return factor;
}

}  // namespace spool::lab
