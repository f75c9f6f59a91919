// linked_transfer_queue: a FIFO whose producers may wait until their element is taken.
#include "spool/queue/linked_transfer_queue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "support/throws.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::deadline;
using spool::linked_transfer_queue;
using spool::task;
using spool::wait_result;
using namespace std::chrono_literals;

using queue_of_int = linked_transfer_queue<int>;
using queue_of_owners = linked_transfer_queue<std::unique_ptr<int>>;

TEST(transfer_queue_order, added_elements_come_out_as_they_came_in) {
    queue_of_int queue{std::vector{1, 2}};
    queue.put(3);
    EXPECT_TRUE(queue.offer(4));
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 2, 3, 4}));
    EXPECT_EQ(queue.take(), 1);
    EXPECT_EQ(queue.poll(), 2);
    EXPECT_EQ(queue.poll_for(1s), 3);
    std::vector<int> rest;
    EXPECT_EQ(queue.drain_to(rest), 1U);
    EXPECT_EQ(rest, std::vector{4});
    EXPECT_EQ(queue.capacity(), queue.unlimited);
}

TEST(transfer_queue_order, transferred_and_added_elements_share_one_order) {
    queue_of_int queue;
    queue.put(1);
    test::in_background giver{[&] { queue.transfer(2); }};
    ASSERT_TRUE(test::eventually([&] { return queue.size() == 2; }));
    queue.put(3);
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 2, 3}));
    EXPECT_EQ(queue.take(), 1);
    EXPECT_FALSE(giver.has_ended());
    EXPECT_EQ(queue.take(), 2);
    EXPECT_TRUE(giver.ends());
    EXPECT_EQ(queue.take(), 3);
}

TEST(transfer_queue_order, removal_from_the_middle_keeps_the_rest_in_order) {
    queue_of_owners queue;
    for (int i = 1; i <= 6; ++i) {
        queue.put(std::make_unique<int>(i));
    }
    const auto even = queue.take_if([](const auto& p) { return *p % 2 == 0; });
    ASSERT_EQ(even.size(), 3U);
    EXPECT_EQ(*even.front(), 2);
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_EQ(*queue.take(), 1);
    EXPECT_EQ(*queue.take(), 3);
    EXPECT_EQ(*queue.take(), 5);
}

// ---- Transfer

TEST(transfer_queue_transfer, waits_until_the_element_has_been_taken) {
    queue_of_owners queue;
    test::in_background giver{[&] { queue.transfer(std::make_unique<int>(7)); }};
    ASSERT_TRUE(test::eventually([&] { return queue.size() == 1; }));
    EXPECT_FALSE(giver.has_ended());
    EXPECT_EQ(*queue.take(), 7);
    EXPECT_TRUE(giver.ends());
    EXPECT_TRUE(queue.empty());
}

TEST(transfer_queue_transfer, passes_the_element_at_once_to_a_waiting_consumer) {
    queue_of_int queue;
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(test::eventually([&] { return queue.has_waiting_consumer(); }));
    queue.transfer(7);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

// Every way to take an element out ends its transfer.
template <class TakeOut>
void expect_end_of_transfer(TakeOut take_out) {
    queue_of_int queue;
    queue.put(1);
    test::in_background giver{[&] { queue.transfer(2); }};
    ASSERT_TRUE(test::eventually([&] { return queue.size() == 2; }));
    take_out(queue);
    EXPECT_TRUE(giver.ends());
    EXPECT_FALSE(giver.was_interrupted());
    EXPECT_FALSE(queue.contains([](int n) { return n == 2; }));
}

TEST(transfer_queue_transfer, ends_when_the_element_is_removed) {
    expect_end_of_transfer([](queue_of_int& queue) { queue.remove_if([](int n) { return n == 2; }); });
    expect_end_of_transfer([](queue_of_int& queue) { queue.clear(); });
}

TEST(transfer_queue_transfer, ends_when_the_element_is_drained_or_taken_out) {
    expect_end_of_transfer([](queue_of_int& queue) {
        std::vector<int> out;
        EXPECT_EQ(queue.drain_to(out), 2U);
        EXPECT_EQ(out, (std::vector{1, 2}));
    });
    expect_end_of_transfer(
        [](queue_of_int& queue) { EXPECT_EQ(queue.take_if([](int n) { return n == 2; }), std::vector{2}); });
}

TEST(transfer_queue_transfer, element_that_waits_can_be_seen) {
    queue_of_int queue;
    test::in_background giver{[&] { queue.transfer(7); }};
    ASSERT_TRUE(test::eventually([&] { return queue.size() == 1; }));
    int head = 0;
    EXPECT_TRUE(queue.peek([&](int n) { head = n; }));
    EXPECT_EQ(head, 7);
    EXPECT_TRUE(queue.contains([](int n) { return n == 7; }));
    queue.clear();
    EXPECT_TRUE(giver.ends());
}

TEST(transfer_queue_transfer, predicate_that_throws_changes_nothing) {
    queue_of_int queue;
    queue.put(1);
    test::in_background giver{[&] { queue.transfer(2); }};
    ASSERT_TRUE(test::eventually([&] { return queue.size() == 2; }));
    EXPECT_THROW(queue.remove_if([](int n) { return n == 2 ? throw std::runtime_error("predicate") : true; }),
                 std::runtime_error);
    EXPECT_EQ(queue.to_vector(), (std::vector{1, 2}));
    EXPECT_FALSE(giver.has_ended());
    // The failed call has left no element marked for removal.
    EXPECT_EQ(queue.remove_if([](int) { return false; }), 0U);
    queue.clear();
    EXPECT_TRUE(giver.ends());
}

// ---- Withdrawal

TEST(transfer_queue_withdrawal, interrupted_transfer_gives_the_element_back) {
    queue_of_owners queue;
    queue.put(std::make_unique<int>(1));
    auto x = std::make_unique<int>(7);
    test::in_background giver{[&] { queue.transfer(std::move(x)); }};
    ASSERT_TRUE(test::eventually([&] { return queue.size() == 2; }));
    queue.put(std::make_unique<int>(2));
    giver.interrupt();
    ASSERT_TRUE(giver.ends());
    EXPECT_TRUE(giver.was_interrupted());
    ASSERT_NE(x, nullptr);
    EXPECT_EQ(*x, 7);
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(*queue.take(), 1);
    EXPECT_EQ(*queue.take(), 2);
}

TEST(transfer_queue_withdrawal, own_stop_token_interrupts_too) {
    queue_of_int queue;
    std::stop_source source;
    source.request_stop();
    EXPECT_EQ(test::what_of<spool::interrupted>([&] { queue.transfer(1, source.get_token()); }),
              "linked_transfer_queue::transfer: stop requested");
    EXPECT_THROW(static_cast<void>(queue.try_transfer_for(1, 1h, source.get_token())), spool::interrupted);
    EXPECT_TRUE(queue.empty());
}

TEST(transfer_queue_withdrawal, timed_out_transfer_gives_the_element_back) {
    queue_of_owners queue;
    auto x = std::make_unique<int>(7);
    EXPECT_FALSE(queue.try_transfer_for(std::move(x), test::short_delay()));
    EXPECT_FALSE(queue.try_transfer_for(std::move(x), 0s));
    EXPECT_FALSE(queue.try_transfer_for(std::move(x), -1s));
    ASSERT_NE(x, nullptr);
    EXPECT_EQ(*x, 7);
    EXPECT_TRUE(queue.empty());
}

TEST(transfer_queue_withdrawal, transfer_in_time_is_a_success) {
    queue_of_int queue;
    bool given = false;
    test::in_background giver{[&] { given = queue.try_transfer_for(7, 2 * test::long_delay()); }};
    EXPECT_EQ(queue.take(), 7);
    ASSERT_TRUE(giver.ends());
    EXPECT_TRUE(given);
}

TEST(transfer_queue_withdrawal, try_transfer_needs_a_consumer_that_waits) {
    queue_of_owners queue;
    auto x = std::make_unique<int>(7);
    EXPECT_FALSE(queue.try_transfer(std::move(x)));
    ASSERT_NE(x, nullptr);
    EXPECT_TRUE(queue.empty());
    int taken = 0;
    test::in_background taker{[&] { taken = *queue.take(); }};
    ASSERT_TRUE(test::eventually([&] { return queue.has_waiting_consumer(); }));
    EXPECT_TRUE(queue.try_transfer(std::move(x)));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

// ---- Consumers

TEST(transfer_queue_consumers, are_counted_until_they_are_served) {
    queue_of_int queue;
    EXPECT_FALSE(queue.has_waiting_consumer());
    test::in_background first{[&] { static_cast<void>(queue.take()); }};
    test::in_background second{[&] { static_cast<void>(queue.take()); }};
    ASSERT_TRUE(test::eventually([&] { return queue.waiting_consumer_count() == 2; }));
    EXPECT_TRUE(queue.offer(1));
    EXPECT_EQ(queue.waiting_consumer_count(), 1U);  // at once: no consumer had to wake up first
    EXPECT_TRUE(queue.empty());
    EXPECT_TRUE(queue.try_transfer(2));
    EXPECT_EQ(queue.waiting_consumer_count(), 0U);
    EXPECT_FALSE(queue.try_transfer(3));
    EXPECT_TRUE(first.ends() && second.ends());
}

TEST(transfer_queue_consumers, consumer_that_leaves_is_not_counted) {
    queue_of_int queue;
    test::in_background taker{[&] { static_cast<void>(queue.take()); }};
    ASSERT_TRUE(test::eventually([&] { return queue.has_waiting_consumer(); }));
    taker.interrupt();
    ASSERT_TRUE(taker.ends());
    EXPECT_TRUE(taker.was_interrupted());
    EXPECT_FALSE(queue.has_waiting_consumer());
    EXPECT_EQ(queue.poll_for(1us), std::nullopt);
    EXPECT_EQ(queue.waiting_consumer_count(), 0U);
    queue.put(1);
    EXPECT_EQ(queue.size(), 1U);
}

// The predicate runs while the taker is in line, so its offer comes in the middle of the wait.
TEST(transfer_queue_consumers, served_in_the_last_moment_is_served) {
    queue_of_int queue;
    std::optional<int> x;
    const auto offers_and = [&](bool answer) {
        EXPECT_TRUE(queue.offer(7));
        EXPECT_TRUE(queue.empty());
        return answer;
    };
    EXPECT_EQ(queue.pop_until(x, {}, [&] { return offers_and(true); }), wait_result::ready);
    EXPECT_EQ(x, 7);
    x.reset();
    EXPECT_EQ(queue.pop_until(x, {.until = deadline::after(0s)}, [&] { return offers_and(false); }),
              wait_result::ready);
    EXPECT_EQ(x, 7);
    std::stop_source source;
    source.request_stop();
    EXPECT_EQ(queue.pop_until(x, {.stop = source.get_token()}, [&] { return offers_and(false); }),
              wait_result::ready);
    EXPECT_EQ(queue.pop_until(x, {},
                              [&]() -> bool {
                                  offers_and(true);
                                  throw std::runtime_error("predicate");
                              }),
              wait_result::ready);
    EXPECT_EQ(x, 7);
}

TEST(transfer_queue_consumers, longest_waiting_is_served_first) {
    queue_of_int queue;
    int first_got = 0;
    int second_got = 0;
    test::in_background first{[&] { first_got = queue.take(); }};
    ASSERT_TRUE(test::eventually([&] { return queue.waiting_consumer_count() == 1; }));
    test::in_background second{[&] { second_got = queue.take(); }};
    ASSERT_TRUE(test::eventually([&] { return queue.waiting_consumer_count() == 2; }));
    queue.put(1);
    queue.transfer(2);
    ASSERT_TRUE(first.ends() && second.ends());
    EXPECT_EQ(first_got, 1);
    EXPECT_EQ(second_got, 2);
}

TEST(transfer_queue_consumers, empty_task_is_refused_by_every_way_in) {
    linked_transfer_queue<task> queue;
    EXPECT_THROW(queue.transfer(task{}), std::invalid_argument);
    EXPECT_THROW(queue.transfer(task{}, std::stop_token{}), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(queue.try_transfer(task{})), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(queue.try_transfer_for(task{}, 1s)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(queue.try_transfer_for(task{}, 1s, std::stop_token{})),
                 std::invalid_argument);
    // A range that cannot be taken over leaves nothing behind (the sanitizers would report a leak).
    std::vector<task> some;
    some.emplace_back([big = std::string(100, 'x')] {});
    some.emplace_back();
    EXPECT_THROW(linked_transfer_queue<task>{std::move(some)}, std::invalid_argument);
}

}  // namespace
