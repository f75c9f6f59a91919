// See schedule_rounds.hpp. SPOOL_ROUNDS sets the number of rounds, SPOOL_SEED replays one.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <spool/spool.hpp>

#include "race/seeded_rounds.hpp"
#include "schedule_rounds.hpp"
#include "support/live_threads.hpp"

namespace {

TEST(schedule_race, every_task_of_a_random_life_is_accounted_for_exactly_once) {
    const std::size_t before = test::threads_at_rest();
    test::expect_no_problem_in_any_round([](std::uint64_t seed) {
        const test::schedule_report report = test::run_schedule_round(seed);
        return report.problem.empty() ? "" : report.problem + '\n' + report.settings;
    });
    EXPECT_TRUE(test::threads_are_back_to(before)) << "before " << before << ", now " << test::live_threads();
}

// With zero core threads the pool starts one worker for all tasks, even if several callers find no
// worker.
TEST(schedule_race, concurrent_callers_start_one_worker_if_there_are_no_core_threads) {
    constexpr std::size_t callers = 4;
    const std::uint64_t rounds = test::wanted_rounds();
    for (std::uint64_t i = 0; i < rounds; ++i) {
        spool::scheduled_thread_pool_executor pool({.core_size = 0});
        std::atomic<std::size_t> ready{0};
        std::vector<std::thread> threads;
        for (std::size_t n = 0; n < callers; ++n) {
            threads.emplace_back([&] {
                ++ready;
                while (ready < callers) {}
                pool.schedule([] {}, std::chrono::hours{1});
            });
        }
        for (std::thread& t : threads) {
            t.join();
        }
        ASSERT_EQ(pool.pool_size(), 1U) << "round " << i;
    }
}

}  // namespace
