// The contract of linked_blocking_deque for waiting at its two ends, for room and for an element.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "contract/queue/contract.hpp"
#include "contract/queue/deque_ends.hpp"
#include "support/any_timeout.hpp"

namespace {

using namespace std::chrono_literals;
using deque_of_int = spool::linked_blocking_deque<int>;

// ---- Room

template <class End>
class deque_end_putting : public testing::Test {
protected:
    void fill() {
        while (deque.offer_last(1)) {}
    }

    deque_of_int deque{test::size};
};
TYPED_TEST_SUITE(deque_end_putting, test::both_ends, test::kind_names);

TYPED_TEST(deque_end_putting, LBD_023_LBD_038_an_empty_task_cannot_be_put) {
    spool::linked_blocking_deque<spool::task> tasks;
    EXPECT_THROW(TypeParam::put(tasks, spool::task{}), std::invalid_argument);
    EXPECT_THROW(TypeParam::put(tasks, spool::task{}, test::stopped_token()), std::invalid_argument);
    EXPECT_TRUE(tasks.empty());
}

TYPED_TEST(deque_end_putting, LBD_024_LBD_039_put_adds_elements_until_the_deque_is_full) {
    for (const int n : test::numbers()) {
        if (n % 2 == 0) {
            TypeParam::put(this->deque, n);
        } else {
            TypeParam::put(this->deque, n, std::stop_token{});
        }
        EXPECT_EQ(test::element_at<TypeParam>(this->deque), n);
        EXPECT_TRUE(this->deque.contains(test::is(n)));
    }
    EXPECT_EQ(this->deque.remaining_capacity(), 0U);
}

TYPED_TEST(deque_end_putting, LBD_025_LBD_040_put_into_a_full_deque_is_interruptible) {
    this->fill();
    test::expect_interruptible([this] { TypeParam::put(this->deque, 99); },
                               [this](std::stop_token stop) { TypeParam::put(this->deque, 99, stop); });
    EXPECT_EQ(this->deque.size(), 32U);
    EXPECT_FALSE(this->deque.contains(test::is(99)));
}

TYPED_TEST(deque_end_putting, LBD_026_LBD_041_a_waiting_put_completes_when_another_thread_takes_the_front) {
    deque_of_int two(2);
    TypeParam::put(two, 1);
    TypeParam::put(two, 2);
    test::in_background producer{[&] { TypeParam::put(two, 3); }};
    ASSERT_TRUE(producer.falls_asleep());
    EXPECT_FALSE(producer.has_ended());
    EXPECT_EQ(two.remaining_capacity(), 0U);
    EXPECT_EQ(two.take(), TypeParam::seen_from_here({2, 1}).front());
    ASSERT_TRUE(producer.ends());
    EXPECT_FALSE(producer.was_interrupted());
    test::expect_interruptible([&] { TypeParam::put(two, 4); },
                               [&](std::stop_token stop) { TypeParam::put(two, 4, stop); });
    EXPECT_EQ(two.remaining_capacity(), 0U);
    EXPECT_EQ(test::element_at<TypeParam>(two), 3);
}

TYPED_TEST(deque_end_putting, LBD_027_LBD_042_timed_offer_to_a_full_deque_times_out) {
    this->fill();
    test::expect_waits_out([this](auto d) { EXPECT_FALSE(TypeParam::offer_for(this->deque, 99, d)); });
    test::expect_waits_out(
        [this](auto d) { EXPECT_FALSE(TypeParam::offer_for(this->deque, 99, d, std::stop_token{})); });
    EXPECT_FALSE(this->deque.contains(test::is(99)));
}

TYPED_TEST(deque_end_putting, LBD_027_LBD_042_timed_offer_with_room_adds_at_this_end) {
    test::for_any_timeout([this](auto d) {
        this->deque.clear();
        EXPECT_TRUE(TypeParam::offer_for(this->deque, 1, d));
        EXPECT_TRUE(TypeParam::offer_for(this->deque, 2, d, std::stop_token{}));
        EXPECT_TRUE(TypeParam::offer_for(this->deque, 3, d));
        EXPECT_EQ(this->deque.to_vector(), TypeParam::seen_from_here({3, 2, 1}));
    });
}

TYPED_TEST(deque_end_putting, LBD_027_LBD_042_timed_offer_to_a_full_deque_is_interruptible_for_any_time) {
    this->fill();
    test::for_any_timeout([this](auto d) {
        test::expect_interrupted_before(
            [&] { TypeParam::offer_for(this->deque, 99, d); },
            [&](std::stop_token stop) { TypeParam::offer_for(this->deque, 99, d, stop); });
    });
    test::expect_interrupted_during(
        [this] { TypeParam::offer_for(this->deque, 99, 1h); },
        [this](std::stop_token stop) { TypeParam::offer_for(this->deque, 99, 1h, stop); });
    EXPECT_FALSE(this->deque.contains(test::is(99)));
}

// ---- Elements

template <class End>
class deque_end_taking : public testing::Test {
protected:
    void drain() {
        for (const int n : End::seen_from_here(test::numbers())) {
            EXPECT_EQ(End::take(deque), n);
        }
    }

    deque_of_int deque{test::numbers()};
};
TYPED_TEST_SUITE(deque_end_taking, test::both_ends, test::kind_names);

TYPED_TEST(deque_end_taking, LBD_028_LBD_043_take_returns_the_elements_from_this_end) {
    for (const int n : TypeParam::seen_from_here(test::numbers())) {
        const std::stop_token token;
        EXPECT_EQ(n % 2 == 0 ? TypeParam::take(this->deque) : TypeParam::take(this->deque, token), n);
    }
    test::expect_empty(this->deque);
}

TYPED_TEST(deque_end_taking, LBD_029_LBD_031_take_from_an_empty_deque_waits_until_interrupted) {
    deque_of_int empty;
    test::expect_interrupted_during([&] { TypeParam::take(empty); },
                                    [&](std::stop_token stop) { TypeParam::take(empty, stop); });
    test::expect_empty(empty);
}

TYPED_TEST(deque_end_taking, LBD_030_LBD_032_take_from_an_empty_deque_ends_at_once_after_an_earlier_stop) {
    deque_of_int empty;
    test::expect_interrupted_before([&] { TypeParam::take(empty); },
                                    [&](std::stop_token stop) { TypeParam::take(empty, stop); });
    test::expect_empty(empty);
}

TYPED_TEST(deque_end_taking, LBD_033_LBD_044_take_from_a_drained_deque_is_interruptible) {
    this->drain();
    test::expect_interruptible([this] { TypeParam::take(this->deque); },
                               [this](std::stop_token stop) { TypeParam::take(this->deque, stop); });
    test::expect_empty(this->deque);
}

TYPED_TEST(deque_end_taking, LBD_034_LBD_045_poll_with_a_zero_limit_returns_a_present_element) {
    for (const int n : TypeParam::seen_from_here(test::numbers())) {
        const std::stop_token token;
        EXPECT_EQ(n % 2 == 0 ? TypeParam::poll_for(this->deque, 0s)
                             : TypeParam::poll_for(this->deque, 0s, token),
                  n);
    }
    EXPECT_EQ(TypeParam::poll_for(this->deque, 0s), std::nullopt);
}

TYPED_TEST(deque_end_taking, LBD_035_LBD_046_timed_poll_waits_only_if_the_deque_is_empty) {
    test::expect_no_waiting([this] {
        for (const int n : TypeParam::seen_from_here(test::numbers())) {
            EXPECT_EQ(TypeParam::poll_for(this->deque, test::long_delay()), n);
        }
    });
    test::expect_waits_out([this](auto d) { EXPECT_EQ(TypeParam::poll_for(this->deque, d), std::nullopt); });
    test::expect_empty(this->deque);
}

TYPED_TEST(deque_end_taking, LBD_036_LBD_047_timed_poll_of_a_drained_deque_is_interruptible) {
    this->drain();
    test::for_any_timeout([this](auto d) {
        test::expect_interrupted_before(
            [&] { TypeParam::poll_for(this->deque, d); },
            [&](std::stop_token stop) { TypeParam::poll_for(this->deque, d, stop); });
    });
    test::expect_interrupted_during(
        [this] { TypeParam::poll_for(this->deque, 1h); },
        [this](std::stop_token stop) { TypeParam::poll_for(this->deque, 1h, stop); });
    test::expect_empty(this->deque);
}

TYPED_TEST(deque_end_taking,
           LBD_037_LBD_048_timed_poll_gets_the_element_that_another_thread_offers_at_this_end) {
    this->drain();
    test::expect_waits_out([this](auto d) { EXPECT_EQ(TypeParam::poll_for(this->deque, d), std::nullopt); });
    std::optional<int> taken;
    test::in_background taker{[&] { taken = TypeParam::poll_for(this->deque, 1h); }};
    ASSERT_TRUE(taker.falls_asleep());
    EXPECT_TRUE(TypeParam::offer_for(this->deque, 7, 1h));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
    test::expect_interruptible([this] { TypeParam::poll_for(this->deque, 1h); },
                               [this](std::stop_token stop) { TypeParam::poll_for(this->deque, 1h, stop); });
    test::expect_empty(this->deque);
}

}  // namespace
