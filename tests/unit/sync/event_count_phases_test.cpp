// event_count phase by phase: prepare_wait, cancel_wait, wait, notify.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <type_traits>
#include <utility>

#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::deadline;
using spool::event_count;

static_assert(!std::is_copy_constructible_v<event_count> && !std::is_copy_assignable_v<event_count>);
#if defined(__linux__)
static_assert(sizeof(event_count) == 12, "the futex form is three words");
#endif

template <class Parking>
class event_count_phases : public test::event_count_test<Parking> {};
TYPED_TEST_SUITE(event_count_phases, test::parkings, test::parking_names);

TYPED_TEST(event_count_phases, prepared_waiter_is_counted_until_it_cancels) {
    EXPECT_EQ(this->events_.waiters(), 0U);
    const auto key = this->events_.prepare_wait();
    EXPECT_EQ(this->events_.waiters(), 1U);
    this->events_.cancel_wait();
    EXPECT_EQ(this->events_.waiters(), 0U);
    EXPECT_EQ(this->wakes(), key);  // cancelling is no wake-up
}

TYPED_TEST(event_count_phases, notify_one_after_prepare_ends_the_wait_at_once) {
    const auto key = this->events_.prepare_wait();
    this->events_.notify_one();
    EXPECT_TRUE(this->events_.wait(key, test::backstop()));
    EXPECT_EQ(this->events_.waiters(), 0U);
}

TYPED_TEST(event_count_phases, notify_all_after_prepare_ends_the_wait_at_once) {
    const auto key = this->events_.prepare_wait();
    this->events_.notify_all();
    EXPECT_TRUE(this->events_.wait(key, test::backstop()));
    EXPECT_EQ(this->events_.waiters(), 0U);
}

TYPED_TEST(event_count_phases, one_notify_ends_the_wait_of_everybody_prepared) {
    const auto first = this->events_.prepare_wait();
    const auto second = this->events_.prepare_wait();
    EXPECT_EQ(this->events_.waiters(), 2U);
    this->events_.notify_one();
    EXPECT_TRUE(this->events_.wait(first, test::backstop()));
    EXPECT_TRUE(this->events_.wait(second, test::backstop()));
}

TYPED_TEST(event_count_phases, notify_before_prepare_does_not_end_the_wait) {
    this->events_.notify_one();
    const auto key = this->events_.prepare_wait();
    EXPECT_FALSE(this->events_.wait(key, deadline::after(std::chrono::microseconds{100})));
    EXPECT_EQ(this->events_.waiters(), 0U);
}

TYPED_TEST(event_count_phases, deadline_that_is_over_ends_the_wait_at_once) {
    for (const deadline until :
         {deadline::after(std::chrono::seconds{0}), deadline::at(deadline::time_point::min()),
          deadline::at(deadline::time_point{} - std::chrono::hours{1}),
          deadline::at(deadline::clock::now())}) {
        const auto key = this->events_.prepare_wait();
        EXPECT_FALSE(this->events_.wait(key, until));
        EXPECT_EQ(this->events_.waiters(), 0U);
    }
}

TYPED_TEST(event_count_phases, notify_without_a_waiter_changes_nothing) {
    const auto before = this->wakes();
    this->events_.notify_one();
    this->events_.notify_all();
    static_cast<void>(this->events_.notify_all_later());
    EXPECT_EQ(this->events_.waiters(), 0U);
    EXPECT_EQ(this->wakes(), before);
}

TYPED_TEST(event_count_phases, notify_one_wakes_a_sleeper) {
    std::atomic<bool> woken{false};
    test::in_background sleeper{[&] {
        const auto key = this->events_.prepare_wait();
        woken = this->events_.wait(key, test::backstop());
    }};
    ASSERT_TRUE(sleeper.falls_asleep());
    EXPECT_EQ(this->events_.waiters(), 1U);
    this->events_.notify_one();
    ASSERT_TRUE(sleeper.ends());
    EXPECT_TRUE(woken);
    EXPECT_EQ(this->events_.waiters(), 0U);
}

TYPED_TEST(event_count_phases, notify_all_wakes_every_sleeper) {
    std::atomic<int> woken{0};
    const auto sleep = [&] {
        const auto key = this->events_.prepare_wait();
        woken += this->events_.wait(key, test::backstop()) ? 1 : 0;
    };
    test::in_background first{sleep};
    test::in_background second{sleep};
    test::in_background third{sleep};
    ASSERT_TRUE(first.falls_asleep() && second.falls_asleep() && third.falls_asleep());
    ASSERT_TRUE(test::eventually([&] { return this->events_.waiters() == 3; }));
    this->events_.notify_all();
    ASSERT_TRUE(first.ends() && second.ends() && third.ends());
    EXPECT_EQ(woken, 3);
}

TYPED_TEST(event_count_phases, a_late_wake_wakes_every_sleeper) {
    std::atomic<int> woken{0};
    const auto sleep = [&] {
        const auto key = this->events_.prepare_wait();
        woken += this->events_.wait(key, test::backstop()) ? 1 : 0;
    };
    test::in_background first{sleep};
    test::in_background second{sleep};
    ASSERT_TRUE(first.falls_asleep() && second.falls_asleep());
    ASSERT_TRUE(test::eventually([&] { return this->events_.waiters() == 2; }));
    { [[maybe_unused]] const auto wake = this->events_.notify_all_later(); }
    ASSERT_TRUE(first.ends() && second.ends());
    EXPECT_EQ(woken, 2);
}

TYPED_TEST(event_count_phases, a_late_wake_changes_hands) {
    std::atomic<bool> woken{false};
    test::in_background sleeper{[&] {
        const auto key = this->events_.prepare_wait();
        woken = this->events_.wait(key, test::backstop());
    }};
    ASSERT_TRUE(sleeper.falls_asleep());
    {
        typename TestFixture::event_count::late_wake later;
        later = this->events_.notify_all_later();
        [[maybe_unused]] const auto last = std::move(later);
    }
    ASSERT_TRUE(sleeper.ends());
    EXPECT_TRUE(woken);
}

// The waiter has noticed the event by itself, left, and destroyed the event_count.
TYPED_TEST(event_count_phases, a_late_wake_may_come_when_the_event_count_is_gone) {
    auto events = std::make_unique<typename TestFixture::event_count>();
    static_cast<void>(events->prepare_wait());
    [[maybe_unused]] const auto wake = events->notify_all_later();
    events->cancel_wait();
    events.reset();
}

}  // namespace
