// One round of a pool's life under fire: made, submitted to from four threads, ended at a random moment. Every task must be
// accounted for exactly once.
#pragma once

#include <cstdint>
#include <string>

namespace test {

/// What a round found; empty if all is well.
struct round_report {
    std::string settings;
    std::string problem;
    std::uint64_t tasks = 0;
};

/// The seed decides everything: queue kind, rejection policy, sizes, what the tasks do, how and when it ends.
[[nodiscard]] round_report run_round(std::uint64_t seed);

}  // namespace test
