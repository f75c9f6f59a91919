// watchdog: if a round does not end in time, prints the round with its pools and ends the process.
#pragma once

#include <chrono>

#include "world.hpp"

namespace soak {

/// How long a round may take.
[[nodiscard]] std::chrono::seconds& round_limit();

/// Starts the watchdog's thread. Must be called before the first count of threads.
void start_watchdog();

/// The watchdog watches the round while this object lives.
class watched {
public:
    explicit watched(world& in);
    watched(const watched&) = delete;
    watched& operator=(const watched&) = delete;
    ~watched();
};

}  // namespace soak
