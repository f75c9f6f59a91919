// stop_comes: waits for a stop request.
#pragma once

#include <stop_token>

#include "support/gate.hpp"

namespace test {

/// Blocks until a stop is requested. Returns false if that does not happen.
[[nodiscard]] inline bool stop_comes(const std::stop_token& stop) {
    gate stopped;
    const std::stop_callback on_stop{stop, [&] { stopped.open(); }};
    return stopped.opens();
}

}  // namespace test
