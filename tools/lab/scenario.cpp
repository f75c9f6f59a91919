#include "scenario.hpp"

#include <algorithm>

#include "duration_text.hpp"

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
