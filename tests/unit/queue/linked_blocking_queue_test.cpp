// linked_blocking_queue without waiting: order, capacity, and what offer and poll return.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/task.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "support/throws.hpp"

namespace {

using spool::blocking_queue;
using spool::linked_blocking_queue;

static_assert(!std::is_copy_constructible_v<linked_blocking_queue<int>>);
static_assert(std::is_same_v<linked_blocking_queue<int>::value_type, int>);
static_assert(std::has_virtual_destructor_v<blocking_queue<int>>);

TEST(linked_queue_order, elements_come_out_first_in_first_out) {
    linked_blocking_queue<int> queue;
    for (int i = 0; i < 100; ++i) {
        queue.put(int{i});
    }
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(queue.take(), i);
    }
    EXPECT_TRUE(queue.empty());
}

TEST(linked_queue_order, order_survives_mixed_adding_and_taking) {
    linked_blocking_queue<int> queue{3};
    int next_in = 0;
    int next_out = 0;
    for (int round = 0; round < 50; ++round) {
        while (queue.offer(int{next_in})) {
            ++next_in;
        }
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(queue.poll(), next_out++);
        }
    }
    EXPECT_EQ(next_in - next_out, 1);
}

TEST(linked_queue_capacity, zero_is_refused_with_a_message) {
    EXPECT_EQ(test::what_of<std::invalid_argument>([] { const linked_blocking_queue<int> queue{0}; }),
              "linked_blocking_queue: capacity must be at least 1, not 0");
}

TEST(linked_queue_capacity, queue_is_unbounded_by_default) {
    linked_blocking_queue<int> queue;
    EXPECT_EQ(queue.capacity(), blocking_queue<int>::unlimited);
    EXPECT_EQ(queue.remaining_capacity(), blocking_queue<int>::unlimited);
    for (int i = 0; i < 10'000; ++i) {
        ASSERT_TRUE(queue.offer(int{i}));
    }
    EXPECT_EQ(queue.size(), 10'000U);
    EXPECT_EQ(queue.remaining_capacity(), blocking_queue<int>::unlimited);
}

TEST(linked_queue_capacity, size_and_room_follow_the_contents) {
    linked_blocking_queue<int> queue{2};
    EXPECT_EQ(queue.capacity(), 2U);
    EXPECT_EQ(queue.remaining_capacity(), 2U);
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(queue.offer(1));
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.remaining_capacity(), 1U);
    EXPECT_FALSE(queue.empty());
    EXPECT_TRUE(queue.offer(2));
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(queue.remaining_capacity(), 0U);
    EXPECT_EQ(queue.poll(), 1);
    EXPECT_EQ(queue.remaining_capacity(), 1U);
}

TEST(linked_queue_capacity, full_queue_refuses_and_does_not_change) {
    linked_blocking_queue<int> queue{1};
    EXPECT_TRUE(queue.offer(1));
    EXPECT_FALSE(queue.offer(2));
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.poll(), 1);
    EXPECT_TRUE(queue.offer(3));
    EXPECT_EQ(queue.poll(), 3);
}

TEST(linked_queue_elements, empty_queue_polls_nothing) {
    linked_blocking_queue<std::string> queue;
    EXPECT_EQ(queue.poll(), std::nullopt);
    EXPECT_TRUE(queue.offer("one"));
    EXPECT_EQ(queue.poll(), "one");
    EXPECT_EQ(queue.poll(), std::nullopt);
}

TEST(linked_queue_elements, refused_element_is_untouched) {
    linked_blocking_queue<std::unique_ptr<int>> queue{1};
    queue.put(std::make_unique<int>(1));
    auto mine = std::make_unique<int>(2);
    EXPECT_FALSE(queue.offer(std::move(mine)));
    ASSERT_NE(mine, nullptr);
    EXPECT_FALSE(queue.offer_for(std::move(mine), std::chrono::microseconds{1}));
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(*mine, 2);
    ASSERT_TRUE(queue.poll().has_value());
    EXPECT_TRUE(queue.offer(std::move(mine)));
    EXPECT_EQ(mine, nullptr);
}

TEST(linked_queue_elements, move_only_elements_work_everywhere) {
    linked_blocking_queue<std::unique_ptr<int>> queue;
    queue.put(std::make_unique<int>(1));
    EXPECT_TRUE(queue.offer_for(std::make_unique<int>(2), std::chrono::seconds{1}));
    EXPECT_TRUE(queue.offer(std::make_unique<int>(3)));
    EXPECT_EQ(*queue.take(), 1);
    EXPECT_EQ(**queue.poll_for(std::chrono::seconds{1}), 2);
    EXPECT_EQ(**queue.poll(), 3);
}

TEST(linked_queue_elements, queue_carries_tasks) {
    int sum = 0;
    linked_blocking_queue<spool::task> queue;
    for (int i = 1; i <= 3; ++i) {
        queue.put([&sum, i] { sum = 10 * sum + i; });
    }
    while (auto work = queue.poll()) {
        (*work)();
    }
    EXPECT_EQ(sum, 123);
}

TEST(linked_queue_elements, elements_left_behind_are_destroyed_with_the_queue) {
    const auto shared = std::make_shared<int>(1);
    {
        linked_blocking_queue<std::shared_ptr<int>> queue;
        queue.put(std::shared_ptr<int>{shared});
        queue.put(std::shared_ptr<int>{shared});
        EXPECT_EQ(shared.use_count(), 3);
        static_cast<void>(queue.take());
        EXPECT_EQ(shared.use_count(), 2);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

TEST(linked_queue_bulk, an_rvalue_container_is_moved_from_and_keeps_the_elements_that_did_not_fit) {
    linked_blocking_queue<std::unique_ptr<int>> queue{2};
    std::vector<std::unique_ptr<int>> elements;
    for (int i = 0; i < 3; ++i) {
        elements.push_back(std::make_unique<int>(i));
    }
    EXPECT_EQ(queue.offer_all(std::move(elements)), 2U);
    EXPECT_EQ(elements[1], nullptr);
    ASSERT_NE(elements[2], nullptr);
    EXPECT_EQ(*elements[2], 2);
}

TEST(linked_queue_bulk, a_view_does_not_change_its_container) {
    linked_blocking_queue<std::string> queue;
    std::vector<std::string> elements{"a string that is too long to lie in place"};
    EXPECT_EQ(queue.offer_all(std::span{elements}), 1U);
    EXPECT_EQ(elements[0], "a string that is too long to lie in place");
}

}  // namespace
