// The result of one measurement: named figures, in the order of their measurement.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

using figures = std::vector<std::pair<std::string, double>>;

[[nodiscard]] inline double seconds_since(clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
}

/// Thrown when a task was lost or ran twice: the measurement is worthless, and the process fails.
class inexact : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

inline void require_equal(std::size_t actual, std::size_t expected, const std::string& what) {
    if (actual != expected) {
        throw inexact(what + ": " + std::to_string(actual) + " instead of " + std::to_string(expected));
    }
}

/// Returns the value that the share `part` of the values does not exceed. Sorts the values.
/// \throws std::invalid_argument if there are none
[[nodiscard]] inline double percentile(std::vector<double>& values, double part) {
    if (values.empty()) {
        throw std::invalid_argument("percentile of nothing");
    }
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(part * last + 0.5)];
}

}  // namespace bench
