// push_until and pop_until: waits with every kind of limit, and the predicate that ends them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>

#include "spool/queue/linked_blocking_queue.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::deadline;
using spool::linked_blocking_queue;
using spool::wait_limits;
using spool::wait_result;
using queue_of_int = linked_blocking_queue<int>;

const auto yes = [] { return true; };

wait_limits all_over() {
    std::stop_source source;
    source.request_stop();
    return {.until = deadline::after(std::chrono::seconds{0}), .stop = source.get_token()};
}

TEST(queue_giving_up, result_takes_precedence_over_giving_up) {
    queue_of_int queue{1};
    int element = 7;
    EXPECT_EQ(queue.push_until(element, all_over(), yes), wait_result::ready);
    std::optional<int> taken;
    EXPECT_EQ(queue.pop_until(taken, all_over(), yes), wait_result::ready);
    EXPECT_EQ(taken, 7);
}

TEST(queue_giving_up, giving_up_takes_precedence_over_interruption_and_time_out) {
    queue_of_int queue{1};
    std::optional<int> taken;
    EXPECT_EQ(queue.pop_until(taken, all_over(), yes), wait_result::gave_up);
    EXPECT_EQ(queue.pop_until(taken, all_over()), wait_result::interrupted);
    EXPECT_EQ(queue.pop_until(taken, {.until = deadline::after(std::chrono::seconds{0})}),
              wait_result::timed_out);
    EXPECT_EQ(taken, std::nullopt);
}

TEST(queue_giving_up, producer_gets_the_same_answers) {
    queue_of_int queue{1};
    queue.put(1);
    int element = 7;
    EXPECT_EQ(queue.push_until(element, all_over(), yes), wait_result::gave_up);
    EXPECT_EQ(queue.push_until(element, all_over()), wait_result::interrupted);
    EXPECT_EQ(queue.push_until(element, {.until = deadline::after(std::chrono::seconds{0})}),
              wait_result::timed_out);
    EXPECT_EQ(queue.size(), 1U);
}

TEST(queue_giving_up, wake_consumers_makes_takers_ask_again) {
    queue_of_int queue;
    std::atomic<bool> closed{false};
    wait_result answer{};
    test::in_background taker{[&] {
        std::optional<int> x;
        answer = queue.pop_until(x, {.until = test::backstop()}, [&] { return closed.load(); });
    }};
    ASSERT_TRUE(taker.falls_asleep());
    closed = true;
    queue.wake_consumers();
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(answer, wait_result::gave_up);
}

TEST(queue_giving_up, wake_producers_makes_producers_ask_again) {
    queue_of_int queue{1};
    queue.put(1);
    std::atomic<bool> closed{false};
    wait_result answer{};
    test::in_background producer{[&] {
        int x = 2;
        answer = queue.push_until(x, {.until = test::backstop()}, [&] { return closed.load(); });
    }};
    ASSERT_TRUE(producer.falls_asleep());
    closed = true;
    queue.wake_producers();
    ASSERT_TRUE(producer.ends());
    EXPECT_EQ(answer, wait_result::gave_up);
    EXPECT_EQ(queue.size(), 1U);
}

TEST(queue_giving_up, wake_without_cause_ends_no_wait) {
    queue_of_int queue;
    std::atomic<int> asked{0};
    wait_result answer{};
    test::in_background taker{[&] {
        std::optional<int> x;
        answer = queue.pop_until(x, {.until = test::backstop()}, [&] {
            ++asked;
            return false;
        });
    }};
    ASSERT_TRUE(taker.falls_asleep());
    const int asked_before = asked;
    EXPECT_GT(asked_before, 0);  // asked before the taker sleeps
    queue.wake_consumers();
    // Asked again after the wake-up.
    ASSERT_TRUE(test::eventually([&] { return asked > asked_before; }));
    EXPECT_FALSE(taker.has_ended());
    queue.put(1);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TEST(queue_giving_up, predicate_that_throws_ends_the_wait_with_that) {
    queue_of_int queue;
    std::optional<int> taken;
    const auto throws = []() -> bool { throw std::runtime_error("predicate"); };
    EXPECT_THROW(queue.pop_until(taken, {}, throws), std::runtime_error);
    queue.put(1);
    EXPECT_EQ(queue.take(), 1);
}

// Both takers are woken and leave. The queue still works for later takers.
TEST(queue_giving_up, queue_keeps_working_after_every_waiter_gave_up) {
    queue_of_int queue;
    std::atomic<bool> closed{false};
    const auto wait = [&] {
        std::optional<int> x;
        static_cast<void>(queue.pop_until(x, {.until = test::backstop()}, [&] { return closed.load(); }));
    };
    {
        test::in_background first{wait};
        test::in_background second{wait};
        ASSERT_TRUE(first.falls_asleep() && second.falls_asleep());
        closed = true;
        queue.wake_consumers();
        ASSERT_TRUE(first.ends() && second.ends());
    }
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    queue.put(5);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 5);
}

}  // namespace
