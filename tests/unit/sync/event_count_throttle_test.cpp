// notify_throttled: no second wake while one who was woken is on its way, and none lost by that.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::wait_result;

template <class Parking>
class event_count_throttle : public test::event_count_test<Parking> {};
TYPED_TEST_SUITE(event_count_throttle, test::parkings, test::parking_names);

TYPED_TEST(event_count_throttle, nobody_waiting_is_no_wake) {
    this->events_.notify_throttled();
    EXPECT_EQ(this->wakes(), 0U);
}

TYPED_TEST(event_count_throttle, second_wake_waits_until_the_first_has_looked) {
    const auto first = this->events_.prepare_wait();
    this->events_.notify_throttled();
    this->events_.notify_throttled();
    this->events_.notify_throttled();
    const auto second = this->events_.prepare_wait();  // looks now
    EXPECT_EQ(second - first, 1U);
    this->events_.notify_throttled();
    EXPECT_TRUE(this->events_.wait(second));
    EXPECT_TRUE(this->events_.wait(first));
    EXPECT_EQ(this->wakes() - first, 2U);
}

TYPED_TEST(event_count_throttle, wake_that_hit_nobody_does_not_hold_up_the_next) {
    const auto left = this->events_.prepare_wait();
    this->events_.notify_throttled();
    this->events_.cancel_wait();  // it leaves without a look
    std::atomic<bool> ready{false};
    wait_result answer{};
    test::in_background waiter{
        [&] { answer = this->events_.await([&] { return ready.load(); }, {.until = test::backstop()}); }};
    ASSERT_TRUE(waiter.falls_asleep());
    ready = true;  // N1, pair (S)
    this->events_.notify_throttled();
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
                this->events_.notify_throttled();
            }
        }));
    }
    for (const auto& waiter : waiters) {
        ASSERT_TRUE(waiter->falls_asleep());
    }
    items = 4;  // N1, pair (S)
    this->events_.notify_throttled();
    for (const auto& waiter : waiters) {
        EXPECT_TRUE(waiter->ends());
    }
    EXPECT_EQ(items, 0);
}

}  // namespace
