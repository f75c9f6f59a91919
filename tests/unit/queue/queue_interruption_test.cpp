// Stop requests and queue waits: through the given token, or through the current task.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>

#include "spool/detail/task_scope.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "support/stopped_token.hpp"
#include "support/throws.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::interrupted;
using spool::linked_blocking_queue;
using queue_of_int = linked_blocking_queue<int>;
using namespace std::chrono_literals;
using test::stopped_token;

TEST(queue_interruption, stopped_token_interrupts_a_call_that_would_wait) {
    queue_of_int queue{1};
    EXPECT_EQ(test::what_of<interrupted>([&] { static_cast<void>(queue.take(stopped_token())); }),
              "blocking_queue::take: stop requested");
    EXPECT_EQ(test::what_of<interrupted>([&] { static_cast<void>(queue.poll_for(1h, stopped_token())); }),
              "blocking_queue::poll_for: stop requested");
    queue.put(1);
    EXPECT_EQ(test::what_of<interrupted>([&] { queue.put(2, stopped_token()); }),
              "blocking_queue::put: stop requested");
    EXPECT_EQ(test::what_of<interrupted>([&] { static_cast<void>(queue.offer_for(2, 1h, stopped_token())); }),
              "blocking_queue::offer_for: stop requested");
    EXPECT_EQ(queue.size(), 1U);
}

TEST(queue_interruption, result_takes_precedence_over_interruption) {
    queue_of_int queue{1};
    EXPECT_NO_THROW(queue.put(1, stopped_token()));
    EXPECT_EQ(queue.take(stopped_token()), 1);
    EXPECT_TRUE(queue.offer_for(2, 1h, stopped_token()));
    EXPECT_EQ(queue.poll_for(1h, stopped_token()), 2);
}

TEST(queue_interruption, interruption_takes_precedence_over_time_out) {
    queue_of_int queue{1};
    EXPECT_THROW(static_cast<void>(queue.poll_for(0s, stopped_token())), interrupted);
    EXPECT_THROW(static_cast<void>(queue.poll_for(-1h, stopped_token())), interrupted);
    queue.put(1);
    EXPECT_THROW(static_cast<void>(queue.offer_for(2, 0s, stopped_token())), interrupted);
    EXPECT_THROW(static_cast<void>(queue.offer_for(2, -1h, stopped_token())), interrupted);
}

TEST(queue_interruption, offer_and_poll_do_not_care_for_the_stop) {
    spool::task_scope scope;
    scope.interrupt().request_stop();
    queue_of_int queue{1};
    EXPECT_EQ(queue.poll(), std::nullopt);
    EXPECT_TRUE(queue.offer(1));
    EXPECT_FALSE(queue.offer(2));
    EXPECT_EQ(queue.poll(), 1);
}

TEST(queue_interruption, plain_forms_use_the_stop_of_the_current_task) {
    spool::task_scope scope;
    scope.interrupt().request_stop();
    queue_of_int queue{1};
    EXPECT_THROW(static_cast<void>(queue.take()), interrupted);
    EXPECT_THROW(static_cast<void>(queue.poll_for(0s)), interrupted);
    EXPECT_NO_THROW(queue.put(1));
    EXPECT_THROW(queue.put(2), interrupted);
    EXPECT_THROW(static_cast<void>(queue.offer_for(2, 0s)), interrupted);
    EXPECT_EQ(queue.take(), 1);
}

TEST(queue_interruption, token_given_replaces_that_of_the_current_task) {
    spool::task_scope scope;
    scope.interrupt().request_stop();
    queue_of_int queue{1};
    EXPECT_EQ(queue.poll_for(1us, std::stop_token{}), std::nullopt);
    queue.put(1);
    EXPECT_FALSE(queue.offer_for(2, 1us, std::stop_token{}));
}

TEST(queue_interruption, interrupted_put_does_not_move_the_element) {
    linked_blocking_queue<std::unique_ptr<int>> queue{1};
    queue.put(std::make_unique<int>(1));
    auto mine = std::make_unique<int>(2);
    EXPECT_THROW(queue.put(std::move(mine), stopped_token()), interrupted);
    ASSERT_NE(mine, nullptr);
    EXPECT_THROW(static_cast<void>(queue.offer_for(std::move(mine), 1h, stopped_token())), interrupted);
    ASSERT_NE(mine, nullptr);
    EXPECT_EQ(*mine, 2);
}

// ---- Stop while asleep

template <class Wait>
void stop_of_the_task_interrupts(Wait wait) {
    test::in_background waiter{wait};
    ASSERT_TRUE(waiter.falls_asleep());
    EXPECT_FALSE(waiter.has_ended());
    waiter.interrupt();
    ASSERT_TRUE(waiter.ends());
    EXPECT_TRUE(waiter.was_interrupted());
}

TEST(queue_interruption, stop_of_the_task_wakes_a_taker) {
    queue_of_int queue{1};
    stop_of_the_task_interrupts([&] { static_cast<void>(queue.take()); });
    stop_of_the_task_interrupts([&] { static_cast<void>(queue.poll_for(1h)); });
    EXPECT_TRUE(queue.empty());
}

TEST(queue_interruption, stop_of_the_task_wakes_a_producer) {
    queue_of_int queue{1};
    queue.put(1);
    stop_of_the_task_interrupts([&] { queue.put(2); });
    stop_of_the_task_interrupts([&] { static_cast<void>(queue.offer_for(2, 1h)); });
    EXPECT_EQ(queue.size(), 1U);
}

TEST(queue_interruption, stop_of_the_token_wakes_taker_and_producer) {
    queue_of_int empty;
    queue_of_int full{1};
    full.put(1);
    std::stop_source stop;
    test::in_background taker{[&] { static_cast<void>(empty.take(stop.get_token())); }};
    test::in_background producer{[&] { full.put(2, stop.get_token()); }};
    ASSERT_TRUE(taker.falls_asleep() && producer.falls_asleep());
    stop.request_stop();
    ASSERT_TRUE(taker.ends() && producer.ends());
    EXPECT_TRUE(taker.was_interrupted());
    EXPECT_TRUE(producer.was_interrupted());
}

TEST(queue_interruption, interrupted_taker_leaves_its_element_to_another_taker) {
    queue_of_int queue;
    std::stop_source stop;
    int taken = 0;
    test::in_background stopped{[&] { static_cast<void>(queue.take(stop.get_token())); }};
    test::in_background other{[&] { taken = queue.take(); }};
    ASSERT_TRUE(stopped.falls_asleep() && other.falls_asleep());
    stop.request_stop();
    ASSERT_TRUE(stopped.ends());
    queue.put(7);
    ASSERT_TRUE(other.ends());
    EXPECT_EQ(taken, 7);
}

}  // namespace
