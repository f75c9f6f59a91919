// The contract of every storing queue for taking: the order, and how long a taker waits.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stop_token>

#include "contract/queue/contract.hpp"
#include "support/any_timeout.hpp"

namespace {

using namespace std::chrono_literals;

template <class Kind>
class storing_queue_taking : public testing::Test {};
TYPED_TEST_SUITE(storing_queue_taking, test::storing_kinds, test::kind_names);

TYPED_TEST(storing_queue_taking, LBQ_019_ABQ_020_PBQ_019_DQ_016_LTQ_011_take_gives_the_elements_in_order) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (const int n : test::numbers()) {
        EXPECT_EQ(n % 2 == 0 ? queue.take() : queue.take(std::stop_token{}), n);
    }
}

TYPED_TEST(storing_queue_taking,
           LBQ_020_ABQ_021_PBQ_020_DQ_017_LTQ_012_take_of_a_drained_queue_is_interruptible) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (const int n : test::numbers()) {
        EXPECT_EQ(queue.take(), n);
    }
    test::expect_interruptible([&] { static_cast<void>(queue.take()); },
                               [&](std::stop_token stop) { static_cast<void>(queue.take(stop)); });
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_taking,
           LBQ_021_ABQ_022_PBQ_021_DQ_018_LTQ_013_poll_gives_the_elements_in_order_then_nothing) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (const int n : test::numbers()) {
        EXPECT_EQ(queue.poll(), n);
    }
    EXPECT_EQ(queue.poll(), std::nullopt);
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_taking,
           LBQ_022_ABQ_023_PBQ_022_DQ_019_LTQ_014_poll_for_no_time_gives_what_is_there) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    for (const int n : test::numbers()) {
        EXPECT_EQ(n % 2 == 0 ? queue.poll_for(0s) : queue.poll_for(0s, std::stop_token{}), n);
    }
    EXPECT_EQ(queue.poll_for(0s), std::nullopt);
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_taking,
           LBQ_023_ABQ_024_PBQ_023_DQ_020_LTQ_015_timed_poll_waits_only_for_an_empty_queue) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    test::expect_no_waiting([&] {
        for (const int n : test::numbers()) {
            EXPECT_EQ(queue.poll_for(test::long_delay()), n);
        }
    });
    test::expect_waits_out([&](auto d) { EXPECT_EQ(queue.poll_for(d), std::nullopt); });
    test::expect_waits_out([&](auto d) { EXPECT_EQ(queue.poll_for(d, std::stop_token{}), std::nullopt); });
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_taking,
           LBQ_024_ABQ_025_PBQ_024_DQ_021_LTQ_016_timed_poll_of_a_drained_queue_is_interruptible) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    EXPECT_EQ(test::polled(queue), test::numbers());
    test::for_any_timeout([&](auto d) {
        test::expect_interrupted_before(
            [&] { static_cast<void>(queue.poll_for(d)); },
            [&](std::stop_token stop) { static_cast<void>(queue.poll_for(d, stop)); });
    });
    test::expect_interrupted_during(
        [&] { static_cast<void>(queue.poll_for(1h)); },
        [&](std::stop_token stop) { static_cast<void>(queue.poll_for(1h, stop)); });
    test::expect_empty(queue);
}

TYPED_TEST(storing_queue_taking, LTQ_017_what_is_there_comes_before_an_interruption) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    spool::task_scope scope;
    scope.interrupt().request_stop();
    for (const int n : test::numbers()) {
        EXPECT_EQ(n % 2 == 0 ? queue.poll_for(1h) : queue.poll_for(1h, test::stopped_token()), n);
    }
    EXPECT_THROW(static_cast<void>(queue.poll_for(1h)), spool::interrupted);
    EXPECT_THROW(static_cast<void>(queue.poll_for(1h, test::stopped_token())), spool::interrupted);
}

TYPED_TEST(storing_queue_taking,
           LBQ_027_ABQ_028_PBQ_027_DQ_024_LTQ_020_nothing_to_remove_is_an_answer_not_an_error) {
    auto queue = TypeParam::template make<int>();
    test::fill<TypeParam>(queue);
    EXPECT_EQ(test::polled(queue), test::numbers());
    EXPECT_NO_THROW(EXPECT_EQ(queue.poll(), std::nullopt));
}

TYPED_TEST(storing_queue_taking,
           LBQ_044_ABQ_043_PBQ_040_DQ_037_LTQ_037_timed_poll_gets_what_another_thread_puts) {
    auto queue = TypeParam::template make<int>();
    std::optional<int> at_once;
    std::optional<int> later;
    test::in_background taker{[&] {
        at_once = queue.poll();
        later = queue.poll_for(1h);
    }};
    ASSERT_TRUE(taker.falls_asleep());
    queue.put(7);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(at_once, std::nullopt);
    EXPECT_EQ(later, 7);
    test::expect_empty(queue);
}

}  // namespace
