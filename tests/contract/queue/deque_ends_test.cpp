// The contract of linked_blocking_deque at its two ends, without waiting.
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include "contract/queue/contract.hpp"
#include "contract/queue/deque_ends.hpp"

namespace {

using deque_of_int = spool::linked_blocking_deque<int>;

TEST(deque, LBD_001_a_deque_is_empty_before_the_first_element_and_after_the_last) {
    deque_of_int deque;
    EXPECT_TRUE(deque.empty());
    EXPECT_TRUE(deque.offer_first(1));
    EXPECT_FALSE(deque.empty());
    EXPECT_TRUE(deque.offer_last(2));
    EXPECT_EQ(deque.poll_first(), 1);
    EXPECT_EQ(deque.poll_first(), 2);
    test::expect_empty(deque);
}

TEST(deque, LBD_002_the_size_follows_every_addition_and_removal) {
    deque_of_int deque(test::numbers());
    for (std::size_t held = test::size; held > 0; --held) {
        EXPECT_EQ(deque.size(), held);
        EXPECT_TRUE(deque.poll_first().has_value());
    }
    for (std::size_t held = 0; held < test::size; ++held) {
        EXPECT_EQ(deque.size(), held);
        EXPECT_TRUE(deque.offer_last(static_cast<int>(held)));
    }
    EXPECT_EQ(deque.size(), test::numbers().size());
}

TEST(deque, LBD_049_an_empty_deque_has_no_element_to_visit_in_either_direction) {
    const deque_of_int deque;
    EXPECT_TRUE(test::visited(deque).empty());
    deque.for_each_backward([](int) { ADD_FAILURE() << "shown what is not there"; });
}

TEST(deque, LBD_050_the_backward_visit_reaches_every_element) {
    const deque_of_int deque(test::numbers());
    std::vector<int> seen;
    deque.for_each_backward([&](int n) { seen.push_back(n); });
    EXPECT_EQ(test::sorted(seen), test::numbers());
}

TEST(deque, LBD_051_the_backward_visit_begins_with_the_newest_element) {
    deque_of_int deque;
    for (int round = 0; round < 100; ++round) {
        for (const int n : {3, 2, 1}) {
            deque.put(int{n});
        }
        std::vector<int> seen;
        deque.for_each_backward([&](int n) { seen.push_back(n); });
        EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(deque.poll_first().has_value());
        }
    }
}

// ---- Both ends alike

template <class End>
class deque_end : public testing::Test {};
TYPED_TEST_SUITE(deque_end, test::both_ends, test::kind_names);

TYPED_TEST(deque_end, LBD_003_LBD_004_LBD_019_an_empty_task_cannot_be_offered) {
    spool::linked_blocking_deque<spool::task> deque;
    EXPECT_THROW(TypeParam::offer(deque, spool::task{}), std::invalid_argument);
    EXPECT_THROW(TypeParam::offer_for(deque, spool::task{}, test::long_delay()), std::invalid_argument);
    EXPECT_TRUE(deque.empty());
}

TYPED_TEST(deque_end, LBD_005_LBD_006_offers_to_an_unbounded_deque_succeed) {
    deque_of_int deque;
    for (const int n : test::numbers()) {
        EXPECT_TRUE(TypeParam::offer(deque, n));
    }
    EXPECT_EQ(deque.size(), test::numbers().size());
}

TYPED_TEST(deque_end, LBD_007_LBD_008_poll_returns_the_elements_from_this_end_and_then_nothing) {
    deque_of_int deque(test::numbers());
    for (const int n : TypeParam::seen_from_here(test::numbers())) {
        EXPECT_EQ(TypeParam::poll(deque), n);
    }
    EXPECT_EQ(TypeParam::poll(deque), std::nullopt);
}

TYPED_TEST(deque_end, LBD_009_LBD_010_peek_copies_the_element_at_this_end_and_leaves_it) {
    deque_of_int deque(test::numbers());
    for (const int n : TypeParam::seen_from_here(test::numbers())) {
        EXPECT_EQ(test::element_at<TypeParam>(deque), n);
        EXPECT_EQ(test::element_at<TypeParam>(deque), n);
        EXPECT_EQ(TypeParam::poll(deque), n);
        EXPECT_NE(test::element_at<TypeParam>(deque), n);
    }
    EXPECT_EQ(test::element_at<TypeParam>(deque), std::nullopt);
}

TYPED_TEST(deque_end, LBD_011_LBD_012_peek_at_an_empty_deque_returns_nothing_and_does_not_throw) {
    deque_of_int deque(test::numbers());
    for (const int n : TypeParam::seen_from_here(test::numbers())) {
        EXPECT_TRUE(TypeParam::peek(deque, [&](int shown) { EXPECT_EQ(shown, n); }));
        EXPECT_EQ(TypeParam::poll(deque), n);
    }
    EXPECT_FALSE(TypeParam::peek(deque, [](int) { ADD_FAILURE() << "shown what is not there"; }));
}

TYPED_TEST(deque_end, LBD_013_LBD_014_LBD_022_poll_of_an_empty_deque_returns_nothing_and_does_not_throw) {
    deque_of_int deque(test::numbers());
    std::vector<int> taken;
    while (const std::optional<int> n = TypeParam::poll(deque)) {
        taken.push_back(*n);
    }
    EXPECT_EQ(taken, TypeParam::seen_from_here(test::numbers()));
    EXPECT_NO_THROW(EXPECT_EQ(TypeParam::poll(deque), std::nullopt));
}

TYPED_TEST(deque_end, LBD_015_LBD_016_removing_an_element_from_this_end_returns_whether_it_was_found) {
    deque_of_int deque(test::numbers());
    for (int odd = 1; odd < test::size; odd += 2) {
        EXPECT_TRUE(TypeParam::remove_if(deque, test::is(odd)));
        EXPECT_FALSE(deque.contains(test::is(odd)));
        EXPECT_TRUE(deque.contains(test::is(odd - 1)));
    }
    for (int even = 0; even < test::size; even += 2) {
        EXPECT_TRUE(TypeParam::remove_if(deque, test::is(even)));
        EXPECT_FALSE(TypeParam::remove_if(deque, test::is(even)));
        EXPECT_FALSE(TypeParam::remove_if(deque, test::is(even + 1)));
    }
    test::expect_empty(deque);
}

TYPED_TEST(deque_end, LBD_015_LBD_016_of_several_equal_elements_the_nearest_to_this_end_is_removed) {
    deque_of_int deque(std::vector<int>{10, 20, 11, 21, 12});
    EXPECT_TRUE(TypeParam::remove_if(deque, [](int n) { return n < 20; }));
    EXPECT_EQ(deque.size(), 4U);
    EXPECT_FALSE(deque.contains(test::is(TypeParam::seen_from_here({10, 12}).front())));
    EXPECT_TRUE(deque.contains(test::is(11)));
}

TYPED_TEST(deque_end, LBD_017_LBD_018_LBD_021_an_element_added_at_this_end_is_the_first_one_there) {
    deque_of_int deque(3);
    EXPECT_EQ(deque.offer_all(test::numbers(3)), 3U);
    EXPECT_TRUE(TypeParam::poll(deque).has_value());
    EXPECT_TRUE(TypeParam::offer(deque, 4));
    EXPECT_EQ(test::element_at<TypeParam>(deque), 4);
    EXPECT_EQ(deque.size(), 3U);
}

TYPED_TEST(deque_end, LBD_020_an_offered_element_is_the_first_at_this_end_and_a_full_deque_returns_false) {
    deque_of_int deque(test::size);
    for (const int n : test::numbers()) {
        EXPECT_TRUE(TypeParam::offer(deque, n));
        EXPECT_EQ(test::element_at<TypeParam>(deque), n);
    }
    EXPECT_EQ(deque.remaining_capacity(), 0U);
    EXPECT_FALSE(TypeParam::offer(deque, test::size));
    EXPECT_EQ(test::element_at<TypeParam>(deque), test::size - 1);
}

}  // namespace
