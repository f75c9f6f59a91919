// How long tasks run: a distribution, or what was recorded.
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
    nanoseconds first{
        0};  ///< fixed: the time; exponential: the mean; log-normal: the median; bimodal: the usual time
    nanoseconds slow{0};                ///< bimodal: the other time
    double shape = 0;                   ///< log-normal: sigma; bimodal: the share of the slow ones
    std::vector<nanoseconds> values{};  ///< trace: in this order, over and over

    [[nodiscard]] nanoseconds mean() const;
    void speed_up(double factor);
};

/// "10ms", or {"distribution": "exponential", "mean": "10ms"} and the like. A trace's file lies in `folder`.
[[nodiscard]] service_time read_service_time(const json_field& from, const std::string& folder);

/// Hands out service times one after the other.
class service_times {
public:
    explicit service_times(const service_time& of) : of_(of) {}
    [[nodiscard]] nanoseconds next(random_stream& random);

private:
    const service_time& of_;
    std::size_t next_value_ = 0;
};

}  // namespace spool::lab
