// An element with a due time, for the tests of delay_queue.
#pragma once

#include <chrono>

#include "spool/base/task.hpp"

namespace test {

struct delayed {
    int number = 0;
    spool::due_time when{};
    [[nodiscard]] spool::due_time due() const { return when; }
    bool operator==(const delayed&) const = default;
};

inline spool::due_time from_now(std::chrono::nanoseconds d) {
    return std::chrono::steady_clock::now() + d;
}
/// A due time before the test began. Each call returns the same one.
inline spool::due_time long_ago() {
    static const spool::due_time start = from_now(-std::chrono::hours{1});
    return start;
}

}  // namespace test
