// The contract of every queue with a capacity: room, and waiting for room.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "contract/queue/contract.hpp"
#include "support/any_timeout.hpp"

namespace {

using namespace std::chrono_literals;

template <class Kind>
class bounded_queue : public testing::Test {};
TYPED_TEST_SUITE(bounded_queue, test::bounded_kinds, test::kind_names);

TYPED_TEST(bounded_queue, LBQ_001_ABQ_001_an_empty_queue_has_room_for_its_whole_capacity) {
    const auto queue = TypeParam::template make<int>(32);
    EXPECT_EQ(queue.capacity(), 32U);
    EXPECT_EQ(queue.remaining_capacity(), 32U);
}

TYPED_TEST(bounded_queue, LBQ_002_ABQ_002_a_capacity_of_zero_is_refused) {
    EXPECT_THROW(TypeParam::template make<int>(0), std::invalid_argument);
}

TYPED_TEST(bounded_queue, LBQ_007_ABQ_008_a_queue_of_capacity_two_is_full_after_two_elements) {
    auto queue = TypeParam::template make<int>(2);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.remaining_capacity(), 2U);
    EXPECT_TRUE(queue.offer(1));
    EXPECT_FALSE(queue.empty());
    EXPECT_EQ(queue.remaining_capacity(), 1U);
    EXPECT_TRUE(queue.offer(2));
    EXPECT_FALSE(queue.empty());
    EXPECT_EQ(queue.remaining_capacity(), 0U);
    EXPECT_FALSE(queue.offer(3));
    EXPECT_EQ(queue.to_vector(), (std::vector<int>{1, 2}));
}

TYPED_TEST(bounded_queue, LBQ_008_ABQ_009_size_and_remaining_room_always_add_up_to_the_capacity) {
    for (const std::size_t capacity : {1U, 2U, 7U, 32U}) {
        auto queue = TypeParam::template make<int>(capacity);
        for (std::size_t i = 0; i < capacity; ++i) {
            EXPECT_EQ(queue.remaining_capacity(), capacity - i);
            EXPECT_EQ(queue.size() + queue.remaining_capacity(), capacity);
            EXPECT_TRUE(queue.offer(static_cast<int>(i)));
        }
        for (std::size_t i = 0; i < capacity; ++i) {
            EXPECT_EQ(queue.remaining_capacity(), i);
            EXPECT_EQ(queue.size() + queue.remaining_capacity(), capacity);
            EXPECT_EQ(queue.poll(), static_cast<int>(i));
        }
        EXPECT_EQ(queue.remaining_capacity(), capacity);
    }
}

TYPED_TEST(bounded_queue, LBQ_009_ABQ_010_offer_returns_whether_there_was_room) {
    auto queue = TypeParam::template make<int>(1);
    EXPECT_TRUE(queue.offer(1));
    EXPECT_FALSE(queue.offer(2));
    EXPECT_EQ(queue.poll(), 1);
    EXPECT_EQ(queue.poll(), std::nullopt);
}

TYPED_TEST(bounded_queue, LBQ_010_ABQ_011_adding_to_a_full_queue_returns_false) {
    auto queue = TypeParam::template make<int>();
    for (const int n : test::numbers()) {
        EXPECT_TRUE(queue.offer(int{n}));
    }
    EXPECT_EQ(queue.remaining_capacity(), 0U);
    EXPECT_NO_THROW(EXPECT_FALSE(queue.offer(int{test::size})));
    EXPECT_EQ(test::polled(queue), test::numbers());
}

TYPED_TEST(bounded_queue, LBQ_013_ABQ_014_adding_all_stops_when_the_queue_is_full_and_returns_the_count) {
    auto just_enough = TypeParam::template make<int>();
    EXPECT_EQ(just_enough.offer_all(test::numbers()), test::numbers().size());
    EXPECT_EQ(test::head_of(just_enough), 0);
    auto too_small = TypeParam::template make<int>(test::size - 1);
    EXPECT_EQ(too_small.offer_all(test::numbers()), test::numbers().size() - 1);
    EXPECT_EQ(too_small.remaining_capacity(), 0U);
    EXPECT_EQ(test::polled(too_small), test::numbers(test::size - 1));
}

TYPED_TEST(bounded_queue, LBQ_015_ABQ_016_put_adds_elements_until_the_queue_is_full) {
    auto queue = TypeParam::template make<int>();
    for (const int n : test::numbers()) {
        queue.put(int{n});
        EXPECT_TRUE(queue.contains(test::is(n)));
    }
    EXPECT_EQ(queue.remaining_capacity(), 0U);
}

TYPED_TEST(bounded_queue, LBQ_016_ABQ_017_put_into_a_full_queue_is_interruptible) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    test::expect_interruptible([&] { queue.put(99); }, [&](std::stop_token stop) { queue.put(99, stop); });
    EXPECT_EQ(queue.size(), 32U);
    EXPECT_FALSE(queue.contains(test::is(99)));
}

TYPED_TEST(bounded_queue, LBQ_017_ABQ_018_a_waiting_put_completes_when_another_thread_takes) {
    auto queue = TypeParam::template make<int>(2);
    ASSERT_EQ(queue.offer_all(std::vector<int>{1, 2}), 2U);
    test::in_background producer{[&] { queue.put(3); }};
    ASSERT_TRUE(producer.falls_asleep());
    EXPECT_FALSE(producer.has_ended());
    EXPECT_EQ(queue.remaining_capacity(), 0U);
    EXPECT_EQ(queue.take(), 1);
    ASSERT_TRUE(producer.ends());
    EXPECT_FALSE(producer.was_interrupted());
    test::expect_interruptible([&] { queue.put(4); }, [&](std::stop_token stop) { queue.put(4, stop); });
    EXPECT_EQ(queue.remaining_capacity(), 0U);
    EXPECT_EQ(test::polled(queue), (std::vector<int>{2, 3}));
}

TYPED_TEST(bounded_queue, LBQ_018_ABQ_019_timed_offer_to_a_full_queue_times_out) {
    auto queue = TypeParam::template make<int>(2);
    ASSERT_EQ(queue.offer_all(std::vector<int>{1, 2}), 2U);
    test::expect_waits_out([&](auto d) { EXPECT_FALSE(queue.offer_for(3, d)); });
    test::expect_waits_out([&](auto d) { EXPECT_FALSE(queue.offer_for(3, d, std::stop_token{})); });
    EXPECT_EQ(test::polled(queue), (std::vector<int>{1, 2}));
}

TYPED_TEST(bounded_queue, LBQ_018_ABQ_019_timed_offer_to_a_full_queue_is_interruptible_for_any_time) {
    auto queue = TypeParam::template make<int>(2);
    ASSERT_EQ(queue.offer_all(std::vector<int>{1, 2}), 2U);
    test::for_any_timeout([&](auto d) {
        test::expect_interrupted_before(
            [&] { static_cast<void>(queue.offer_for(3, d)); },
            [&](std::stop_token stop) { static_cast<void>(queue.offer_for(3, d, stop)); });
    });
    test::expect_interrupted_during(
        [&] { static_cast<void>(queue.offer_for(3, 1h)); },
        [&](std::stop_token stop) { static_cast<void>(queue.offer_for(3, 1h, stop)); });
    EXPECT_EQ(test::polled(queue), (std::vector<int>{1, 2}));
}

TYPED_TEST(bounded_queue, LBQ_043_ABQ_042_timed_offer_succeeds_when_another_thread_makes_room) {
    auto queue = TypeParam::template make<int>(2);
    ASSERT_EQ(queue.offer_all(std::vector<int>{1, 2}), 2U);
    bool at_once = true;
    bool later = false;
    test::in_background producer{[&] {
        at_once = queue.offer(3);
        later = queue.offer_for(3, 1h);
    }};
    ASSERT_TRUE(producer.falls_asleep());
    EXPECT_EQ(queue.take(), 1);
    ASSERT_TRUE(producer.ends());
    EXPECT_FALSE(at_once);
    EXPECT_TRUE(later);
    EXPECT_EQ(test::polled(queue), (std::vector<int>{2, 3}));
}

TYPED_TEST(bounded_queue, LBQ_047_ABQ_046_draining_a_full_queue_releases_a_waiting_put) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    test::in_background producer{[&] { queue.put(int{test::size}); }};
    ASSERT_TRUE(producer.falls_asleep());
    std::vector<int> out;
    EXPECT_EQ(queue.drain_to(out, test::size), test::numbers().size());
    EXPECT_EQ(out, test::numbers());
    ASSERT_TRUE(producer.ends());
    queue.drain_to(out);
    EXPECT_EQ(out, test::numbers(test::size + 1));
}

TEST(array_queue, ABQ_006_more_initial_elements_than_the_capacity_are_refused) {
    const spool::array_blocking_queue<int> fits(test::size, test::numbers());
    EXPECT_EQ(fits.remaining_capacity(), 0U);
    EXPECT_EQ(fits.to_vector(), test::numbers());
    using queue_of_int = spool::array_blocking_queue<int>;
    EXPECT_THROW(queue_of_int(test::size - 1, test::numbers()), std::invalid_argument);
    EXPECT_THROW(queue_of_int(0, std::vector<int>{}), std::invalid_argument);
}

}  // namespace
