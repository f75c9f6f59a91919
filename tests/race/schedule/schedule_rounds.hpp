// One round of a scheduled pool's life under fire: timers of every kind put in from four threads, cancelled, removed, coming back,
// put in again by themselves; settings changed; the clock moved; the pool ended at a random moment. Every task must be accounted for
// exactly once, and every future be done in the end.
#pragma once

#include <cstdint>
#include <string>

namespace test {

/// What a round found; the problem is empty if all is well.
struct schedule_report {
    std::string settings;
    std::string problem;
};

/// The seed decides everything but how the threads meet.
[[nodiscard]] schedule_report run_schedule_round(std::uint64_t seed);

}  // namespace test
