// The time limits that are most likely to go wrong.
#pragma once

#include <chrono>
#include <limits>

namespace test {

/// Calls `f` with the most negative, -1, 0, 1 and the largest duration in each of several units.
template <class F>
void for_any_timeout(F f) {
    const auto each_of = [&f]<class Duration>(Duration) {
        using rep = typename Duration::rep;
        for (const rep count :
             {std::numeric_limits<rep>::min(), rep{-1}, rep{0}, rep{1}, std::numeric_limits<rep>::max()}) {
            f(Duration{count});
        }
    };
    each_of(std::chrono::nanoseconds{});
    each_of(std::chrono::milliseconds{});
    each_of(std::chrono::seconds{});
    each_of(std::chrono::hours{});
}

}  // namespace test
