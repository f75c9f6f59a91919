// One round of a pool's life: a pool is made, four threads submit tasks, and the pool ends at a
// random moment. Every task must be accounted for exactly once.
#pragma once

#include <cstdint>
#include <string>

namespace test {

/// What a round found; `problem` is empty if there is none.
struct round_report {
    std::string settings;
    std::string problem;
    std::uint64_t tasks = 0;
};

/// The seed determines the queue kind, the rejection policy, the sizes, what the tasks do, and how
/// and when the pool ends.
[[nodiscard]] round_report run_round(std::uint64_t seed);

}  // namespace test
