// The four delays of all tests, scaled by the environment variable SPOOL_TEST_DELAY_FACTOR for slow builds. None of them
// decides a result outside of tests/timing: they bound waits that should end long before, or try time-outs.
#pragma once

#include <chrono>
#include <cstdlib>

namespace test {

inline int delay_factor() {
    static const int factor = [] {
        const char* text = std::getenv("SPOOL_TEST_DELAY_FACTOR");
        const int value = text == nullptr ? 1 : std::atoi(text);
        return value < 1 ? 1 : value;
    }();
    return factor;
}

/// A time-out that is meant to pass.
inline std::chrono::milliseconds short_delay() {
    return std::chrono::milliseconds{12} * delay_factor();
}
inline std::chrono::milliseconds small_delay() {
    return 4 * short_delay();
}
inline std::chrono::milliseconds medium_delay() {
    return 20 * short_delay();
}
/// A wait that ends only when something is broken.
inline std::chrono::milliseconds long_delay() {
    return std::chrono::seconds{10} * delay_factor();
}

}  // namespace test
