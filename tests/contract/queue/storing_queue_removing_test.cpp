// The contract of every storing queue for removing elements by predicate, and for clearing.
#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "contract/queue/contract.hpp"

namespace {

template <class Kind>
class storing_queue_removing : public testing::Test {};
TYPED_TEST_SUITE(storing_queue_removing, test::storing_kinds, test::kind_names);

TYPED_TEST(storing_queue_removing, LBQ_028_LTQ_021_a_queue_emptied_by_value_can_be_used_again) {
    auto queue = TypeParam::template make<int>();
    queue.put(1);
    queue.put(2);
    EXPECT_EQ(queue.remove_if(test::is(1)), 1U);
    EXPECT_EQ(queue.remove_if(test::is(2)), 1U);
    EXPECT_TRUE(queue.offer(3));
    EXPECT_EQ(queue.take(), 3);
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_removing, LBQ_030_ABQ_030_PBQ_029_DQ_026_LTQ_023_a_cleared_queue_is_as_new) {
    auto queue = TypeParam::template make<int>();
    const std::size_t room = queue.remaining_capacity();
    test::fill<TypeParam>(queue);
    queue.clear();
    test::expect_empty(queue);
    EXPECT_EQ(queue.remaining_capacity(), room);
    queue.put(1);
    EXPECT_FALSE(queue.empty());
    EXPECT_TRUE(queue.contains(test::is(1)));
    queue.clear();
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_removing,
           LBQ_032_ABQ_032_PBQ_031_DQ_028_LTQ_025_keeping_a_subset_says_how_many_went) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (int kept = test::size; kept > 0; --kept) {
        const auto foreign = [&](int n) { return !test::below(kept)(n); };
        EXPECT_EQ(queue.remove_if(foreign), kept == test::size ? 0U : 1U);
        EXPECT_EQ(queue.remove_if(foreign), 0U);
        EXPECT_EQ(queue.size(), static_cast<std::size_t>(kept));
        EXPECT_FALSE(queue.contains(foreign));
    }
    EXPECT_EQ(queue.poll(), 0);
}

TYPED_TEST(storing_queue_removing,
           LBQ_033_ABQ_033_PBQ_032_DQ_029_LTQ_026_removing_some_leaves_the_others_in_order) {
    for (int doomed = 1; doomed < test::size; ++doomed) {
        auto queue = TypeParam::template make<int>();
        test::fill<TypeParam>(queue);
        EXPECT_EQ(queue.remove_if(test::below(doomed)), static_cast<std::size_t>(doomed));
        EXPECT_EQ(queue.size(), static_cast<std::size_t>(test::size - doomed));
        EXPECT_FALSE(queue.contains(test::below(doomed)));
        std::vector<int> rest = test::numbers();
        rest.erase(rest.begin(), rest.begin() + doomed);
        EXPECT_EQ(test::polled(queue), rest);
    }
}

TYPED_TEST(storing_queue_removing, BQ_018_removing_one_by_value_works_once_and_leaves_its_neighbours) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (int odd = 1; odd < test::size; odd += 2) {
        EXPECT_TRUE(queue.contains(test::is(odd)));
        EXPECT_EQ(queue.remove_if(test::is(odd)), 1U);
        EXPECT_FALSE(queue.contains(test::is(odd)));
        EXPECT_TRUE(queue.contains(test::is(odd - 1)));
    }
    for (int even = 0; even < test::size; even += 2) {
        EXPECT_EQ(queue.remove_if(test::is(even)), 1U);
        EXPECT_EQ(queue.remove_if(test::is(even)), 0U);
        EXPECT_EQ(queue.remove_if(test::is(even + 1)), 0U);
    }
    test::expect_empty(queue);
}

}  // namespace
