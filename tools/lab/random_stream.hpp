// Random numbers that are the same on every platform for the same seed, unlike the standard's
// distributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace spool::lab {

class random_stream {
public:
    /// Streams of one seed are independent of each other.
    random_stream(std::uint64_t seed, std::uint64_t stream) {
        std::seed_seq mixed{seed & 0xffffffffU, seed >> 32U, stream & 0xffffffffU, stream >> 32U};
        engine_.seed(mixed);
    }

    /// Uniform in [0, 1).
    [[nodiscard]] double uniform() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
    /// Exponential, mean 1.
    [[nodiscard]] double exponential() { return -std::log1p(-uniform()); }
    /// Normal, mean 0 and standard deviation 1.
    [[nodiscard]] double normal() {
        const double radius = std::sqrt(2 * exponential());
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace spool::lab
