// How long a wait may last, and how it ended.
#pragma once

#include <chrono>
#include <stop_token>

#include "spool/base/deadline.hpp"

namespace spool::inline v1 {

/// What ends a wait besides what is waited for.
struct wait_limits {
    deadline until = deadline::never();
    std::stop_token stop{};  ///< by default one that never stops
    std::chrono::nanoseconds spin{
        0};  ///< looks again and again for so long before it sleeps; see spinning.hpp
};

/// How a wait ended. Where several are true at once, the first in this order is the answer.
enum class wait_result {
    ready,        ///< what was waited for is there
    gave_up,      ///< the give-up predicate said that it will not come
    interrupted,  ///< stop was requested
    timed_out,    ///< the deadline passed
};

}  // namespace spool::inline v1
