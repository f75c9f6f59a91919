// Repeatable random numbers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace test {

/// A new seed for each run, or the value of the environment variable SPOOL_TEST_SEED. A failing
/// test prints the seed.
[[nodiscard]] inline std::uint32_t random_seed() {
    const char* text = std::getenv("SPOOL_TEST_SEED");
    return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10))
                           : std::random_device{}();
}

/// A text for SCOPED_TRACE.
[[nodiscard]] inline std::string seed_note(std::uint32_t seed) {
    return "repeat with SPOOL_TEST_SEED=" + std::to_string(seed);
}

/// Random choices. Not thread-safe: each thread needs its own.
class dice {
public:
    explicit dice(std::uint32_t seed) : engine_(seed) {}
    /// 0 <= result < n
    [[nodiscard]] int below(int n) { return std::uniform_int_distribution<int>{0, n - 1}(engine_); }
    [[nodiscard]] bool one_in(int n) { return below(n) == 0; }

private:
    std::minstd_rand engine_;
};

}  // namespace test
