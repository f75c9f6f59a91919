// How long a wait lasts: wait_for() and get_for() with every kind of limit.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"
#include "support/eventually.hpp"

namespace {

using spool::future;
using spool::future_task;
using namespace std::chrono_literals;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST(future_wait_limits, wait_for_answers_whether_it_is_done) {
    future_task<int> t{[] { return 7; }};
    EXPECT_FALSE(t.wait_for(test::short_delay()));
    t.run();
    EXPECT_TRUE(t.wait_for(test::short_delay()));
}

TEST(future_wait_limits, wait_for_answers_true_for_every_outcome) {
    future_task<int> failed{[]() -> int { throw std::runtime_error("failed"); }};
    failed.run();
    EXPECT_TRUE(failed.wait_for(0ns));
    failed.wait();
    const future_task<int> cancelled{[] { return 7; }};
    cancelled.cancel();
    EXPECT_TRUE(cancelled.wait_for(0ns));
    cancelled.wait();
}

TEST(future_wait_limits, a_done_future_answers_true_for_any_limit) {
    future_task<int> t{[] { return 7; }};
    t.run();
    test::for_any_timeout([&](auto limit) { EXPECT_TRUE(t.wait_for(limit)); });
    EXPECT_TRUE(t.wait_for(std::chrono::duration<double>{-infinity}));
    EXPECT_TRUE(t.wait_for(std::chrono::duration<double>{not_a_number}));
    EXPECT_TRUE(t.wait_until(spool::deadline::never()));
    EXPECT_TRUE(t.wait_until(spool::deadline::after(-1h)));
}

TEST(future_wait_limits, zero_and_negative_limits_are_over_at_once) {
    const future_task<int> t{[] { return 7; }};
    EXPECT_FALSE(t.wait_for(0s));
    EXPECT_FALSE(t.wait_for(-1ns));
    EXPECT_FALSE(t.wait_for(std::chrono::hours::min()));
    EXPECT_FALSE(t.wait_for(std::chrono::nanoseconds::min()));
    EXPECT_FALSE(t.wait_for(std::chrono::duration<double>{-infinity}));
    EXPECT_FALSE(t.wait_for(std::chrono::duration<double>{not_a_number}));
    EXPECT_FALSE(t.wait_until(spool::deadline::after(0s)));
    EXPECT_THROW(t.get_for(std::chrono::hours::min()), spool::timed_out);
}

TEST(future_wait_limits, huge_limits_do_not_overflow_into_the_past) {
    future_task<int> t{[] { return 7; }};
    std::vector<std::unique_ptr<test::waiter>> waiters;
    const auto waits_with = [&](auto limit) {
        waiters.push_back(std::make_unique<test::waiter>([&t, limit] { t.get_for(limit); }));
    };
    waits_with(std::chrono::hours::max());
    waits_with(std::chrono::nanoseconds::max());
    waits_with(std::chrono::duration<double>{infinity});
    waits_with(std::chrono::duration<double, std::giga>{1e300});
    EXPECT_FALSE(t.wait_for(test::short_delay()));  // an overflow would have ended the waits by now
    for (const auto& w : waiters) {
        EXPECT_FALSE(w->has_ended());
    }
    t.run();
    for (const auto& w : waiters) {
        EXPECT_EQ(w->answer(), "ready");
    }
}

TEST(future_wait_limits, a_wait_lasts_no_shorter_than_asked) {
    const future_task<int> t{[] { return 7; }};
    EXPECT_GE(test::time_of([&] { EXPECT_FALSE(t.wait_for(test::short_delay())); }), test::short_delay());
    EXPECT_GE(test::time_of([&] { EXPECT_FALSE(t.wait_for(test::short_delay(), {})); }), test::short_delay());
    EXPECT_GE(test::time_of([&] { EXPECT_THROW(t.get_for(test::short_delay()), spool::timed_out); }),
              test::short_delay());
}

TEST(future_wait_limits, many_waiters_are_all_released) {
    future_task<int> t{[] { return 7; }};
    std::vector<std::unique_ptr<test::waiter>> waiters;
    for (int i = 0; i < 8; ++i) {
        waiters.push_back(std::make_unique<test::waiter>([&t] { t.wait(); }));
        waiters.push_back(std::make_unique<test::waiter>([&t] { t.get_for(test::long_delay()); }));
    }
    t.run();
    for (const auto& w : waiters) {
        EXPECT_EQ(w->answer(), "ready");
    }
}

TEST(future_wait_limits, a_wait_that_timed_out_can_be_repeated) {
    future_task<int> t{[] { return 7; }};
    EXPECT_FALSE(t.wait_for(test::short_delay()));
    EXPECT_FALSE(t.wait_for(0ns));
    t.run();
    EXPECT_TRUE(t.wait_for(0ns));
    EXPECT_EQ(t.get_for(0ns), 7);
}
