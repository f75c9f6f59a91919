// The random choices of a race test. To repeat them, set SPOOL_TEST_SEED to the number that the
// test printed.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace test {

/// Returns the seed of this test, and prints it so that a failure can be repeated.
inline std::uint32_t new_seed() {
    const char* text = std::getenv("SPOOL_TEST_SEED");
    const auto seed = text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10))
                                      : std::random_device{}();
    std::cout << "SPOOL_TEST_SEED=" << seed << '\n';
    return seed;
}

/// Random choices. Not thread-safe: each thread needs its own.
class dice {
public:
    dice(std::uint32_t seed, std::uint32_t stream) : engine_(seed + 0x9e3779b9U * stream) {}
    /// 0 <= result < sides
    std::uint32_t roll(std::uint32_t sides) { return static_cast<std::uint32_t>(engine_() % sides); }

private:
    std::minstd_rand engine_;
};

}  // namespace test
