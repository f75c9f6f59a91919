// Polling, for conditions that no thread signals.
#pragma once

#include <chrono>
#include <thread>

#include "support/delays.hpp"

namespace test {

/// Returns true as soon as `condition()` is true, or false after the long delay.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + long_delay();
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

/// How long `f()` takes, on the steady clock.
template <class F>
std::chrono::nanoseconds time_of(F f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::steady_clock::now() - start;
}

}  // namespace test
