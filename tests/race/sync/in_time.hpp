// Finds a wake that was lost. A wait with a limit looks a last time when the limit passes, so it may succeed although
// nobody woke it: only the time that it took tells.
#pragma once

#include "spool/base/deadline.hpp"
#include "support/delays.hpp"

namespace test {

/// The limit of such a wait.
inline spool::deadline time_limit() {
    return spool::deadline::after(long_delay());
}

/// What `wait()` answers, or false (nothing) if it took the long delay.
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
