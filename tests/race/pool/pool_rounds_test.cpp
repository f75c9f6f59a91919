// See rounds.hpp. SPOOL_ROUNDS sets the number of rounds, SPOOL_SEED replays one.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "race/seeded_rounds.hpp"
#include "rounds.hpp"
#include "support/live_threads.hpp"

namespace {

TEST(pool_race, every_task_of_a_random_life_is_accounted_for_exactly_once) {
    const std::size_t before = test::threads_at_rest();
    test::expect_no_problem_in_any_round([](std::uint64_t seed) {
        const test::round_report report = test::run_round(seed);
        return report.problem.empty() ? "" : report.problem + '\n' + report.settings;
    });
    EXPECT_TRUE(test::threads_are_back_to(before)) << "before " << before << ", now " << test::live_threads();
}

}  // namespace
