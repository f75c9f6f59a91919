// wait_then_trim: a consumer that waits for long frees the memory that its queue no longer needs.
#pragma once

#include <algorithm>
#include <chrono>

#include "spool/base/deadline.hpp"
#include "spool/sync/event_count.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1::detail {

/// Waits by `wait(limits)`. Calls `trim()` once, if nothing has come for idle_before_trim.
template <class Wait, class Trim>
wait_result wait_then_trim(const wait_limits& limits, std::chrono::nanoseconds idle_before_trim, Wait wait,
                           Trim trim) {
    const deadline first = std::min(deadline::after(idle_before_trim), limits.until);
    const wait_result how = wait(wait_limits{.until = first, .stop = limits.stop, .spin = limits.spin});
    if (how != wait_result::timed_out) {
        return how;
    }
    trim();
    const std::chrono::nanoseconds spun = idle_before_trim;
    return wait(
        wait_limits{.until = limits.until, .stop = limits.stop, .spin = std::max(limits.spin, spun) - spun});
}

}  // namespace spool::inline v1::detail
