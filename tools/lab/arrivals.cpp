#include "arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "duration_text.hpp"
#include "json_fields.hpp"
#include "limits.hpp"
#include "trace.hpp"

namespace spool::lab {
namespace {

arrival_source read_source_of(const json_field& from, nanoseconds duration, const std::string& folder) {
    arrival_source a;
    a.kind = from["kind"].one_of<arrival_kind>({{"constant", arrival_kind::constant},
                                                {"poisson", arrival_kind::poisson},
                                                {"bursts", arrival_kind::bursts},
                                                {"ramp", arrival_kind::ramp},
                                                {"trace", arrival_kind::trace}});
    a.from = from.has("from") ? from["from"].duration() : nanoseconds{0};
    a.until = from.has("until") ? from["until"].duration() : duration;
    if (a.until <= a.from) {
        from[from.has("until") ? "until" : "from"].complain("the source ends before it begins");
    }
    switch (a.kind) {
        case arrival_kind::constant:
        case arrival_kind::poisson:
            from.allow_only({"kind", "rate", "from", "until"});
            a.rate = from["rate"].positive(highest_rate);
            break;
        case arrival_kind::bursts:
            from.allow_only({"kind", "size", "every", "spread", "from", "until"});
            a.burst = from["size"].count(1, largest_burst);
            a.every = from["every"].positive_duration();
            a.spread = from.has("spread") ? from["spread"].duration() : nanoseconds{0};
            break;
        case arrival_kind::ramp:
            from.allow_only({"kind", "from_rate", "to_rate", "from", "until"});
            a.rate = from["from_rate"].not_negative(highest_rate);
            a.end_rate = from["to_rate"].not_negative(highest_rate);
            break;
        case arrival_kind::trace:
            from.allow_only({"kind", "file", "from", "until"});
            a.times = read_trace(from["file"], folder, trace_column::arrival);
            break;
    }
    if (a.expected() > most_submissions) {
        from.complain(fmt::format("{:.3g} tasks come from this source: expected at most {:.10g}",
                                  a.expected(), most_submissions));
    }
    return a;
}

// The rate changes linearly from `begin` to `end` per second over `length` seconds. Returns the
// time at which the area under it reaches `area`.
double time_of_area(double begin, double end, double length, double area) {
    const double slope = (end - begin) / length;
    if (std::abs(slope) < 1e-9) {
        return area / begin;
    }
    return (std::sqrt(std::max(0.0, begin * begin + 2 * slope * area)) - begin) / slope;
}

}  // namespace

double arrival_source::expected() const {
    const double length = seconds(until - from);
    switch (kind) {
        case arrival_kind::constant:
        case arrival_kind::poisson: return rate * length;
        case arrival_kind::bursts: return static_cast<double>(burst) * std::ceil(length / seconds(every));
        case arrival_kind::ramp: return (rate + end_rate) / 2 * length;
        case arrival_kind::trace: return static_cast<double>(times.size());
    }
    return 0;
}

void arrival_source::speed_up(double factor) {
    const auto scale = [factor](nanoseconds& d) { d = from_seconds(seconds(d) / factor); };
    rate *= factor;
    end_rate *= factor;
    for (nanoseconds* d : {&every, &spread, &from, &until}) {
        scale(*d);
    }
    std::for_each(times.begin(), times.end(), scale);
}

std::vector<arrival_source> read_arrivals(const json_field& from, nanoseconds duration,
                                          const std::string& folder) {
    std::vector<arrival_source> all;
    for (const json_field& one : from.elements()) {
        all.push_back(read_source_of(one, duration, folder));
    }
    return all;
}

std::vector<nanoseconds> arrival_times(const arrival_source& source, random_stream& random) {
    std::vector<nanoseconds> times;
    times.reserve(static_cast<std::size_t>(source.expected() * 1.1) + 16);
    const double length = seconds(source.until - source.from);
    switch (source.kind) {
        case arrival_kind::constant:
            for (double t = 0, n = 0; t < length; t = ++n / source.rate) {
                times.push_back(source.from + from_seconds(t));
            }
            break;
        case arrival_kind::poisson:
            for (double t = random.exponential() / source.rate; t < length;
                 t += random.exponential() / source.rate) {
                times.push_back(source.from + from_seconds(t));
            }
            break;
        case arrival_kind::bursts:
            for (nanoseconds at = source.from; at < source.until; at += source.every) {
                for (std::size_t i = 0; i < source.burst; ++i) {
                    times.push_back(at + source.spread * static_cast<nanoseconds::rep>(i) /
                                             static_cast<nanoseconds::rep>(source.burst));
                }
            }
            break;
        case arrival_kind::ramp: {
            const double all = source.expected();
            for (double area = random.exponential(); area < all; area += random.exponential()) {
                times.push_back(source.from +
                                from_seconds(time_of_area(source.rate, source.end_rate, length, area)));
            }
            break;
        }
        case arrival_kind::trace:
            for (const nanoseconds t : source.times) {
                if (source.from + t < source.until) {
                    times.push_back(source.from + t);
                }
            }
            break;
    }
    std::sort(times.begin(), times.end());
    return times;
}

}  // namespace spool::lab
