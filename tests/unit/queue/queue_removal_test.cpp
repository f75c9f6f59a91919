// Removing from the middle, looking inside, and what happens to removed elements.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "spool/queue/linked_blocking_queue.hpp"
#include "support/gate.hpp"
#include "support/tracked.hpp"
#include "unit/queue/asks_for_size.hpp"

namespace {

using spool::linked_blocking_queue;
using test::asks_for_size;
using queue_of_int = linked_blocking_queue<int>;

std::vector<int> contents(const queue_of_int& queue) {
    std::vector<int> all;
    queue.for_each([&](int n) { all.push_back(n); });
    return all;
}

class queue_of_six : public testing::Test {
protected:
    queue_of_six() {
        for (int i = 1; i <= 6; ++i) {
            queue_.put(int{i});
        }
    }
    queue_of_int queue_;
};
using queue_removal = queue_of_six;
using queue_looking = queue_of_six;
using queue_draining = queue_of_six;

TEST_F(queue_removal, rest_keeps_its_order) {
    EXPECT_EQ(queue_.remove_if([](int n) { return n % 2 == 0; }), 3U);
    EXPECT_EQ(contents(queue_), (std::vector{1, 3, 5}));
    EXPECT_EQ(queue_.remove_if([](int n) { return n == 1; }), 1U);  // the head
    EXPECT_EQ(queue_.remove_if([](int n) { return n == 5; }), 1U);  // the tail
    EXPECT_EQ(contents(queue_), (std::vector{3}));
    EXPECT_EQ(queue_.size(), 1U);
}

TEST_F(queue_removal, predicate_is_asked_of_each_in_order) {
    std::vector<int> asked;
    EXPECT_EQ(queue_.remove_if([&](int n) {
        asked.push_back(n);
        return false;
    }),
              0U);
    EXPECT_EQ(asked, (std::vector{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(queue_.size(), 6U);
}

TEST_F(queue_removal, predicate_that_throws_leaves_the_queue_as_it_was) {
    const auto throws_at_four = [](int n) {
        if (n == 4) {
            throw std::runtime_error("predicate");
        }
        return true;
    };
    EXPECT_THROW(queue_.remove_if(throws_at_four), std::runtime_error);
    EXPECT_EQ(contents(queue_), (std::vector{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(queue_.poll(), 1);  // the queue is unlocked again
}

TEST_F(queue_removal, clear_empties_the_queue) {
    queue_.clear();
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(queue_.poll(), std::nullopt);
    queue_.clear();
    queue_.put(7);
    EXPECT_EQ(queue_.take(), 7);
}

TEST_F(queue_looking, contains_returns_whether_an_element_matches) {
    EXPECT_TRUE(queue_.contains([](int n) { return n == 6; }));
    EXPECT_FALSE(queue_.contains([](int n) { return n == 7; }));
    EXPECT_EQ(queue_.size(), 6U);
}

TEST_F(queue_looking, peek_shows_the_head_only) {
    std::vector<int> seen;
    EXPECT_TRUE(queue_.peek([&](int n) { seen.push_back(n); }));
    EXPECT_EQ(seen, std::vector{1});
    EXPECT_EQ(queue_.size(), 6U);
    queue_.clear();
    EXPECT_FALSE(queue_.peek([&](int n) { seen.push_back(n); }));
    EXPECT_EQ(seen.size(), 1U);
}

TEST_F(queue_looking, look_that_throws_leaves_the_queue_as_it_was) {
    const auto throws = [](int) { throw std::runtime_error("look"); };
    EXPECT_THROW(queue_.for_each(throws), std::runtime_error);
    EXPECT_THROW(queue_.peek(throws), std::runtime_error);
    EXPECT_EQ(contents(queue_), (std::vector{1, 2, 3, 4, 5, 6}));
}

TEST_F(queue_draining, drain_takes_everything_in_order) {
    std::vector<int> out{0};
    EXPECT_EQ(queue_.drain_to(out), 6U);
    EXPECT_EQ(out, (std::vector{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(queue_.drain_to(out), 0U);
}

TEST_F(queue_draining, drain_stops_at_its_limit) {
    std::deque<int> out;
    EXPECT_EQ(queue_.drain_to(out, 0), 0U);
    EXPECT_EQ(queue_.size(), 6U);
    EXPECT_EQ(queue_.drain_to(out, 2), 2U);
    EXPECT_EQ(out, (std::deque{1, 2}));
    EXPECT_EQ(contents(queue_), (std::vector{3, 4, 5, 6}));
    EXPECT_EQ(queue_.drain_to(out, 100), 4U);
}

TEST(queue_removal_of_move_only, drain_moves_the_elements_out) {
    linked_blocking_queue<std::unique_ptr<int>> queue;
    queue.put(std::make_unique<int>(1));
    queue.put(std::make_unique<int>(2));
    EXPECT_EQ(queue.remove_if([](const auto& p) { return *p == 1; }), 1U);
    std::list<std::unique_ptr<int>> out;
    EXPECT_EQ(queue.drain_to(out), 1U);
    EXPECT_EQ(*out.front(), 2);
}

// ---- Destruction of removed elements

TEST(queue_removal_of_owners, removed_elements_are_destroyed_once) {
    std::atomic<int> alive{0};
    using element = std::unique_ptr<test::tracked>;
    linked_blocking_queue<element> queue;
    for (int i = 0; i < 6; ++i) {
        queue.put(std::make_unique<test::tracked>(alive));
    }
    int asked = 0;
    EXPECT_EQ(queue.remove_if([&](const element&) { return ++asked % 2 == 0; }), 3U);
    EXPECT_EQ(alive, 3);
    static_cast<void>(queue.poll());
    EXPECT_EQ(alive, 2);
    queue.clear();
    EXPECT_EQ(alive, 0);
}

TEST(queue_removal_of_owners, removed_elements_are_destroyed_without_the_queue_lock) {
    linked_blocking_queue<asks_for_size> queue;
    asks_for_size::answers answers{queue};
    for (int i = 0; i < 4; ++i) {
        queue.put(asks_for_size{answers});
    }
    int asked = 0;
    EXPECT_EQ(queue.remove_if([&](const asks_for_size&) { return ++asked % 2 == 0; }), 2U);
    EXPECT_EQ(answers.given, 2);
    static_cast<void>(queue.take());
    EXPECT_EQ(answers.given, 3);
    queue.clear();
    EXPECT_EQ(answers.given, 4);
    EXPECT_EQ(answers.refused, 0);
}

}  // namespace
