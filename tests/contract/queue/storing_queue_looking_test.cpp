// The contract of every storing queue for looking at its elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "contract/queue/contract.hpp"

namespace {

template <class Kind>
class storing_queue_looking : public testing::Test {};
TYPED_TEST_SUITE(storing_queue_looking, test::storing_kinds, test::kind_names);

TYPED_TEST(storing_queue_looking, LBQ_025_ABQ_026_PBQ_025_DQ_022_LTQ_018_peek_shows_each_head_and_leaves_it) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (const int n : test::numbers()) {
        EXPECT_EQ(test::head_of(queue), n);
        EXPECT_EQ(test::head_of(queue), n);
        EXPECT_EQ(queue.poll(), n);
        EXPECT_NE(test::head_of(queue), n);
    }
    EXPECT_EQ(test::head_of(queue), std::nullopt);
}

TYPED_TEST(storing_queue_looking,
           LBQ_026_ABQ_027_PBQ_026_DQ_023_LTQ_019_peek_at_an_empty_queue_does_not_throw) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (const int n : test::numbers()) {
        EXPECT_TRUE(queue.peek([&](int head) { EXPECT_EQ(head, n); }));
        EXPECT_EQ(queue.poll(), n);
    }
    EXPECT_FALSE(queue.peek([](int) { ADD_FAILURE() << "shown what is not there"; }));
}

TYPED_TEST(storing_queue_looking,
           LBQ_029_ABQ_029_PBQ_028_DQ_025_LTQ_022_contains_finds_exactly_the_present_elements) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (const int n : test::numbers()) {
        EXPECT_TRUE(queue.contains(test::is(n)));
        EXPECT_EQ(queue.poll(), n);
        EXPECT_FALSE(queue.contains(test::is(n)));
        EXPECT_EQ(queue.contains(test::is(test::size - 1)), n != test::size - 1);
    }
}

TYPED_TEST(storing_queue_looking,
           LBQ_031_ABQ_031_PBQ_030_DQ_027_LTQ_024_a_queue_contains_all_of_a_subset_but_not_vice_versa) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    auto subset = TypeParam::template make<int>();
    const auto has_all = [](const auto& whole, const auto& part) {
        const std::vector<int> wanted = part.to_vector();
        return std::all_of(wanted.begin(), wanted.end(), [&](int n) { return whole.contains(test::is(n)); });
    };
    for (const int n : test::numbers()) {
        EXPECT_TRUE(has_all(queue, subset));
        EXPECT_FALSE(has_all(subset, queue));
        EXPECT_TRUE(subset.offer(int{n}));
    }
    EXPECT_TRUE(has_all(subset, queue));
}

TYPED_TEST(storing_queue_looking,
           LBQ_034_ABQ_034_PBQ_033_DQ_030_LTQ_027_a_snapshot_has_every_element_in_order) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    EXPECT_EQ(queue.to_vector(), test::numbers());
    EXPECT_EQ(test::polled(queue), test::numbers());  // to_vector() removed nothing
}

TYPED_TEST(storing_queue_looking,
           LBQ_035_PBQ_034_DQ_031_LTQ_028_a_snapshot_fits_into_an_array_of_the_caller) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    std::array<int, test::size> mine{};
    auto place = mine.begin();
    queue.for_each([&](int n) { *place++ = n; });
    EXPECT_EQ(place, mine.end());
    EXPECT_EQ(std::vector<int>(mine.begin(), mine.end()), test::polled(queue));
}

TYPED_TEST(storing_queue_looking,
           LBQ_037_ABQ_036_PBQ_036_DQ_033_LTQ_030_for_each_visits_every_element_as_take_would) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    const std::vector<int> seen = test::visited(queue);
    EXPECT_EQ(seen, test::numbers());
    EXPECT_EQ(seen, test::polled(queue));
}

TYPED_TEST(storing_queue_looking,
           LBQ_038_ABQ_037_PBQ_037_DQ_034_LTQ_031_for_each_of_an_empty_queue_visits_nothing) {
    auto queue = TypeParam::template make<int>();
    EXPECT_TRUE(test::visited(queue).empty());
    test::fill<TypeParam>(queue);
    queue.clear();
    EXPECT_TRUE(test::visited(queue).empty());
}

template <class Kind>
class fifo_queue_looking : public testing::Test {};
TYPED_TEST_SUITE(fifo_queue_looking, test::fifo_kinds, test::kind_names);

TYPED_TEST(fifo_queue_looking, ABQ_034_a_snapshot_is_in_order_even_after_slots_were_reused) {
    auto queue = TypeParam::template make<int>();
    for (int round = 0; round < test::size; ++round) {
        EXPECT_TRUE(queue.offer(-1));
        EXPECT_EQ(queue.poll(), -1);
        test::fill<TypeParam>(queue);
        EXPECT_EQ(queue.to_vector(), test::numbers());
        EXPECT_EQ(test::polled(queue), test::numbers());
    }
}

TYPED_TEST(fifo_queue_looking, LBQ_040_ABQ_039_LTQ_033_for_each_goes_first_in_first_out) {
    auto queue = TypeParam::template make<int>();
    for (const int n : {3, 1, 2}) {
        EXPECT_TRUE(queue.offer(int{n}));
    }
    EXPECT_EQ(test::visited(queue), (std::vector<int>{3, 1, 2}));
}

}  // namespace
