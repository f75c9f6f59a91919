// The contract of every storing queue for construction with elements and for adding many at once.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "contract/queue/contract.hpp"
#include "support/tracked.hpp"

namespace {

template <class Kind>
class loaded_queue : public testing::Test {};
TYPED_TEST_SUITE(loaded_queue, test::loaded_kinds, test::kind_names);

TYPED_TEST(loaded_queue, LBQ_004_ABQ_004_PBQ_004_DQ_003_LTQ_003_a_list_of_empty_tasks_alone_is_refused) {
    EXPECT_THROW(TypeParam::from(test::tasks(0, test::size)), std::invalid_argument);
}

TYPED_TEST(loaded_queue, LBQ_005_ABQ_005_PBQ_005_DQ_004_LTQ_004_a_list_with_one_empty_task_is_refused) {
    std::atomic<int> alive{0};
    std::vector<spool::task> list = test::tasks(0, 1);
    list.emplace(list.begin(), [counted = test::tracked{alive}] {});
    EXPECT_THROW(TypeParam::from(std::move(list)), std::invalid_argument);
    EXPECT_EQ(alive, 0);  // the good task is destroyed
}

TYPED_TEST(loaded_queue,
           LBQ_006_ABQ_007_PBQ_006_DQ_005_LTQ_005_elements_given_at_the_start_come_out_in_order) {
    auto queue = TypeParam::from(test::arrivals<TypeParam>());
    EXPECT_EQ(queue.size(), test::numbers().size());
    EXPECT_EQ(queue.to_vector(), test::numbers());
    EXPECT_EQ(test::polled(queue), test::numbers());
}

TYPED_TEST(loaded_queue, LBQ_006_ABQ_007_PBQ_006_DQ_005_LTQ_005_tasks_given_at_the_start_are_moved_in) {
    auto queue = TypeParam::from(test::tasks(test::size, 0));
    EXPECT_EQ(queue.size(), test::numbers().size());
    EXPECT_FALSE(queue.contains([](const spool::task& t) { return t.empty(); }));
}

template <class Kind>
class storing_queue_bulk : public testing::Test {};
TYPED_TEST_SUITE(storing_queue_bulk, test::storing_kinds, test::kind_names);

TYPED_TEST(storing_queue_bulk, LBQ_012_ABQ_013_PBQ_014_DQ_011_LTQ_008_adding_all_throws_at_an_empty_task) {
    auto queue = TypeParam::template make<spool::task>();
    EXPECT_THROW(queue.offer_all(test::tasks(1, 1)), std::invalid_argument);
    EXPECT_EQ(queue.size(), 1U);  // the tasks before the empty one are in the queue
}

TYPED_TEST(storing_queue_bulk,
           LBQ_014_ABQ_015_PBQ_015_DQ_012_LTQ_009_adding_all_returns_the_number_of_added_elements) {
    auto queue = TypeParam::template make<int>();
    EXPECT_EQ(queue.offer_all(std::vector<int>{}), 0U);
    test::expect_empty(queue);
    EXPECT_EQ(queue.offer_all(test::arrivals<TypeParam>()), test::numbers().size());
    EXPECT_EQ(test::polled(queue), test::numbers());
}

}  // namespace
