// Work that takes a known time: a chain of dependent multiplications and additions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "pools/support/figures.hpp"

namespace bench {

inline constexpr std::size_t iterations_per_us = 870;

inline void work_for(std::size_t iterations) {
    std::uint64_t x = iterations;
    for (std::size_t i = 0; i < iterations; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        asm volatile("" : "+r"(x));  // makes each step depend on the one before
    }
}

/// Returns the time of one iteration on this machine: the minimum of several measurements, because
/// other processes may take the CPU during some of them.
[[nodiscard]] inline double ns_per_iteration() {
    constexpr std::size_t steps = 1'000 * iterations_per_us;
    double least = std::numeric_limits<double>::max();
    for (int look = 0; look < 20; ++look) {
        const auto start = clock::now();
        work_for(steps);
        least = std::min(least, seconds_since(start) * 1e9 / steps);
    }
    return least;
}

}  // namespace bench
