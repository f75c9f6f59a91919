// Finds a lost wake-up. A wait with a limit checks its condition once more when the limit passes,
// so it may succeed without a wake-up. Only the time that the wait took reveals a lost one.
#pragma once

#include "spool/base/deadline.hpp"
#include "support/delays.hpp"

namespace test {

/// The limit of such a wait: the long delay from now.
inline spool::deadline time_limit() {
    return spool::deadline::after(long_delay());
}

/// Returns what `wait()` returns, or a value-initialized result if `wait()` took the long delay.
template <class Wait>
auto in_time(Wait wait) {
    const spool::deadline limit = time_limit();
    auto answer = wait();
    if (limit.expired()) {
        answer = {};
    }
    return answer;
}

}  // namespace test
