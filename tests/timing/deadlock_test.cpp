// How soon the pool finds a deadlock.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/delays.hpp"
#include "unit/pool/deadlock/deadlock_helpers.hpp"

namespace {

using spool::deadlock_policy;
using spool::thread_pool_executor;
using namespace std::chrono_literals;

TEST(deadlock_timing, it_is_reported_within_a_second) {
    std::vector<std::chrono::milliseconds> took;
    for (int round = 0; round < 10; ++round) {
        test::reports told;
        test::circle_of_two circle;
        thread_pool_executor a(test::of_size(1, "a", deadlock_policy::report(told.handler())));
        thread_pool_executor b(test::of_size(1, "b", deadlock_policy::report(told.handler())));
        circle.start(a, b);
        ASSERT_TRUE(circle.close());
        const auto since = std::chrono::steady_clock::now();
        ASSERT_TRUE(told.come());
        took.push_back(
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since));
        circle.first.cancel();
    }
    std::sort(took.begin(), took.end());
    RecordProperty("median_ms", std::to_string(took[took.size() / 2].count()));
    RecordProperty("most_ms", std::to_string(took.back().count()));
    EXPECT_LT(took.back(), 1s * test::delay_factor());
}

}  // namespace
