// linked_blocking_deque: both ends, both orders, and a capacity that may change.
#include "spool/queue/linked_blocking_deque.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <utility>
#include <vector>

#include "support/throws.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::deque_order;
using spool::linked_blocking_deque;
using spool::task;
using namespace std::chrono_literals;

using deque_of_int = linked_blocking_deque<int>;

TEST(deque_ends, each_can_be_added_to_and_taken_from) {
    deque_of_int deque;
    EXPECT_TRUE(deque.offer_last(2));
    EXPECT_TRUE(deque.offer_first(1));
    deque.put_last(3);
    deque.put_first(0);
    EXPECT_TRUE(deque.offer_last_for(4, 1s));
    EXPECT_TRUE(deque.offer_first_for(-1, 1s));
    EXPECT_EQ(deque.to_vector(), (std::vector{-1, 0, 1, 2, 3, 4}));
    EXPECT_EQ(deque.poll_first(), -1);
    EXPECT_EQ(deque.poll_last(), 4);
    EXPECT_EQ(deque.take_first(), 0);
    EXPECT_EQ(deque.take_last(), 3);
    EXPECT_EQ(deque.poll_first_for(1s), 1);
    EXPECT_EQ(deque.poll_last_for(1s), 2);
    EXPECT_EQ(deque.poll_first(), std::nullopt);
    EXPECT_EQ(deque.poll_last(), std::nullopt);
}

TEST(deque_ends, can_be_looked_at) {
    deque_of_int deque{std::vector{1, 2, 3}};
    int first = 0;
    int last = 0;
    EXPECT_TRUE(deque.peek_first([&](int n) { first = n; }));
    EXPECT_TRUE(deque.peek_last([&](int n) { last = n; }));
    EXPECT_EQ(first, 1);
    EXPECT_EQ(last, 3);
    std::vector<int> backward;
    deque.for_each_backward([&](int n) { backward.push_back(n); });
    EXPECT_EQ(backward, (std::vector{3, 2, 1}));
    deque.clear();
    EXPECT_FALSE(deque.peek_first([](int) {}));
    EXPECT_FALSE(deque.peek_last([](int) {}));
}

TEST(deque_ends, one_occurrence_is_removed_from_either) {
    deque_of_int deque{std::vector{1, 2, 3, 4, 5}};
    const auto even = [](int n) { return n % 2 == 0; };
    EXPECT_TRUE(deque.remove_last_if(even));
    EXPECT_EQ(deque.to_vector(), (std::vector{1, 2, 3, 5}));
    EXPECT_TRUE(deque.remove_first_if([](int n) { return n % 2 != 0; }));
    EXPECT_EQ(deque.to_vector(), (std::vector{2, 3, 5}));
    EXPECT_TRUE(deque.remove_first_if(even));
    EXPECT_FALSE(deque.remove_first_if(even));
    EXPECT_FALSE(deque.remove_last_if(even));
    EXPECT_EQ(deque.size(), 2U);
}

TEST(deque_ends, predicate_that_throws_changes_nothing) {
    deque_of_int deque{std::vector{1, 2, 3}};
    const auto throws_at_two = [](int n) { return n == 2 ? throw std::runtime_error("predicate") : false; };
    EXPECT_THROW(deque.remove_first_if(throws_at_two), std::runtime_error);
    EXPECT_THROW(deque.remove_last_if(throws_at_two), std::runtime_error);
    EXPECT_THROW(deque.take_if([&](int n) { return !throws_at_two(n); }), std::runtime_error);
    EXPECT_EQ(deque.to_vector(), (std::vector{1, 2, 3}));
}

// ---- The two orders

TEST(deque_order_of_calls, fifo_takes_the_oldest) {
    deque_of_int deque;
    deque.put(1);
    EXPECT_TRUE(deque.offer(2));
    EXPECT_TRUE(deque.offer_for(3, 1s));
    EXPECT_EQ(deque.take(), 1);
    EXPECT_EQ(deque.poll(), 2);
    EXPECT_EQ(deque.poll_for(1s), 3);
}

TEST(deque_order_of_calls, lifo_takes_the_newest) {
    deque_of_int deque{deque_order::lifo};
    for (int i = 1; i <= 6; ++i) {
        deque.put(int{i});
    }
    EXPECT_EQ(deque.take(), 6);
    EXPECT_EQ(deque.poll(), 5);
    int head = 0;
    EXPECT_TRUE(deque.peek([&](int n) { head = n; }));
    EXPECT_EQ(head, 4);
    EXPECT_EQ(deque.to_vector(), (std::vector{4, 3, 2, 1}));
    std::vector<int> backward;
    deque.for_each_backward([&](int n) { backward.push_back(n); });
    EXPECT_EQ(backward, (std::vector{1, 2, 3, 4}));
    EXPECT_EQ(deque.take_if([](int n) { return n % 2 == 0; }), (std::vector{4, 2}));
    std::vector<int> out;
    EXPECT_EQ(deque.drain_to(out), 2U);
    EXPECT_EQ(out, (std::vector{3, 1}));
}

TEST(deque_order_of_calls, move_only_elements_pass_through) {
    linked_blocking_deque<std::unique_ptr<int>> deque{1, deque_order::lifo};
    deque.put_first(std::make_unique<int>(1));
    auto x = std::make_unique<int>(2);
    EXPECT_FALSE(deque.offer_first(std::move(x)));
    EXPECT_FALSE(deque.offer_last(std::move(x)));
    EXPECT_FALSE(deque.offer_first_for(std::move(x), 1us));
    EXPECT_FALSE(deque.offer_last_for(std::move(x), 1us));
    EXPECT_FALSE(deque.offer(std::move(x)));
    ASSERT_NE(x, nullptr);
    EXPECT_EQ(*deque.take(), 1);
}

// ---- Capacity

TEST(deque_capacity, zero_is_refused_by_name) {
    EXPECT_EQ(test::what_of<std::invalid_argument>([] { deque_of_int deque{0U}; }),
              "linked_blocking_deque: capacity must be at least 1, not 0");
    deque_of_int deque{3};
    EXPECT_EQ(test::what_of<std::invalid_argument>([&] { deque.set_capacity(0); }),
              "linked_blocking_deque::set_capacity: capacity must be at least 1, not 0");
    EXPECT_EQ(deque.capacity(), 3U);
}

TEST(deque_capacity, raised_lets_every_waiting_producer_go_on) {
    deque_of_int deque{1};
    deque.put(1);
    test::in_background front{[&] { deque.put_first(0); }};
    test::in_background back{[&] { deque.put(2); }};
    ASSERT_TRUE(front.falls_asleep() && back.falls_asleep());
    deque.set_capacity(3);
    ASSERT_TRUE(front.ends() && back.ends());
    EXPECT_EQ(deque.to_vector(), (std::vector{0, 1, 2}));
    EXPECT_EQ(deque.remaining_capacity(), 0U);
}

TEST(deque_capacity, lowered_below_the_size_accepts_nothing_until_it_is_drained) {
    deque_of_int deque{std::vector{1, 2, 3}};
    EXPECT_EQ(deque.capacity(), deque.unlimited);
    deque.set_capacity(2);
    EXPECT_EQ(deque.size(), 3U);
    EXPECT_EQ(deque.remaining_capacity(), 0U);
    EXPECT_FALSE(deque.offer(4));
    EXPECT_EQ(deque.take(), 1);
    EXPECT_FALSE(deque.offer_first(4));
    EXPECT_EQ(deque.take(), 2);
    EXPECT_TRUE(deque.offer(4));
    EXPECT_EQ(deque.to_vector(), (std::vector{3, 4}));
}

// ---- Waiting

TEST(deque_waiting, takers_at_either_end_are_woken_by_either_end) {
    deque_of_int deque;
    int first = 0;
    int last = 0;
    int plain = 0;
    test::in_background at_first{[&] { first = deque.take_first(); }};
    test::in_background at_last{[&] { last = deque.take_last(); }};
    test::in_background anywhere{[&] { plain = deque.take(); }};
    ASSERT_TRUE(at_first.falls_asleep() && at_last.falls_asleep() && anywhere.falls_asleep());
    deque.put_first(1);
    deque.put_last(2);
    deque.put(4);
    ASSERT_TRUE(at_first.ends() && at_last.ends() && anywhere.ends());
    EXPECT_EQ(first + last + plain, 7);
}

template <class MakeRoom>
void expect_producer_woken(MakeRoom make_room) {
    deque_of_int deque{2};
    deque.put(1);
    deque.put(2);
    test::in_background producer{[&] { deque.put_last(3); }};
    ASSERT_TRUE(producer.falls_asleep());
    make_room(deque);
    ASSERT_TRUE(producer.ends());
    EXPECT_TRUE(deque.contains([](int n) { return n == 3; }));
}

TEST(deque_waiting, producers_are_woken_by_every_way_out) {
    expect_producer_woken([](deque_of_int& deque) { EXPECT_EQ(deque.poll_first(), 1); });
    expect_producer_woken([](deque_of_int& deque) { EXPECT_EQ(deque.take_last(), 2); });
    expect_producer_woken([](deque_of_int& deque) { EXPECT_EQ(deque.poll(), 1); });
    expect_producer_woken(
        [](deque_of_int& deque) { EXPECT_TRUE(deque.remove_last_if([](int n) { return n == 1; })); });
    expect_producer_woken(
        [](deque_of_int& deque) { EXPECT_EQ(deque.remove_if([](int n) { return n == 2; }), 1U); });
}

TEST(deque_waiting, stop_of_the_task_interrupts_every_plain_wait) {
    deque_of_int full{1};
    full.put(1);
    deque_of_int empty;
    const auto expect_interrupted = [](auto wait) {
        test::in_background waiter{wait};
        waiter.interrupt();
        ASSERT_TRUE(waiter.ends());
        EXPECT_TRUE(waiter.was_interrupted());
    };
    expect_interrupted([&] { full.put_first(2); });
    expect_interrupted([&] { full.put_last(2); });
    expect_interrupted([&] { static_cast<void>(full.offer_first_for(2, 1h)); });
    expect_interrupted([&] { static_cast<void>(full.offer_last_for(2, 1h)); });
    expect_interrupted([&] { static_cast<void>(empty.take_first()); });
    expect_interrupted([&] { static_cast<void>(empty.take_last()); });
    expect_interrupted([&] { static_cast<void>(empty.poll_first_for(1h)); });
    expect_interrupted([&] { static_cast<void>(empty.poll_last_for(1h)); });
    EXPECT_EQ(full.size(), 1U);
}

// An available element comes first, then an interruption, then a time-out.
TEST(deque_waiting, answers_come_in_their_order) {
    std::stop_source source;
    source.request_stop();
    const std::stop_token stop = source.get_token();
    deque_of_int deque{1};
    EXPECT_EQ(test::what_of<spool::interrupted>([&] { static_cast<void>(deque.take_first(stop)); }),
              "linked_blocking_deque::take_first: stop requested");
    EXPECT_THROW(static_cast<void>(deque.poll_last_for(0s, stop)), spool::interrupted);
    EXPECT_EQ(deque.poll_last_for(-1s), std::nullopt);
    deque.put_first(1, stop);
    EXPECT_THROW(deque.put_last(2, stop), spool::interrupted);
    EXPECT_THROW(static_cast<void>(deque.offer_first_for(2, 0s, stop)), spool::interrupted);
    EXPECT_FALSE(deque.offer_last_for(2, 0s));
    EXPECT_EQ(deque.take_last(stop), 1);
}

TEST(deque_waiting, empty_task_is_refused_by_every_way_in) {
    linked_blocking_deque<task> deque;
    EXPECT_THROW(static_cast<void>(deque.offer_first(task{})), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(deque.offer_last(task{})), std::invalid_argument);
    EXPECT_THROW(deque.put_first(task{}), std::invalid_argument);
    EXPECT_THROW(deque.put_last(task{}), std::invalid_argument);
    EXPECT_THROW(deque.put_first(task{}, std::stop_token{}), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(deque.offer_last_for(task{}, 1s)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(deque.offer_first_for(task{}, 1s, std::stop_token{})),
                 std::invalid_argument);
    EXPECT_TRUE(deque.empty());
}

}  // namespace
