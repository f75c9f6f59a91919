// What one measurement says: named figures, in the order in which they were found.
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

/// A task that was lost or ran twice makes the whole measurement worthless: the process ends with this.
class inexact : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

inline void require_equal(std::size_t actual, std::size_t expected, const std::string& what) {
    if (actual != expected) {
        throw inexact(what + ": " + std::to_string(actual) + " instead of " + std::to_string(expected));
    }
}

/// `part` of the values are at or below the result. Sorts them.
[[nodiscard]] inline double percentile(std::vector<double>& values, double part) {
    if (values.empty()) {
        throw std::invalid_argument("percentile of nothing");
    }
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(part * last + 0.5)];
}

}  // namespace bench
