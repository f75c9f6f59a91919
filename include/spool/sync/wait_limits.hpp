// How long a wait may last, and how it ended.
#pragma once

#include <chrono>
#include <stop_token>

#include "spool/base/deadline.hpp"

namespace spool::inline v1 {

/// What ends a wait before its condition holds.
struct wait_limits {
    deadline until = deadline::never();
    std::stop_token stop{};  ///< by default a token that never stops
    /// How long the wait polls the condition before it sleeps; see spinning.hpp.
    std::chrono::nanoseconds spin{0};
};

/// How a wait ended. If several hold at once, the result is the first of them in this order.
enum class wait_result {
    ready,        ///< the condition holds
    gave_up,      ///< the give-up predicate returned true
    interrupted,  ///< a stop was requested
    timed_out,    ///< the deadline passed
};

}  // namespace spool::inline v1
