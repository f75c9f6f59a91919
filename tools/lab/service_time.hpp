// Service times of tasks: a distribution, or a recorded trace.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "random_stream.hpp"

namespace spool::lab {

using std::chrono::nanoseconds;

class json_field;

enum class distribution { fixed, exponential, log_normal, bimodal, trace };

struct service_time {
    distribution kind = distribution::fixed;
    /// Fixed: the time; exponential: the mean; log-normal: the median; bimodal: the fast time.
    nanoseconds first{0};
    nanoseconds slow{0};                ///< bimodal: the slow time
    double shape = 0;                   ///< log-normal: sigma; bimodal: the share of slow tasks
    std::vector<nanoseconds> values{};  ///< trace: used in this order, cyclically

    [[nodiscard]] nanoseconds mean() const;
    void speed_up(double factor);
};

/// Reads "10ms", or {"distribution": "exponential", "mean": "10ms"} and the like. `folder` is the
/// folder of trace files.
[[nodiscard]] service_time read_service_time(const json_field& from, const std::string& folder);

/// Draws service times one after the other. Keeps a reference to `of`.
class service_times {
public:
    explicit service_times(const service_time& of) : of_(of) {}
    [[nodiscard]] nanoseconds next(random_stream& random);

private:
    const service_time& of_;
    std::size_t next_value_ = 0;
};

}  // namespace spool::lab
