// this_task::sleep_for sleeps at least for the given time.
#include <gtest/gtest.h>

#include <chrono>

#include "spool/detail/task_scope.hpp"
#include "spool/sync/this_task.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"

namespace {

namespace this_task = spool::this_task;
using namespace std::chrono_literals;

TEST(sleep_timing, sleep_outside_of_a_task_lasts_at_least_its_time) {
    for (const std::chrono::nanoseconds d :
         {std::chrono::nanoseconds{1}, std::chrono::nanoseconds{100us},
          std::chrono::nanoseconds{test::short_delay()}, std::chrono::nanoseconds{test::small_delay()}}) {
        const auto took = test::time_of([d] { this_task::sleep_for(d); });
        EXPECT_GE(took, d);
        EXPECT_LT(took, test::long_delay());
    }
}

TEST(sleep_timing, sleep_in_a_task_lasts_at_least_its_time) {
    const spool::task_scope scope;
    const auto took = test::time_of([] { this_task::sleep_for(test::small_delay()); });
    EXPECT_GE(took, test::small_delay());
    EXPECT_LT(took, test::long_delay());
}

TEST(sleep_timing, sleep_until_lasts_up_to_its_deadline) {
    const auto until = spool::deadline::after(std::chrono::duration<double, std::milli>{5.5});
    this_task::sleep_until(until);
    EXPECT_GE(spool::deadline::clock::now(), until.when());
}

TEST(sleep_timing, sleep_of_no_time_returns_at_once) {
    const auto took = test::time_of([] {
        this_task::sleep_for(0s);
        this_task::sleep_for(-1h);
        this_task::sleep_for(std::chrono::nanoseconds::min());
    });
    EXPECT_LT(took, test::medium_delay());
}

}  // namespace
