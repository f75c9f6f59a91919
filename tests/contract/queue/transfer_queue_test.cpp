// The additional contract of linked_transfer_queue: givers that wait for their taker.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <stop_token>

#include "contract/queue/contract.hpp"
#include "support/any_timeout.hpp"

namespace {

using namespace std::chrono_literals;

class transfer_queue : public testing::Test {
protected:
    [[nodiscard]] bool grows_to(std::size_t size) const {
        return test::eventually([&] { return queue.size() == size; });
    }
    [[nodiscard]] bool gets_a_waiting_consumer() const {
        return test::eventually([&] { return queue.has_waiting_consumer(); });
    }

    spool::linked_transfer_queue<int> queue;
};

TEST_F(transfer_queue, LTQ_042_a_plain_offer_goes_to_a_waiting_consumer_who_is_not_counted_any_more) {
    EXPECT_EQ(queue.waiting_consumer_count(), 0U);
    EXPECT_FALSE(queue.has_waiting_consumer());
    std::optional<int> taken;
    test::in_background taker{[&] { taken = queue.poll_for(1h); }};
    ASSERT_TRUE(gets_a_waiting_consumer());
    EXPECT_EQ(queue.waiting_consumer_count(), 1U);
    EXPECT_TRUE(queue.offer(7));
    EXPECT_EQ(queue.waiting_consumer_count(), 0U);
    EXPECT_FALSE(queue.has_waiting_consumer());
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_043_an_empty_task_cannot_be_transferred) {
    spool::linked_transfer_queue<spool::task> tasks;
    EXPECT_THROW(tasks.transfer(spool::task{}), std::invalid_argument);
    EXPECT_THROW(tasks.transfer(spool::task{}, test::stopped_token()), std::invalid_argument);
    EXPECT_TRUE(tasks.empty());
}

TEST_F(transfer_queue, LTQ_044_transfer_waits_with_its_element_inside_until_a_poll_takes_it) {
    test::in_background giver{[this] { queue.transfer(7); }};
    ASSERT_TRUE(grows_to(1) && giver.falls_asleep());
    EXPECT_FALSE(giver.has_ended());
    EXPECT_TRUE(queue.contains(test::is(7)));
    EXPECT_EQ(queue.poll(), 7);
    ASSERT_TRUE(giver.ends());
    EXPECT_FALSE(giver.was_interrupted());
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_045_transfers_are_served_oldest_first_and_an_interrupted_one_withdraws) {
    test::in_background first{[this] { queue.transfer(1); }};
    ASSERT_TRUE(grows_to(1));
    test::in_background second{[this] { queue.transfer(2); }};
    ASSERT_TRUE(grows_to(2));
    EXPECT_EQ(queue.poll(), 1);
    ASSERT_TRUE(first.ends());
    EXPECT_FALSE(first.was_interrupted());
    EXPECT_FALSE(second.has_ended());
    second.interrupt();
    ASSERT_TRUE(second.ends());
    EXPECT_TRUE(second.was_interrupted());
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_045_transfer_ends_at_once_when_stopped_before) {
    test::expect_interruptible([this] { queue.transfer(7); },
                               [this](std::stop_token stop) { queue.transfer(7, stop); });
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_046_a_transfer_is_done_before_what_was_offered_behind_it) {
    test::in_background giver{[this] { queue.transfer(1); }};
    ASSERT_TRUE(grows_to(1));
    EXPECT_TRUE(queue.offer(2));
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_FALSE(giver.has_ended());
    EXPECT_EQ(queue.poll(), 1);
    ASSERT_TRUE(giver.ends());
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.poll(), 2);
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_047_transfer_waits_until_a_take_gets_its_element) {
    test::in_background giver{[this] { queue.transfer(7); }};
    ASSERT_TRUE(giver.falls_asleep());
    EXPECT_FALSE(giver.has_ended());
    EXPECT_EQ(queue.take(), 7);
    ASSERT_TRUE(giver.ends());
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_048_a_transfer_of_an_empty_task_cannot_be_tried) {
    spool::linked_transfer_queue<spool::task> tasks;
    EXPECT_THROW(static_cast<void>(tasks.try_transfer(spool::task{})), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(tasks.try_transfer_for(spool::task{}, 1h)), std::invalid_argument);
    EXPECT_TRUE(tasks.empty());
}

TEST_F(transfer_queue, LTQ_049_try_transfer_without_a_consumer_leaves_nothing_behind) {
    EXPECT_FALSE(queue.try_transfer(7));
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_050_try_transfer_hands_over_to_a_timed_poll) {
    std::optional<int> taken;
    test::in_background taker{[&] { taken = queue.poll_for(1h); }};
    ASSERT_TRUE(gets_a_waiting_consumer());
    EXPECT_TRUE(queue.try_transfer(7));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_051_try_transfer_hands_over_to_a_take) {
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(gets_a_waiting_consumer());
    EXPECT_TRUE(queue.try_transfer(7));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_052_a_timed_transfer_is_interruptible_and_leaves_nothing_behind) {
    test::for_any_timeout([this](auto d) {
        test::expect_interrupted_before(
            [&] { static_cast<void>(queue.try_transfer_for(7, d)); },
            [&](std::stop_token stop) { static_cast<void>(queue.try_transfer_for(7, d, stop)); });
    });
    test::expect_interrupted_during(
        [this] { static_cast<void>(queue.try_transfer_for(7, 1h)); },
        [this](std::stop_token stop) { static_cast<void>(queue.try_transfer_for(7, 1h, stop)); });
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_053_a_timed_transfer_without_a_consumer_waits_out_its_time) {
    test::expect_waits_out([this](auto d) { EXPECT_FALSE(queue.try_transfer_for(7, d)); });
    test::expect_waits_out([this](auto d) { EXPECT_FALSE(queue.try_transfer_for(7, d, std::stop_token{})); });
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_054_a_timed_transfer_behind_an_older_element_waits_its_turn) {
    EXPECT_TRUE(queue.offer(1));
    bool done = false;
    test::in_background giver{[&] { done = queue.try_transfer_for(2, 1h); }};
    ASSERT_TRUE(grows_to(2));
    EXPECT_EQ(queue.poll(), 1);
    EXPECT_FALSE(giver.has_ended());
    EXPECT_EQ(queue.poll(), 2);
    ASSERT_TRUE(giver.ends());
    EXPECT_TRUE(done);
    test::expect_empty(queue);
}

TEST_F(transfer_queue, LTQ_055_a_timed_transfer_that_runs_out_of_time_leaves_only_the_older_element) {
    EXPECT_TRUE(queue.offer(1));
    test::expect_waits_out([this](auto d) { EXPECT_FALSE(queue.try_transfer_for(2, d)); });
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.poll(), 1);
    test::expect_empty(queue);
}

}  // namespace
