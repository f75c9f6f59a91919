// tidy_wait: a consumer that waits for long frees the memory that its queue no longer needs.
#pragma once

#include <algorithm>
#include <chrono>

#include "spool/base/deadline.hpp"
#include "spool/sync/event_count.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1::detail {

/// Waits by `wait(limits)`. Calls `give_back()` once, if nothing has come for `patience`.
template <class Wait, class GiveBack>
wait_result tidy_wait(const wait_limits& limits, std::chrono::nanoseconds patience, Wait wait,
                      GiveBack give_back) {
    const deadline soon = std::min(deadline::after(patience), limits.until);
    const wait_result how = wait(wait_limits{.until = soon, .stop = limits.stop, .spin = limits.spin});
    if (how != wait_result::timed_out) {
        return how;
    }
    give_back();
    const std::chrono::nanoseconds spun = patience;
    return wait(
        wait_limits{.until = limits.until, .stop = limits.stop, .spin = std::max(limits.spin, spun) - spun});
}

}  // namespace spool::inline v1::detail
