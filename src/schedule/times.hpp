// Saturating sums and differences of times.
#pragma once

#include <chrono>

#include "spool/base/deadline.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1::detail {

inline due_time sum(due_time t, std::chrono::nanoseconds d) noexcept {
    if (d > std::chrono::nanoseconds::zero()) {
        return t > due_time::max() - d ? due_time::max() : t + d;
    }
    return t < due_time::min() - d ? due_time::min() : t + d;
}

inline std::chrono::nanoseconds difference(std::chrono::nanoseconds a, std::chrono::nanoseconds b) noexcept {
    if (b > std::chrono::nanoseconds::zero()) {
        return a < std::chrono::nanoseconds::min() + b ? std::chrono::nanoseconds::min() : a - b;
    }
    return a > std::chrono::nanoseconds::max() + b ? std::chrono::nanoseconds::max() : a - b;
}

/// When the steady clock meets a time of day, if the time of day stays ahead of it by `offset`.
inline due_time met(std::chrono::system_clock::time_point wall, std::chrono::nanoseconds offset) noexcept {
    return due_time{difference(saturated(wall.time_since_epoch()), offset)};
}

}  // namespace spool::inline v1::detail
