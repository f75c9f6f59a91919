// The contract of every unbounded queue: there is always room, so no producer waits.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>

#include "contract/queue/contract.hpp"
#include "support/any_timeout.hpp"

namespace {

using namespace std::chrono_literals;

template <class Kind>
class unbounded_queue : public testing::Test {
protected:
    static constexpr std::size_t unlimited = spool::blocking_queue<int>::unlimited;
};
TYPED_TEST_SUITE(unbounded_queue, test::unbounded_kinds, test::kind_names);

TYPED_TEST(unbounded_queue, LBQ_001_PBQ_001_DQ_001_the_remaining_room_is_the_largest_number) {
    const auto queue = TypeParam::template make<int>();
    EXPECT_EQ(queue.capacity(), this->unlimited);
    EXPECT_EQ(queue.remaining_capacity(), this->unlimited);
    EXPECT_EQ(this->unlimited, static_cast<std::size_t>(-1));
}

TYPED_TEST(unbounded_queue, LTQ_001_a_new_queue_is_empty) {
    auto queue = TypeParam::template make<int>();
    test::expect_empty(queue);
}

TYPED_TEST(unbounded_queue, PBQ_008_DQ_006_a_queue_is_empty_before_the_first_element_and_after_the_last) {
    auto queue = TypeParam::template make<int>();
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(queue.offer(1));
    EXPECT_FALSE(queue.empty());
    EXPECT_TRUE(queue.offer(2));
    EXPECT_EQ(queue.remaining_capacity(), this->unlimited);
    EXPECT_TRUE(queue.poll().has_value());
    EXPECT_TRUE(queue.poll().has_value());
    EXPECT_TRUE(queue.empty());
}

TYPED_TEST(unbounded_queue, PBQ_009_DQ_007_LTQ_006_the_size_changes_and_the_remaining_room_does_not) {
    auto queue = TypeParam::template make<int>();
    for (std::size_t held = 0; held < test::size; ++held) {
        EXPECT_EQ(queue.size(), held);
        EXPECT_EQ(queue.remaining_capacity(), this->unlimited);
        EXPECT_TRUE(queue.offer(static_cast<int>(held)));
    }
    for (std::size_t held = test::size; held > 0; --held) {
        EXPECT_EQ(queue.size(), held);
        EXPECT_EQ(queue.remaining_capacity(), this->unlimited);
        EXPECT_TRUE(queue.poll().has_value());
    }
}

TYPED_TEST(unbounded_queue, PBQ_010_DQ_008_offers_succeed) {
    auto queue = TypeParam::template make<int>();
    for (int n = 0; n < 1000; ++n) {
        ASSERT_TRUE(queue.offer(int{n}));
    }
    EXPECT_EQ(queue.size(), 1000U);
}

TYPED_TEST(unbounded_queue, PBQ_012_DQ_009_the_size_is_the_number_of_added_elements) {
    auto queue = TypeParam::template make<int>();
    for (std::size_t n = 0; n < test::size; ++n) {
        EXPECT_EQ(queue.size(), n);
        EXPECT_TRUE(queue.offer(static_cast<int>(n)));
    }
    EXPECT_EQ(queue.size(), test::numbers().size());
}

TYPED_TEST(unbounded_queue, PBQ_016_DQ_013_LTQ_010_put_adds_the_element) {
    auto queue = TypeParam::template make<int>();
    for (const int n : test::arrivals<TypeParam>()) {
        queue.put(int{n});
        EXPECT_TRUE(queue.contains(test::is(n)));
    }
    EXPECT_EQ(queue.size(), test::numbers().size());
}

TYPED_TEST(unbounded_queue, PBQ_017_DQ_014_LTQ_010_put_never_waits) {
    auto queue = TypeParam::template make<int>();
    test::in_background producer{[&] {
        for (int n = 0; n < 4; ++n) {
            queue.put(int{n});
        }
        queue.put(4, test::stopped_token());  // a pending stop does not matter without a wait
    }};
    ASSERT_TRUE(producer.ends());
    EXPECT_FALSE(producer.was_interrupted());
    EXPECT_EQ(queue.take(), 0);
    EXPECT_EQ(queue.size(), 4U);
}

TYPED_TEST(unbounded_queue, PBQ_018_DQ_015_LTQ_036_timed_offer_always_succeeds_at_once) {
    auto queue = TypeParam::template make<int>();
    std::size_t added = 0;
    test::expect_no_waiting([&] {
        test::for_any_timeout([&](auto d) {
            EXPECT_TRUE(queue.offer_for(7, d));
            EXPECT_TRUE(queue.offer_for(7, d, test::stopped_token()));
            added += 2;
        });
    });
    EXPECT_EQ(queue.size(), added);
}

TYPED_TEST(unbounded_queue, LTQ_036_an_offered_element_reaches_a_take_of_another_thread) {
    auto queue = TypeParam::template make<int>();
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    EXPECT_TRUE(queue.offer_for(7, 1h));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
    test::expect_empty(queue);
}

}  // namespace
