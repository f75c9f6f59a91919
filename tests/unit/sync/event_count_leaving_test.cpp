// A waiter that leaves without success must pass its wake-up on: another waiter may wait for the
// same thing.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <stop_token>

#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::deadline;
using spool::wait_limits;
using spool::wait_result;

constexpr auto yes = [] { return true; };
constexpr auto no = [] { return false; };

template <class Parking>
class event_count_leaving : public test::event_count_test<Parking> {
protected:
    /// Adds another waiter, prepared by hand, so that the test can count a wake-up for it.
    void let_another_wait() { static_cast<void>(this->events_.prepare_wait()); }
    void let_another_go() {
        this->events_.cancel_wait();
        EXPECT_EQ(this->events_.waiters(), 0U);
    }

    /// A look that returns false. A wake-up arrives during its second call, when the waiter is
    /// prepared.
    auto look_with_a_wake_at_the_second() {
        return [this, looks = 0]() mutable {
            if (++looks == 2) {
                this->events_.notify_one();
            }
            return false;
        };
    }
};
TYPED_TEST_SUITE(event_count_leaving, test::parkings, test::parking_names);

TYPED_TEST(event_count_leaving, time_out_after_a_wake_passes_it_on) {
    this->let_another_wait();
    const auto before = this->wakes();
    const wait_limits over{.until = deadline::after(std::chrono::seconds{-1})};
    EXPECT_EQ(this->events_.await(this->look_with_a_wake_at_the_second(), over), wait_result::timed_out);
    EXPECT_EQ(this->wakes(), before + 2);  // the one that arrived, and the one passed on
    this->let_another_go();
}

TYPED_TEST(event_count_leaving, giving_up_after_a_wake_passes_it_on) {
    this->let_another_wait();
    const auto before = this->wakes();
    EXPECT_EQ(this->events_.await(this->look_with_a_wake_at_the_second(), {}, yes), wait_result::gave_up);
    EXPECT_EQ(this->wakes(), before + 2);
    this->let_another_go();
}

TYPED_TEST(event_count_leaving, stop_after_a_wake_passes_it_on) {
    this->let_another_wait();
    const auto before = this->wakes();
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(this->events_.await(this->look_with_a_wake_at_the_second(), {.stop = stop.get_token()}),
              wait_result::interrupted);
    // The third wake-up comes from the stop, which was requested before the preparation.
    EXPECT_EQ(this->wakes(), before + 3);
    this->let_another_go();
}

TYPED_TEST(event_count_leaving, exception_after_a_wake_passes_it_on) {
    this->let_another_wait();
    const auto before = this->wakes();
    auto throws_at_second_look = [this, looks = 0]() mutable {
        if (++looks == 2) {
            this->events_.notify_one();
            throw std::runtime_error("look");
        }
        return false;
    };
    EXPECT_THROW(static_cast<void>(this->events_.await(throws_at_second_look)), std::runtime_error);
    EXPECT_EQ(this->wakes(), before + 2);
    this->let_another_go();
}

TYPED_TEST(event_count_leaving, success_uses_the_wake_up) {
    this->let_another_wait();
    const auto before = this->wakes();
    auto ready_with_its_wake = [this, looks = 0]() mutable {
        if (++looks == 2) {
            this->events_.notify_one();
        }
        return looks == 2;
    };
    EXPECT_EQ(this->events_.await(ready_with_its_wake), wait_result::ready);
    EXPECT_EQ(this->wakes(), before + 1);
    this->let_another_go();
}

TYPED_TEST(event_count_leaving, leaving_without_a_wake_wakes_no_waiter) {
    this->let_another_wait();
    const auto before = this->wakes();
    const wait_limits over{.until = deadline::after(std::chrono::seconds{-1})};
    EXPECT_EQ(this->events_.await(no, over), wait_result::timed_out);
    EXPECT_EQ(this->events_.await(no, {}, yes), wait_result::gave_up);
    EXPECT_EQ(this->wakes(), before);
    this->let_another_go();
}

TYPED_TEST(event_count_leaving, exception_of_the_first_look_leaves_no_waiter) {
    const auto throws = []() -> bool { throw std::runtime_error("look"); };
    EXPECT_THROW(static_cast<void>(this->events_.await(throws)), std::runtime_error);
    EXPECT_EQ(this->events_.waiters(), 0U);
}

TYPED_TEST(event_count_leaving, exception_of_the_second_look_leaves_no_waiter) {
    int looks = 0;
    const auto throws = [&looks] {
        if (++looks == 2) {
            throw std::runtime_error("look");
        }
        return false;
    };
    EXPECT_THROW(static_cast<void>(this->events_.await(throws)), std::runtime_error);
    EXPECT_EQ(this->events_.waiters(), 0U);
}

TYPED_TEST(event_count_leaving, exception_of_the_give_up_predicate_leaves_no_waiter) {
    const auto throws = []() -> bool { throw std::runtime_error("give up"); };
    EXPECT_THROW(static_cast<void>(this->events_.await(no, {}, throws)), std::runtime_error);
    EXPECT_EQ(this->events_.waiters(), 0U);
}

// Two waiters sleep; one item comes with one wake-up. The woken waiter leaves without the item, and
// the other waiter must get it.
template <class TypeParam, class Leave>
void one_leaves_the_other_gets_the_item(spool::basic_event_count<TypeParam>& events, Leave leave) {
    std::atomic<int> items{0};
    std::atomic<bool> one_has_left{false};
    std::atomic<int> taken{0};
    const auto wait = [&] {
        bool leaving = false;
        const auto look = [&] {
            if (items == 0 || leaving) {
                return false;
            }
            if (!one_has_left.exchange(true)) {
                leaving = true;
                leave();
                return false;
            }
            --items;
            return true;
        };
        const auto how = events.await(look, {.until = test::backstop()}, [&] { return leaving; });
        taken += how == wait_result::ready ? 1 : 0;
    };
    test::in_background first{wait};
    test::in_background second{wait};
    ASSERT_TRUE(first.falls_asleep() && second.falls_asleep());
    items = 1;  // N1, pair (S)
    events.notify_one();
    ASSERT_TRUE(first.ends() && second.ends());
    EXPECT_EQ(taken, 1);
    EXPECT_EQ(items, 0);
    EXPECT_EQ(events.waiters(), 0U);
}

TYPED_TEST(event_count_leaving, sleeper_that_gives_up_when_woken_wakes_the_other) {
    one_leaves_the_other_gets_the_item(this->events_, [] {});
}

TYPED_TEST(event_count_leaving, sleeper_that_throws_when_woken_wakes_the_other) {
    one_leaves_the_other_gets_the_item(this->events_, [] { throw std::runtime_error("look"); });
}

}  // namespace
