// Rounds of a race test. SPOOL_ROUNDS sets the number of rounds, SPOOL_SEED replays one.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "support/number_from.hpp"

namespace test {

[[nodiscard]] inline std::uint64_t wanted_rounds() {
    return number_from("SPOOL_ROUNDS", 300);
}

/// Calls `problem_of(seed)` for each round. A text that is not empty fails the test, which prints
/// the text and the seed that replays the round.
template <class ProblemOf>
void expect_no_problem_in_any_round(ProblemOf problem_of) {
    const std::uint64_t rounds = wanted_rounds();
    const std::uint64_t seed = number_from("SPOOL_SEED", std::random_device{}());
    for (std::uint64_t i = 0; i < rounds; ++i) {
        ASSERT_EQ(problem_of(seed + i), "") << "replay with SPOOL_ROUNDS=1 SPOOL_SEED=" << seed + i;
    }
}

}  // namespace test
