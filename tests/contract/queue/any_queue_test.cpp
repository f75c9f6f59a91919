// The contract of every queue, with or without storage.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <vector>

#include "contract/queue/contract.hpp"

namespace {

using namespace std::chrono_literals;

template <class Kind>
class any_queue : public testing::Test {};
TYPED_TEST_SUITE(any_queue, test::all_kinds, test::kind_names);

TYPED_TEST(any_queue, BQ_001_BQ_002_an_empty_task_cannot_be_offered) {
    auto queue = TypeParam::template make<spool::task>();
    EXPECT_THROW(static_cast<void>(queue.offer(spool::task{})), std::invalid_argument);
    EXPECT_TRUE(queue.empty());
}

TYPED_TEST(any_queue, BQ_003_a_timed_offer_of_an_empty_task_is_refused_without_a_wait) {
    auto queue = TypeParam::template make<spool::task>();
    test::expect_no_waiting([&] {
        EXPECT_THROW(static_cast<void>(queue.offer_for(spool::task{}, test::long_delay())),
                     std::invalid_argument);
        EXPECT_THROW(static_cast<void>(queue.offer_for(spool::task{}, test::long_delay(), std::stop_token{})),
                     std::invalid_argument);
    });
    EXPECT_TRUE(queue.empty());
}

TYPED_TEST(any_queue, BQ_004_an_empty_task_cannot_be_put) {
    auto queue = TypeParam::template make<spool::task>();
    EXPECT_THROW(queue.put(spool::task{}), std::invalid_argument);
    EXPECT_THROW(queue.put(spool::task{}, test::stopped_token()), std::invalid_argument);
    EXPECT_TRUE(queue.empty());
}

TYPED_TEST(any_queue, BQ_006_a_list_of_empty_tasks_cannot_be_added) {
    auto queue = TypeParam::template make<spool::task>();
    EXPECT_THROW(queue.offer_all(test::tasks(0, test::size)), std::invalid_argument);
    EXPECT_TRUE(queue.empty());
}

template <class Queue, class Range>
concept adds_all_of = requires(Queue& queue, Range& elements) {
    queue.offer_all(elements);
};

TYPED_TEST(any_queue,
           LBQ_011_ABQ_012_SQ_007_SQ_008_PBQ_013_DQ_010_LTQ_007_adding_a_queue_to_itself_does_not_compile) {
    using queue = typename TypeParam::template queue<int>;
    static_assert(adds_all_of<queue, std::vector<int>>);
    static_assert(!adds_all_of<queue, queue>);
    static_assert(!adds_all_of<queue, spool::blocking_queue<int>>);
}

template <class Queue, class Target>
concept drains_into = requires(Queue& queue, Target& out) {
    queue.drain_to(out);
};

TYPED_TEST(any_queue, BQ_009_draining_a_queue_into_itself_does_not_compile) {
    using queue = typename TypeParam::template queue<int>;
    static_assert(drains_into<queue, std::vector<int>>);
    static_assert(!drains_into<queue, queue>);
    static_assert(!drains_into<queue, spool::blocking_queue<int>>);
}

template <class Queue, class Target>
concept drains_some_into = requires(Queue& queue, Target& out) {
    queue.drain_to(out, std::size_t{0});
};

TYPED_TEST(any_queue, BQ_011_draining_a_queue_into_itself_with_a_limit_does_not_compile) {
    using queue = typename TypeParam::template queue<int>;
    static_assert(drains_some_into<queue, std::vector<int>>);
    static_assert(!drains_some_into<queue, queue>);
    static_assert(!drains_some_into<queue, spool::blocking_queue<int>>);
}

TYPED_TEST(any_queue, BQ_012_draining_at_most_zero_elements_moves_nothing) {
    auto queue = TypeParam::template make<int>();
    std::vector<int> out;
    EXPECT_EQ(queue.drain_to(out, 0), 0U);
    const std::size_t inside = queue.offer(7) ? 1 : 0;
    EXPECT_EQ(queue.drain_to(out, 0), 0U);
    EXPECT_TRUE(out.empty());
    EXPECT_EQ(queue.size(), inside);
}

TYPED_TEST(any_queue, BQ_013_timed_poll_times_out_or_gets_the_element_of_a_timed_offer) {
    auto queue = TypeParam::template make<int>();
    test::expect_waits_out([&](auto d) { EXPECT_EQ(queue.poll_for(d), std::nullopt); });
    std::optional<int> taken;
    test::in_background taker{[&] { taken = queue.poll_for(1h); }};
    ASSERT_TRUE(taker.falls_asleep());
    EXPECT_TRUE(queue.offer_for(7, 1h));
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(taken, 7);
    test::expect_interruptible([&] { static_cast<void>(queue.poll_for(1h)); },
                               [&](std::stop_token stop) { static_cast<void>(queue.poll_for(1h, stop)); });
    test::expect_empty(queue);
}

TYPED_TEST(any_queue, BQ_014_take_from_an_empty_queue_waits_until_interrupted) {
    auto queue = TypeParam::template make<int>();
    test::expect_interrupted_during([&] { static_cast<void>(queue.take()); },
                                    [&](std::stop_token stop) { static_cast<void>(queue.take(stop)); });
    test::expect_empty(queue);
}

TYPED_TEST(any_queue, BQ_015_take_from_an_empty_queue_ends_at_once_after_an_earlier_stop) {
    auto queue = TypeParam::template make<int>();
    test::expect_interrupted_before([&] { static_cast<void>(queue.take()); },
                                    [&](std::stop_token stop) { static_cast<void>(queue.take(stop)); });
    test::expect_empty(queue);
}

TYPED_TEST(any_queue, BQ_016_timed_poll_of_an_empty_queue_waits_until_interrupted) {
    auto queue = TypeParam::template make<int>();
    test::expect_interrupted_during(
        [&] { static_cast<void>(queue.poll_for(1h)); },
        [&](std::stop_token stop) { static_cast<void>(queue.poll_for(1h, stop)); });
    test::expect_empty(queue);
}

TYPED_TEST(any_queue, BQ_017_timed_poll_of_an_empty_queue_ends_at_once_after_an_earlier_stop) {
    auto queue = TypeParam::template make<int>();
    test::expect_interrupted_before(
        [&] { static_cast<void>(queue.poll_for(1h)); },
        [&](std::stop_token stop) { static_cast<void>(queue.poll_for(1h, stop)); });
    test::expect_empty(queue);
}

}  // namespace
