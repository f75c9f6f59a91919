// linked_blocking_queue: a capacity that changes while other threads use the queue, and room that a
// removal makes in the middle.
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/queue/linked_blocking_queue.hpp"
#include "support/throws.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using queue_of_int = spool::linked_blocking_queue<int>;
using small_segments = spool::linked_blocking_queue<int, 2>;

template <class Queue>
class linked_capacity : public testing::Test {};
using segment_sizes = testing::Types<queue_of_int, small_segments>;
TYPED_TEST_SUITE(linked_capacity, segment_sizes);

TYPED_TEST(linked_capacity, raised_lets_waiting_producers_in) {
    TypeParam queue{1};
    queue.put(1);
    test::in_background first{[&] { queue.put(2); }};
    test::in_background second{[&] { queue.put(3); }};
    ASSERT_TRUE(first.falls_asleep());
    ASSERT_TRUE(second.falls_asleep());
    queue.set_capacity(3);
    ASSERT_TRUE(first.ends());
    ASSERT_TRUE(second.ends());
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_EQ(queue.capacity(), 3U);
}

TYPED_TEST(linked_capacity, lowered_below_the_size_accepts_nothing_until_drained_below_it) {
    TypeParam queue{5};
    EXPECT_EQ(queue.offer_all(std::vector{1, 2, 3, 4, 5, 6}), 5U);
    queue.set_capacity(2);
    EXPECT_EQ(queue.remaining_capacity(), 0U);
    for (int next = 1; next <= 3; ++next) {
        EXPECT_FALSE(queue.offer(7));
        EXPECT_EQ(queue.poll(), next);
    }
    EXPECT_FALSE(queue.offer(7));  // two are left, and the capacity is two
    EXPECT_EQ(queue.poll(), 4);
    EXPECT_TRUE(queue.offer(7));
    EXPECT_EQ(queue.poll(), 5);
    EXPECT_EQ(queue.poll(), 7);
}

TYPED_TEST(linked_capacity, unlimited_takes_the_limit_away) {
    TypeParam queue{1};
    queue.put(1);
    queue.set_capacity(TypeParam::unlimited);
    EXPECT_TRUE(queue.offer(2));
    EXPECT_EQ(queue.remaining_capacity(), TypeParam::unlimited);
}

TYPED_TEST(linked_capacity, zero_is_refused_and_does_not_change_the_capacity) {
    TypeParam queue{4};
    EXPECT_NE(test::what_of<std::invalid_argument>([&] {
                  static_cast<void>(queue.set_capacity(0));
              }).find("capacity must be at least 1, not 0"),
              std::string::npos);
    EXPECT_EQ(queue.capacity(), 4U);
}

TYPED_TEST(linked_capacity, room_made_in_the_middle_is_usable_at_once) {
    TypeParam queue{5};
    queue.offer_all(std::vector{1, 2, 3, 4, 5});
    EXPECT_EQ(queue.remove_if([](int n) { return n == 2 || n == 4; }), 2U);
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_TRUE(queue.offer(6));
    EXPECT_TRUE(queue.offer(7));
    EXPECT_FALSE(queue.offer(8));
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 3, 5, 6, 7}));
}

TYPED_TEST(linked_capacity, removal_across_segments_keeps_the_order_of_the_rest) {
    TypeParam queue;
    std::vector<int> rest;
    for (int n = 0; n < 5000; ++n) {
        ASSERT_TRUE(queue.offer(int{n}));
        if (n % 3 == 0) {
            rest.push_back(n);
        }
    }
    EXPECT_EQ(queue.remove_if([](int n) { return n % 3 != 0; }), 5000U - rest.size());
    EXPECT_EQ(queue.size(), rest.size());
    ASSERT_TRUE(queue.offer(-1));
    rest.push_back(-1);
    std::vector<int> drained;
    EXPECT_EQ(queue.drain_to(drained), rest.size());
    EXPECT_EQ(drained, rest);
    EXPECT_TRUE(queue.empty());
}

TYPED_TEST(linked_capacity, removing_all_leaves_a_queue_that_works) {
    TypeParam queue{3000};
    for (int round = 0; round < 5; ++round) {
        for (int n = 0; n < 3000; ++n) {
            ASSERT_TRUE(queue.offer(int{n}));
        }
        ASSERT_FALSE(queue.offer(0));
        queue.clear();
        ASSERT_EQ(queue.size(), 0U);
        ASSERT_EQ(queue.remaining_capacity(), 3000U);
        ASSERT_EQ(queue.poll(), std::nullopt);
    }
}

TYPED_TEST(linked_capacity, predicate_that_throws_leaves_everything) {
    TypeParam queue;
    queue.offer_all(std::vector{1, 2, 3, 4, 5});
    EXPECT_THROW(queue.remove_if([](int n) { return n == 4 ? throw std::runtime_error("four") : true; }),
                 std::runtime_error);
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 2, 3, 4, 5}));
    EXPECT_TRUE(queue.offer(6));
    EXPECT_EQ(queue.poll(), 1);
}

}  // namespace
