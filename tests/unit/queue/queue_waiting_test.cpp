// Waiting for room and for an element: which action releases which waiter.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "spool/queue/linked_blocking_queue.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::linked_blocking_queue;
using queue_of_int = linked_blocking_queue<int>;
using namespace std::chrono_literals;

TEST(queue_taking, take_waits_for_an_element) {
    queue_of_int queue;
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    EXPECT_FALSE(taker.has_ended());
    queue.put(7);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

TEST(queue_taking, offer_releases_a_taker) {
    queue_of_int queue;
    int taken = 0;
    test::in_background taker{[&] { taken = queue.take(); }};
    ASSERT_TRUE(taker.falls_asleep());
    EXPECT_TRUE(queue.offer(7));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

TEST(queue_taking, every_form_of_adding_releases_a_taker) {
    queue_of_int queue;
    const std::function<void()> forms[] = {
        [&] { queue.put(7); },
        [&] { queue.put(7, std::stop_token{}); },
        [&] { EXPECT_TRUE(queue.offer_for(7, 1s)); },
        [&] { EXPECT_TRUE(queue.offer_for(7, 1s, std::stop_token{})); },
    };
    for (const auto& add : forms) {
        int taken = 0;
        test::in_background taker{[&] { taken = queue.take(); }};
        ASSERT_TRUE(taker.falls_asleep());
        add();
        ASSERT_TRUE(taker.ends());
        EXPECT_EQ(taken, 7);
    }
}

TEST(queue_taking, timed_poll_is_released_by_an_element) {
    queue_of_int queue;
    std::optional<int> taken;
    test::in_background taker{[&] { taken = queue.poll_for(1h); }};
    ASSERT_TRUE(taker.falls_asleep());
    EXPECT_TRUE(queue.offer_for(7, 1s));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
}

TEST(queue_taking, each_element_releases_one_of_several_takers) {
    queue_of_int queue;
    std::atomic<int> sum{0};
    const auto take_one = [&] { sum += queue.take(); };
    test::in_background first{take_one};
    test::in_background second{take_one};
    test::in_background third{take_one};
    ASSERT_TRUE(first.falls_asleep() && second.falls_asleep() && third.falls_asleep());
    for (const int element : {1, 10, 100}) {
        queue.put(int{element});
    }
    ASSERT_TRUE(first.ends() && second.ends() && third.ends());
    EXPECT_EQ(sum, 111);
    EXPECT_TRUE(queue.empty());
}

// ---- A producer that waits for room, and everything that makes room

class queue_putting : public testing::Test {
protected:
    queue_putting() {
        queue_.put(1);
        queue_.put(2);
    }

    void producer_is_released_by(const std::function<void()>& make_room) {
        test::in_background producer{[&] { queue_.put(3); }};
        ASSERT_TRUE(producer.falls_asleep());
        EXPECT_FALSE(producer.has_ended());
        EXPECT_EQ(queue_.size(), 2U);
        make_room();
        ASSERT_TRUE(producer.ends());
        EXPECT_FALSE(producer.was_interrupted());
        EXPECT_TRUE(queue_.contains([](int n) { return n == 3; }));
    }

    queue_of_int queue_{2};
};

TEST_F(queue_putting, waiting_producer_is_released_by_take) {
    producer_is_released_by([this] { EXPECT_EQ(queue_.take(), 1); });
}

TEST_F(queue_putting, waiting_producer_is_released_by_poll) {
    producer_is_released_by([this] { EXPECT_EQ(queue_.poll(), 1); });
}

TEST_F(queue_putting, waiting_producer_is_released_by_poll_for) {
    producer_is_released_by([this] { EXPECT_EQ(queue_.poll_for(1s), 1); });
}

TEST_F(queue_putting, waiting_producer_is_released_by_take_with_a_token) {
    producer_is_released_by([this] { EXPECT_EQ(queue_.take(std::stop_token{}), 1); });
}

TEST_F(queue_putting, waiting_producer_is_released_by_remove_if) {
    producer_is_released_by([this] { EXPECT_EQ(queue_.remove_if([](int n) { return n == 2; }), 1U); });
}

TEST_F(queue_putting, waiting_producer_is_released_by_clear) {
    producer_is_released_by([this] { queue_.clear(); });
}

TEST_F(queue_putting, waiting_producer_is_released_by_drain_to) {
    producer_is_released_by([this] {
        std::vector<int> out;
        EXPECT_EQ(queue_.drain_to(out, 1), 1U);
        EXPECT_EQ(out, std::vector<int>{1});
    });
}

TEST_F(queue_putting, timed_offer_is_released_by_room) {
    bool added = false;
    test::in_background producer{[&] { added = queue_.offer_for(3, 1h); }};
    ASSERT_TRUE(producer.falls_asleep());
    EXPECT_EQ(queue_.take(), 1);
    ASSERT_TRUE(producer.ends());
    EXPECT_TRUE(added);
}

TEST_F(queue_putting, room_for_several_releases_several_producers) {
    test::in_background first{[&] { queue_.put(3); }};
    test::in_background second{[&] { queue_.put(4); }};
    ASSERT_TRUE(first.falls_asleep() && second.falls_asleep());
    queue_.clear();
    ASSERT_TRUE(first.ends() && second.ends());
    EXPECT_EQ(queue_.take() + queue_.take(), 7);
}

// ---- Time limits

TEST(queue_times, zero_and_negative_limits_return_at_once) {
    queue_of_int queue{1};
    for (const std::chrono::nanoseconds d : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        EXPECT_EQ(queue.poll_for(d), std::nullopt);
    }
    EXPECT_EQ(queue.poll_for(std::chrono::hours::min()), std::nullopt);
    queue.put(1);
    for (const std::chrono::nanoseconds d : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        EXPECT_FALSE(queue.offer_for(2, d));
    }
    EXPECT_FALSE(queue.offer_for(2, std::chrono::duration<double>{-1e300}));
    EXPECT_EQ(queue.size(), 1U);
}

TEST(queue_times, zero_and_negative_times_succeed_where_nothing_is_to_wait_for) {
    queue_of_int queue{1};
    EXPECT_TRUE(queue.offer_for(1, 0s));
    EXPECT_EQ(queue.poll_for(0s), 1);
    EXPECT_TRUE(queue.offer_for(2, -1h));
    EXPECT_EQ(queue.poll_for(-1h), 2);
    EXPECT_TRUE(queue.offer_for(3, 0s, std::stop_token{}));
    EXPECT_EQ(queue.poll_for(-1s, std::stop_token{}), 3);
}

TEST(queue_times, huge_times_succeed_where_nothing_is_to_wait_for) {
    queue_of_int queue{1};
    EXPECT_TRUE(queue.offer_for(1, std::chrono::hours::max()));
    EXPECT_EQ(queue.poll_for(std::chrono::hours::max()), 1);
}

TEST(queue_times, huge_times_wait_until_released) {
    queue_of_int queue{1};
    std::optional<int> taken;
    test::in_background taker{[&] { taken = queue.poll_for(std::chrono::hours::max()); }};
    ASSERT_TRUE(taker.falls_asleep());
    queue.put(1);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 1);

    queue.put(2);
    bool added = false;
    test::in_background producer{[&] { added = queue.offer_for(3, std::chrono::nanoseconds::max()); }};
    ASSERT_TRUE(producer.falls_asleep());
    EXPECT_EQ(queue.take(), 2);
    ASSERT_TRUE(producer.ends());
    EXPECT_TRUE(added);
}

TEST(queue_times, short_time_passes_without_an_answer) {
    queue_of_int queue{1};
    EXPECT_EQ(queue.poll_for(100us), std::nullopt);
    queue.put(1);
    EXPECT_FALSE(queue.offer_for(2, 100us));
    EXPECT_EQ(queue.size(), 1U);
}

}  // namespace
