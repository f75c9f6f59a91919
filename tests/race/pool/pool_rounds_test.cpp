// See rounds.hpp. SPOOL_ROUNDS sets the number of rounds, SPOOL_SEED replays one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <random>
#include <thread>

#include "rounds.hpp"
#include "support/eventually.hpp"

namespace {

std::ptrdiff_t thread_count() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {});
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(pool_race, every_task_of_a_random_life_is_accounted_for_exactly_once) {
    std::thread{[] {}}.join();  // a sanitizer starts its helper with the first thread
    const std::ptrdiff_t threads_before = thread_count();
    const std::uint64_t rounds = number_from("SPOOL_ROUNDS", 300);
    const std::uint64_t seed = number_from("SPOOL_SEED", std::random_device{}());
    for (std::uint64_t i = 0; i < rounds; ++i) {
        const test::round_report report = test::run_round(seed + i);
        ASSERT_EQ(report.problem, "")
            << report.settings << "\nreplay with SPOOL_ROUNDS=1 SPOOL_SEED=" << seed + i;
    }
    EXPECT_TRUE(test::eventually([&] { return thread_count() == threads_before; }))
        << "threads before " << threads_before << ", now " << thread_count();
}

}  // namespace
