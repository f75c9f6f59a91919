// The short form of the soak, and the proof that each of its checks can fail. SPOOL_SOAK_SECONDS
// sets the duration, SPOOL_SEED the first seed.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

#include "leaks.hpp"
#include "round.hpp"
#include "support/number_from.hpp"
#include "watchdog.hpp"

namespace {

void get_ready() {
    std::thread{[] {}}.join();  // a sanitizer starts its helper with the first thread
    soak::start_watchdog();
}

TEST(soak, rounds_of_random_operations_on_random_pools_lose_nothing_and_leave_nothing) {
    get_ready();
    const std::uint64_t seed = test::number_from("SPOOL_SEED", std::random_device{}());
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds{test::number_from("SPOOL_SOAK_SECONDS", 6)};
    std::uint64_t rounds = 0;
    std::uint64_t tasks = 0;
    while (std::chrono::steady_clock::now() < end) {
        const soak::round_report report = soak::run_round(seed + rounds);
        ASSERT_TRUE(report.problems.empty())
            << to_string(report) << "replay it alone: scripts/soak 0 --seed " << report.seed;
        ++rounds;
        tasks += report.tasks;
    }
    std::printf("soak: %llu rounds from seed %llu, %llu tasks\n", static_cast<unsigned long long>(rounds),
                static_cast<unsigned long long>(seed), static_cast<unsigned long long>(tasks));
}

struct planted {
    soak::plant fault;
    const char* name;
    const char* found;  // a part of the report's text
};

class soak_plants : public testing::TestWithParam<planted> {};

TEST_P(soak_plants, a_planted_fault_is_detected_and_reported_with_its_seed) {
    get_ready();
    std::string text;
    std::uint64_t seed = 1;
    for (; seed < 100 && text.find(GetParam().found) == std::string::npos; ++seed) {
        const soak::round_report report = soak::run_round(seed, GetParam().fault);
        text = report.problems.empty() ? "" : to_string(report);
        soak::mend_leaks();
    }
    EXPECT_NE(text.find(GetParam().found), std::string::npos) << text;
    EXPECT_EQ(text.find("seed " + std::to_string(seed - 1) + "\npool 0: "), 0U) << text;
}

INSTANTIATE_TEST_SUITE_P(
    all, soak_plants,
    testing::Values(planted{soak::plant::lost_task, "lost_task", "tasks were lost"},
                    planted{soak::plant::double_run, "double_run", "ran 2 times"},
                    planted{soak::plant::wrong_count, "wrong_count", "workers ran "},
                    planted{soak::plant::leaked_task, "leaked_task", "was made 1 time and destroyed 0 times"},
                    planted{soak::plant::lost_in_throw, "lost_in_throw", "tasks were lost"},
                    planted{soak::plant::forgotten_words, "forgotten_words", "tasks were lost"},
                    planted{soak::plant::unheard_group, "unheard_group", "made during unwinding: 0 calls"},
                    planted{soak::plant::double_cancel, "double_cancel", "cancelled 2 times"},
                    planted{soak::plant::dropped_by_lane, "dropped_by_lane", "a serial_executor took"},
                    planted{soak::plant::unpinned, "unpinned", "a pinned worker may run on"},
                    planted{soak::plant::leaked_thread, "leaked_thread", "threads before the round "},
                    planted{soak::plant::leaked_descriptor, "leaked_descriptor",
                            "descriptors before the round "}),
    [](const testing::TestParamInfo<planted>& one) { return one.param.name; });

}  // namespace
