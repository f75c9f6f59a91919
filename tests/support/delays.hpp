// The four delays of all tests. The environment variable SPOOL_TEST_DELAY_FACTOR scales them for
// slow builds. Outside of tests/timing no delay decides a result: delays bound waits that should
// end long before, or test time-outs.
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

/// For a time-out that is meant to expire.
inline std::chrono::milliseconds short_delay() {
    return std::chrono::milliseconds{12} * delay_factor();
}
inline std::chrono::milliseconds small_delay() {
    return 4 * short_delay();
}
inline std::chrono::milliseconds medium_delay() {
    return 20 * short_delay();
}
/// For a wait that reaches this limit only if something is broken.
inline std::chrono::milliseconds long_delay() {
    return std::chrono::seconds{10} * delay_factor();
}

}  // namespace test
