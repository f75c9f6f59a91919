// watchdog: a round that does not end in time is printed, with its pools, and the process ends.
#pragma once

#include <chrono>

#include "world.hpp"

namespace soak {

/// How long a round may take.
[[nodiscard]] std::chrono::seconds& round_limit();

/// Starts the thread that looks after rounds, before anybody counts threads.
void start_watchdog();

/// The round is watched for as long as this lives.
class watched {
public:
    explicit watched(world& in);
    watched(const watched&) = delete;
    watched& operator=(const watched&) = delete;
    ~watched();
};

}  // namespace soak
