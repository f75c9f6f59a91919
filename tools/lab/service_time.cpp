#include "service_time.hpp"

#include <cmath>
#include <numeric>

#include "duration_text.hpp"
#include "json_fields.hpp"
#include "limits.hpp"
#include "trace.hpp"

namespace spool::lab {
nanoseconds service_time::mean() const {
    switch (kind) {
        case distribution::fixed:
        case distribution::exponential: return first;
        case distribution::log_normal: return scaled(first, std::exp(shape * shape / 2));
        case distribution::bimodal: return scaled(first, 1 - shape) + scaled(slow, shape);
        case distribution::trace:
            return from_seconds(std::accumulate(values.begin(), values.end(), 0.0,
                                                [](double sum, nanoseconds v) { return sum + seconds(v); }) /
                                static_cast<double>(values.size()));
    }
    return first;
}

void service_time::speed_up(double factor) {
    first = scaled(first, 1 / factor);
    slow = scaled(slow, 1 / factor);
    for (nanoseconds& v : values) {
        v = scaled(v, 1 / factor);
    }
}

nanoseconds service_times::next(random_stream& random) {
    switch (of_.kind) {
        case distribution::fixed: return of_.first;
        case distribution::exponential: return scaled(of_.first, random.exponential());
        case distribution::log_normal: return scaled(of_.first, std::exp(of_.shape * random.normal()));
        case distribution::bimodal: return random.uniform() < of_.shape ? of_.slow : of_.first;
        case distribution::trace: return of_.values[next_value_++ % of_.values.size()];
    }
    return of_.first;
}

service_time read_service_time(const json_field& from, const std::string& folder) {
    if (from.is_string()) {
        return {.first = from.duration(longest_service)};
    }
    service_time t;
    t.kind = from["distribution"].one_of<distribution>({{"fixed", distribution::fixed},
                                                        {"exponential", distribution::exponential},
                                                        {"log_normal", distribution::log_normal},
                                                        {"bimodal", distribution::bimodal},
                                                        {"trace", distribution::trace}});
    switch (t.kind) {
        case distribution::fixed:
            from.allow_only({"distribution", "time"});
            t.first = from["time"].duration(longest_service);
            break;
        case distribution::exponential:
            from.allow_only({"distribution", "mean"});
            t.first = from["mean"].duration(longest_service);
            break;
        case distribution::log_normal:
            from.allow_only({"distribution", "median", "sigma"});
            t.first = from["median"].duration(longest_service);
            t.shape = from["sigma"].not_negative(largest_sigma);
            break;
        case distribution::bimodal:
            from.allow_only({"distribution", "fast", "slow", "slow_share"});
            t.first = from["fast"].duration(longest_service);
            t.slow = from["slow"].duration(longest_service);
            t.shape = from["slow_share"].share();
            break;
        case distribution::trace:
            from.allow_only({"distribution", "file"});
            t.values = read_trace(from["file"], folder, trace_column::service);
            break;
    }
    return t;
}

}  // namespace spool::lab
