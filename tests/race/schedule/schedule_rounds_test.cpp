// See schedule_rounds.hpp. SPOOL_ROUNDS sets the number of rounds, SPOOL_SEED replays one.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>
#include <thread>
#include <vector>

#include <spool/spool.hpp>

#include "schedule_rounds.hpp"
#include "support/eventually.hpp"

namespace {

std::ptrdiff_t thread_count() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {});
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(schedule_race, every_task_of_a_random_life_is_accounted_for_exactly_once) {
    std::thread{[] {}}.join();  // a sanitizer starts its helper with the first thread
    const std::ptrdiff_t threads_before = thread_count();
    const std::uint64_t rounds = number_from("SPOOL_ROUNDS", 300);
    const std::uint64_t seed = number_from("SPOOL_SEED", std::random_device{}());
    for (std::uint64_t i = 0; i < rounds; ++i) {
        const test::schedule_report report = test::run_schedule_round(seed + i);
        ASSERT_EQ(report.problem, "")
            << report.settings << "\nreplay with SPOOL_ROUNDS=1 SPOOL_SEED=" << seed + i;
    }
    EXPECT_TRUE(test::eventually([&] { return thread_count() == threads_before; }))
        << "threads before " << threads_before << ", now " << thread_count();
}

// With zero core threads the pool starts one worker for all tasks, even if several callers find no
// worker.
TEST(schedule_race, callers_at_once_bring_one_worker_where_there_are_no_core_threads) {
    constexpr std::size_t callers = 4;
    const std::uint64_t rounds = number_from("SPOOL_ROUNDS", 300);
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
