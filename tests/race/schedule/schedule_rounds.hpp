// One round of a scheduled pool's life. Four threads schedule timers of every kind, and cancel and
// remove some. Periodic tasks are requeued, and some tasks schedule themselves again. Settings
// change, the clock moves, and the pool ends at a random moment. Every task must be accounted for
// exactly once, and every future must be done at the end.
#pragma once

#include <cstdint>
#include <string>

namespace test {

/// What a round found; `problem` is empty if there is none.
struct schedule_report {
    std::string settings;
    std::string problem;
};

/// The seed determines everything but how the threads interleave.
[[nodiscard]] schedule_report run_schedule_round(std::uint64_t seed);

}  // namespace test
