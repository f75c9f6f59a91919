// Arrival times of tasks: from one or several sources, each active over its own interval.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "random_stream.hpp"

namespace spool::lab {

using std::chrono::nanoseconds;

class json_field;

enum class arrival_kind { constant, poisson, bursts, ramp, trace };

struct arrival_source {
    arrival_kind kind = arrival_kind::poisson;
    double rate = 0;        ///< per second; ramp: at the beginning
    double end_rate = 0;    ///< ramp: at the end
    std::size_t burst = 0;  ///< bursts: tasks per burst
    nanoseconds every{0};   ///< bursts: from one burst to the next
    nanoseconds spread{0};  ///< bursts: the tasks of a burst are spread evenly over this time
    nanoseconds from{0};
    nanoseconds until{0};              ///< default: the end of the scenario
    std::vector<nanoseconds> times{};  ///< trace: relative to `from`

    /// Returns the expected number of tasks from `from` to `until`.
    [[nodiscard]] double expected() const;
    void speed_up(double factor);
};

/// Reads one source, such as {"kind": "poisson", "rate": 200, "from": "2s", "until": "5s"}, or an
/// array of sources.
[[nodiscard]] std::vector<arrival_source> read_arrivals(const json_field& from, nanoseconds duration,
                                                        const std::string& folder);

/// Returns the arrival times of one source, in ascending order.
[[nodiscard]] std::vector<nanoseconds> arrival_times(const arrival_source& source, random_stream& random);

}  // namespace spool::lab
