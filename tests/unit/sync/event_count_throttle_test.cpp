// notify_unless_wake_pending: no second wake-up while a woken waiter is on its way, and no wake-up
// lost by that.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "support/eventually.hpp"
#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::wait_result;

template <class Parking>
class event_count_throttle : public test::event_count_test<Parking> {};
TYPED_TEST_SUITE(event_count_throttle, test::parkings, test::parking_names);

TYPED_TEST(event_count_throttle, notify_without_a_waiter_sends_no_wake) {
    this->events_.notify_unless_wake_pending();
    EXPECT_EQ(this->wakes(), 0U);
}

TYPED_TEST(event_count_throttle, second_wake_waits_until_the_first_has_looked) {
    const auto first = this->events_.prepare_wait();
    this->events_.notify_unless_wake_pending();
    this->events_.notify_unless_wake_pending();
    this->events_.notify_unless_wake_pending();
    const auto second = this->events_.prepare_wait();  // a waiter looks now
    EXPECT_EQ(second - first, 1U);
    this->events_.notify_unless_wake_pending();
    EXPECT_TRUE(this->events_.wait(second));
    EXPECT_TRUE(this->events_.wait(first));
    EXPECT_EQ(this->wakes() - first, 2U);
}

TYPED_TEST(event_count_throttle, wake_that_reached_no_waiter_does_not_delay_the_next) {
    const auto left = this->events_.prepare_wait();
    this->events_.notify_unless_wake_pending();
    this->events_.cancel_wait();  // the waiter leaves without a look
    std::atomic<bool> ready{false};
    wait_result answer{};
    test::in_background waiter{
        [&] { answer = this->events_.await([&] { return ready.load(); }, {.until = test::backstop()}); }};
    ASSERT_TRUE(waiter.falls_asleep());
    ready = true;  // N1, pair (S)
    this->events_.notify_unless_wake_pending();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
    EXPECT_GT(this->wakes(), left);
}

TYPED_TEST(event_count_throttle, one_wake_passed_on_by_each_wakes_all) {
    std::atomic<int> items{0};
    const auto take = [&items] {
        int n = items;
        while (n > 0 && !items.compare_exchange_weak(n, n - 1)) {}
        return n > 0;
    };
    std::vector<std::unique_ptr<test::in_background>> waiters;
    for (int i = 0; i < 4; ++i) {
        waiters.push_back(std::make_unique<test::in_background>([this, &items, take] {
            if (this->events_.await(take, {.until = test::backstop()}) == wait_result::ready && items > 0) {
                this->events_.notify_unless_wake_pending();
            }
        }));
    }
    for (const auto& waiter : waiters) {
        ASSERT_TRUE(waiter->falls_asleep());
    }
    items = 4;  // N1, pair (S)
    this->events_.notify_unless_wake_pending();
    for (const auto& waiter : waiters) {
        EXPECT_TRUE(waiter->ends());
    }
    EXPECT_EQ(items, 0);
}

// ---- The age of a pending wake-up

// No thread sleeps here, and the test moves the time.
struct watched_parking {
    using word = spool::parking_word;
    using spin_loop = spool::spin_loop;
    using spin_timestamp = spool::spin_timestamp;
    struct wake_timestamp {
        static inline std::uint32_t time = 0;
        static inline int looks = 0;  // how often a notifier asked for the age
        static constexpr std::uint32_t timeout = 1000;
        static std::uint32_t now() { return time; }
        static bool is_long_ago(std::uint32_t since) {
            ++looks;
            return time - since > timeout;
        }
    };
    struct late_wake {};
    static inline int woken = 0;
    static void park(const word&, std::uint32_t, spool::deadline) {}
    static void unpark_one(const word&) { ++woken; }
    static void unpark_all(const word&) { ++woken; }
    static late_wake unpark_all_later(const word&) { return {}; }
};

class event_count_wake_age : public testing::Test {
protected:
    event_count_wake_age() {
        clock::time = 123'456;
        clock::looks = 0;
        watched_parking::woken = 0;
    }
    using clock = watched_parking::wake_timestamp;
    spool::basic_event_count<watched_parking> events_;
};

TEST_F(event_count_wake_age, a_late_wake_is_replaced_once_for_each_timeout) {
    static_cast<void>(events_.prepare_wait());
    events_.notify_unless_wake_pending();
    EXPECT_EQ(watched_parking::woken, 1);
    clock::time += clock::timeout;
    events_.notify_unless_wake_pending();
    EXPECT_EQ(watched_parking::woken, 1);
    clock::time += 10;
    events_.notify_unless_wake_pending();
    events_.notify_unless_wake_pending();
    EXPECT_EQ(watched_parking::woken, 2);
    clock::time += clock::timeout + 10;
    events_.notify_unless_wake_pending();
    events_.notify_unless_wake_pending();
    EXPECT_EQ(watched_parking::woken, 3);
}

TEST_F(event_count_wake_age, age_ends_when_a_waiter_checks_again) {
    static_cast<void>(events_.prepare_wait());
    events_.notify_unless_wake_pending();
    clock::time += clock::timeout / 2;
    static_cast<void>(events_.prepare_wait());  // a waiter looks
    events_.notify_unless_wake_pending();       // a new wake-up with its own age
    EXPECT_EQ(watched_parking::woken, 2);
    clock::time += clock::timeout / 2 + 10;
    events_.notify_unless_wake_pending();
    EXPECT_EQ(watched_parking::woken, 2);
}

TEST_F(event_count_wake_age, is_asked_for_only_while_a_wake_is_pending) {
    events_.notify_unless_wake_pending();  // no waiter
    static_cast<void>(events_.prepare_wait());
    events_.notify_unless_wake_pending();  // no waiter on its way
    EXPECT_EQ(clock::looks, 0);
    events_.notify_unless_wake_pending();
    EXPECT_EQ(clock::looks, 1);
}

TEST_F(event_count_wake_age, every_moment_of_the_clock_will_do) {
    for (std::uint32_t start : {0U, 1U, 2U, 3U, 4U, 0xffff'fffeU, 0xffff'ffffU}) {
        clock::time = start;
        watched_parking::woken = 0;
        static_cast<void>(events_.prepare_wait());
        events_.notify_unless_wake_pending();
        events_.notify_unless_wake_pending();
        EXPECT_EQ(watched_parking::woken, 1) << start;
        clock::time += clock::timeout + 10;
        events_.notify_unless_wake_pending();
        EXPECT_EQ(watched_parking::woken, 2) << start;
    }
}

TEST(wake_age, is_long_ago_after_the_timeout_and_not_before) {
    using spool::wake_timestamp;
    const std::uint32_t now = wake_timestamp::now();
    EXPECT_FALSE(wake_timestamp::is_long_ago(now));
    EXPECT_FALSE(wake_timestamp::is_long_ago(now + 10'000));  // another CPU's clock may be ahead
    EXPECT_TRUE(wake_timestamp::is_long_ago(now - 60'000'000));
    EXPECT_FALSE(spool::is_stuck_since(spool::deadline::clock::now()));
    EXPECT_TRUE(spool::is_stuck_since(spool::deadline::clock::now() - std::chrono::minutes{1}));
}

TEST(wake_age, thread_that_asks_without_a_pause_learns_of_it_too) {
    using spool::wake_timestamp;
    for (int round = 0; round < 3; ++round) {
        const auto begin = spool::deadline::clock::now();
        const std::uint32_t woken = wake_timestamp::now();
        EXPECT_TRUE(test::eventually([woken] { return wake_timestamp::is_long_ago(woken); }));
        EXPECT_GE(spool::deadline::clock::now() - begin, spool::wake_limit);
    }
}

TEST(wake_age, thread_that_asks_seldom_learns_of_it_when_it_asks_first) {
    using spool::wake_timestamp;
    const std::uint32_t woken = wake_timestamp::now();
    const auto begin = spool::deadline::clock::now();
    while (spool::deadline::clock::now() - begin < 2 * spool::wake_limit) {}
    EXPECT_TRUE(wake_timestamp::is_long_ago(woken));
}

TEST(wake_age, coarse_clock_is_behind_the_steady_clock_by_less_than_a_second) {
    const auto before = spool::deadline::clock::now();
    const auto coarse = spool::coarse_now();
    EXPECT_GT(coarse, before - std::chrono::seconds{1});
    EXPECT_LE(coarse, spool::deadline::clock::now());
}

}  // namespace
