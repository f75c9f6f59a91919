// Looking into a work_stealing_queue and removing from its middle, in deques and inbox alike.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "spool/queue/work_stealing_queue.hpp"
#include "support/gate.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using queue_of_int = spool::work_stealing_queue<int>;

std::vector<int> contents(const queue_of_int& queue) {
    std::vector<int> all;
    queue.for_each([&](int n) { all.push_back(n); });
    return all;
}

// 1, 2, 3 are in the deque of this thread, 4, 5, 6 in that of a thread that has detached, and 7, 8,
// 9 in the inbox.
class work_stealing_removal : public testing::Test {
protected:
    work_stealing_removal() {
        queue_.attach_consumer();
        put_three(1);
        std::jthread{[this] {
            queue_.attach_consumer();
            put_three(4);
            queue_.detach_consumer();
        }}.join();
        std::jthread{[this] { put_three(7); }}.join();
    }
    ~work_stealing_removal() override { queue_.detach_consumer(); }

    void put_three(int first) {
        for (int i = first; i < first + 3; ++i) {
            queue_.put(int{i});
        }
    }
    queue_of_int queue_;
    const std::vector<int> everything_{4, 5, 6, 1, 2, 3, 7, 8, 9};
};

TEST_F(work_stealing_removal, everything_is_seen_and_stays) {
    EXPECT_EQ(contents(queue_), everything_);
    EXPECT_EQ(contents(queue_), everything_);
    EXPECT_EQ(queue_.size(), 9U);
    EXPECT_EQ(queue_.take(), 3);  // not left frozen
}

TEST_F(work_stealing_removal, rest_keeps_its_place_and_order) {
    EXPECT_EQ(queue_.take_if([](int n) { return n % 2 == 0; }), (std::vector{4, 6, 2, 8}));
    EXPECT_EQ(contents(queue_), (std::vector{5, 1, 3, 7, 9}));
    EXPECT_EQ(queue_.size(), 5U);
    EXPECT_EQ(queue_.inbox_size(), 2U);
    for (int n : {3, 1, 7, 9, 5}) {
        EXPECT_EQ(queue_.poll(), n);
    }
    EXPECT_EQ(queue_.poll(), std::nullopt);
}

TEST_F(work_stealing_removal, ends_of_a_deque_can_be_taken_out) {
    EXPECT_EQ(queue_.take_if([](int n) { return n == 1; }), std::vector{1});
    EXPECT_EQ(queue_.take_if([](int n) { return n == 3; }), std::vector{3});
    put_three(11);
    EXPECT_EQ(contents(queue_), (std::vector{4, 5, 6, 2, 11, 12, 13, 7, 8, 9}));
    EXPECT_EQ(queue_.take(), 13);
}

TEST_F(work_stealing_removal, everything_can_be_taken_out) {
    EXPECT_EQ(queue_.take_if([](int) { return true; }), everything_);
    EXPECT_TRUE(queue_.empty());
    EXPECT_EQ(queue_.poll(), std::nullopt);
    queue_.clear();
    put_three(1);
    EXPECT_EQ(queue_.take(), 3);
}

TEST_F(work_stealing_removal, predicate_that_throws_leaves_everything_as_it_was) {
    for (int thrower = 1; thrower <= 9; ++thrower) {
        const auto throws = [thrower](int n) {
            if (n == thrower) {
                throw std::runtime_error("predicate");
            }
            return true;
        };
        EXPECT_THROW(queue_.remove_if(throws), std::runtime_error);
        EXPECT_THROW(queue_.for_each(throws), std::runtime_error);
        ASSERT_EQ(contents(queue_), everything_);
        ASSERT_EQ(queue_.size(), 9U);
    }
    EXPECT_EQ(queue_.take(), 3);  // not left frozen
}

TEST_F(work_stealing_removal, looking_stops_where_it_is_told_to) {
    for (int last : everything_) {
        std::vector<int> seen;
        EXPECT_TRUE(queue_.contains([&](int n) {
            seen.push_back(n);
            return n == last;
        }));
        EXPECT_EQ(seen.back(), last);
    }
    EXPECT_FALSE(queue_.contains([](int n) { return n == 10; }));
    EXPECT_TRUE(queue_.peek([](int n) { EXPECT_EQ(n, 4); }));
    EXPECT_EQ(queue_.size(), 9U);
}

TEST_F(work_stealing_removal, ring_that_has_turned_is_seen_in_order) {
    queue_.clear();
    for (int i = 0; i < 1000; ++i) {  // at most 101 elements: the ring wraps and does not grow
        queue_.put(int{i});
        if (i >= 100) {
            ASSERT_EQ(queue_.take_if([i](int n) { return n == i - 100; }), std::vector{i - 100});
        }
    }
    std::vector<int> left(100);
    std::iota(left.begin(), left.end(), 900);
    EXPECT_EQ(contents(queue_), left);
}

// While a thread looks at the elements, the owner can add. Takers wait rather than miss an element.
TEST_F(work_stealing_removal, takers_wait_for_one_who_looks_and_the_owner_still_adds) {
    queue_.take_if([](int n) { return n > 3; });
    test::gate looking;
    test::gate go_on;
    std::vector<int> seen;
    std::jthread looker{[&] {
        queue_.for_each([&](int n) {
            seen.push_back(n);
            looking.open();
            go_on.wait();
        });
    }};
    const test::open_at_end guard{go_on};
    ASSERT_TRUE(looking.opens());
    put_three(4);
    EXPECT_EQ(queue_.size(), 6U);
    std::optional<int> stolen;
    test::in_background taker{[&] { stolen = queue_.poll(); }};
    ASSERT_TRUE(taker.falls_asleep());
    go_on.open();
    ASSERT_TRUE(taker.ends());
    looker.join();
    EXPECT_EQ(stolen, 1);
    EXPECT_EQ(seen, (std::vector{1, 2, 3}));
    EXPECT_EQ(queue_.take(), 6);
}

}  // namespace
