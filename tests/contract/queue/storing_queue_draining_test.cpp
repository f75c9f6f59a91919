// The contract of every storing queue for draining.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "contract/queue/contract.hpp"

namespace {

template <class Kind>
class storing_queue_draining : public testing::Test {};
TYPED_TEST_SUITE(storing_queue_draining, test::storing_kinds, test::kind_names);

TYPED_TEST(storing_queue_draining,
           LBQ_046_ABQ_045_PBQ_042_DQ_042_LTQ_039_draining_moves_everything_in_order) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    std::vector<int> out;
    EXPECT_EQ(queue.drain_to(out), test::numbers().size());
    EXPECT_EQ(out, test::numbers());
    test::expect_empty(queue);
    queue.put(1);
    queue.put(2);
    EXPECT_TRUE(queue.contains(test::is(1)) && queue.contains(test::is(2)));
    out.clear();
    EXPECT_EQ(queue.drain_to(out), 2U);
    EXPECT_EQ(out, (std::vector<int>{1, 2}));
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_draining,
           LBQ_048_ABQ_047_PBQ_044_DQ_044_LTQ_041_draining_at_most_n_moves_the_first_n) {
    for (int most = 0; most <= test::size + 1; ++most) {
        auto queue = TypeParam::template make<int>();
        test::fill<TypeParam>(queue);
        const int moved = std::min(most, test::size);
        std::vector<int> out;
        EXPECT_EQ(queue.drain_to(out, static_cast<std::size_t>(most)), static_cast<std::size_t>(moved));
        EXPECT_EQ(out, test::numbers(moved));
        EXPECT_EQ(queue.size(), static_cast<std::size_t>(test::size - moved));
        EXPECT_EQ(queue.drain_to(out), static_cast<std::size_t>(test::size - moved));
        EXPECT_EQ(out, test::numbers());
    }
}

TYPED_TEST(storing_queue_draining,
           LBQ_047_ABQ_046_PBQ_043_DQ_043_LTQ_040_draining_beside_a_put_loses_nothing) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    // In an unbounded queue, the element may arrive before the drain.
    test::in_background producer{[&] { queue.put(int{test::size}); }};
    std::vector<int> out;
    EXPECT_GE(queue.drain_to(out), test::numbers().size());
    ASSERT_TRUE(producer.ends());
    EXPECT_EQ(producer.error(), nullptr);
    queue.drain_to(out);
    EXPECT_EQ(out, test::numbers(test::size + 1));
}

}  // namespace
