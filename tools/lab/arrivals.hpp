// When tasks come: one source or several together, each over its own stretch of time.
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
    double rate = 0;        ///< per second; ramp: at its beginning
    double end_rate = 0;    ///< ramp: at its end
    std::size_t burst = 0;  ///< bursts: how many at once
    nanoseconds every{0};   ///< bursts: from one to the next
    nanoseconds spread{0};  ///< bursts: over which one burst is spread evenly
    nanoseconds from{0};
    nanoseconds until{0};              ///< the end of the scenario, unless given
    std::vector<nanoseconds> times{};  ///< trace

    /// How many are to be expected from `from` to `until`.
    [[nodiscard]] double expected() const;
    void speed_up(double factor);
};

/// {"kind": "poisson", "rate": 200, "from": "2s", "until": "5s"} and the like, or an array of them.
[[nodiscard]] std::vector<arrival_source> read_arrivals(const json_field& from, nanoseconds duration,
                                                        const std::string& folder);

/// The times of one source, in order.
[[nodiscard]] std::vector<nanoseconds> arrival_times(const arrival_source& source, random_stream& random);

}  // namespace spool::lab
