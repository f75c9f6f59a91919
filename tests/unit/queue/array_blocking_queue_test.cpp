// array_blocking_queue: capacity, wrap-around, and removal from the middle.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "spool/queue/array_blocking_queue.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using queue_of_int = spool::array_blocking_queue<int>;

TEST(array_queue, capacity_that_is_no_power_of_two_is_exact) {
    for (std::size_t capacity = 1; capacity <= 9; ++capacity) {
        queue_of_int queue{capacity};
        for (std::size_t n = 0; n < capacity; ++n) {
            EXPECT_TRUE(queue.offer(static_cast<int>(n)));
        }
        EXPECT_FALSE(queue.offer(-1)) << "capacity " << capacity;
        EXPECT_EQ(queue.size(), capacity);
    }
}

TEST(array_queue, order_is_kept_round_and_round) {
    queue_of_int queue{3};
    int in = 0;
    int out = 0;
    for (int turn = 0; turn < 100; ++turn) {
        while (queue.offer(int{in})) {
            ++in;
        }
        EXPECT_EQ(queue.poll(), out++);
        EXPECT_EQ(queue.poll(), out++);
    }
    EXPECT_EQ(queue.to_vector(), (std::vector{out}));
}

TEST(array_queue, room_made_in_the_middle_is_usable_at_once_at_every_ring_position) {
    for (int shift = 0; shift < 9; ++shift) {
        queue_of_int queue{5};
        for (int n = 0; n < shift; ++n) {
            ASSERT_TRUE(queue.offer(0));
            ASSERT_TRUE(queue.poll().has_value());
        }
        queue.offer_all(std::vector{1, 2, 3, 4, 5});
        EXPECT_EQ(queue.remove_if([](int n) { return n == 2 || n == 4; }), 2U);
        EXPECT_EQ(queue.size(), 3U);
        EXPECT_EQ(queue.offer_all(std::vector{6, 7, 8}), 2U);
        EXPECT_EQ(queue.to_vector(), (std::vector{1, 3, 5, 6, 7}));
    }
}

TEST(array_queue, predicate_that_throws_leaves_everything) {
    queue_of_int queue{4};
    queue.offer_all(std::vector{1, 2, 3});
    EXPECT_THROW(queue.remove_if([](int n) { return n == 3 ? throw std::runtime_error("three") : true; }),
                 std::runtime_error);
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 2, 3}));
    EXPECT_TRUE(queue.offer(4));
}

TEST(array_queue, move_only_elements_go_through_and_are_destroyed) {
    std::atomic<int> alive{0};
    {
        spool::array_blocking_queue<std::unique_ptr<test::tracked>> queue{4};
        for (int n = 0; n < 4; ++n) {
            EXPECT_TRUE(queue.offer(std::make_unique<test::tracked>(alive)));
        }
        auto refused = std::make_unique<test::tracked>(alive);
        EXPECT_FALSE(queue.offer(std::move(refused)));
        EXPECT_NE(refused, nullptr);
        EXPECT_TRUE(queue.poll().has_value());
        EXPECT_EQ(alive, 4);
    }
    EXPECT_EQ(alive, 0);
}

TEST(array_queue, bad_capacities_are_refused_with_the_number) {
    EXPECT_NE(test::what_of<std::invalid_argument>([&] {
                  static_cast<void>(queue_of_int{0});
              }).find("capacity must be at least 1, not 0"),
              std::string::npos);
    EXPECT_NE(test::what_of<std::invalid_argument>([&] {
                  static_cast<void>(queue_of_int{std::numeric_limits<std::size_t>::max()});
              }).find("18446744073709551615 (a negative number?)"),
              std::string::npos);
    EXPECT_NE(test::what_of<std::invalid_argument>([&] {
                  static_cast<void>((queue_of_int{2, std::vector{1, 2, 3}}));
              }).find("3 elements do not fit into a capacity of 2"),
              std::string::npos);
}

}  // namespace
