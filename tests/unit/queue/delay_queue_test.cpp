// delay_queue: due elements come out, by due time; all elements can be seen.
#include "spool/queue/delay_queue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/throws.hpp"
#include "unit/queue/delayed.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::delay_queue;
using spool::due_time;
using spool::task;
using test::delayed;
using test::from_now;
using test::long_ago;
using namespace std::chrono_literals;

std::vector<int> numbers(const std::vector<delayed>& elements) {
    std::vector<int> all;
    for (const delayed& x : elements) {
        all.push_back(x.number);
    }
    return all;
}

TEST(delay_queue_order, earliest_due_element_is_taken_first) {
    delay_queue<delayed> queue;
    for (const int n : {3, 1, 2}) {
        queue.put(delayed{n, long_ago() + n * 1s});
    }
    EXPECT_EQ(queue.take().number, 1);
    EXPECT_EQ(queue.poll()->number, 2);
    EXPECT_EQ(queue.poll_for(1s)->number, 3);
    EXPECT_EQ(queue.poll(), std::nullopt);
}

TEST(delay_queue_order, equals_come_out_as_they_came_in) {
    delay_queue<delayed> queue;
    const due_time together = long_ago();
    for (int i = 0; i < 50; ++i) {
        queue.put(delayed{i, together});
    }
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(queue.take().number, i);
    }
}

TEST(delay_queue_order, only_due_elements_come_out) {
    delay_queue<delayed> queue;
    queue.put(delayed{1, from_now(1h)});
    queue.put(delayed{2, long_ago()});
    std::vector<delayed> out;
    EXPECT_EQ(queue.drain_to(out), 1U);
    EXPECT_EQ(numbers(out), std::vector{2});
    EXPECT_EQ(queue.poll(), std::nullopt);
    EXPECT_EQ(queue.poll_for(1us), std::nullopt);
    EXPECT_EQ(queue.drain_to(out), 0U);
    EXPECT_EQ(queue.size(), 1U);
}

TEST(delay_queue_order, smallest_due_time_is_due_at_once_and_the_largest_never) {
    delay_queue<delayed> queue;
    queue.put(delayed{1, due_time::max()});
    EXPECT_EQ(queue.poll_for(1us), std::nullopt);
    queue.put(delayed{2, due_time::min()});
    EXPECT_EQ(queue.take().number, 2);
    EXPECT_EQ(queue.next_due(), due_time::max());
}

TEST(delay_queue_order, tasks_without_a_due_time_are_due) {
    delay_queue<task> queue;
    bool ran = false;
    queue.put([&] { ran = true; });
    queue.take()();
    EXPECT_TRUE(ran);
}

TEST(delay_queue_looking, everything_is_seen_in_order_of_due_time) {
    delay_queue<delayed> queue;
    const due_time later = from_now(1h);
    queue.put(delayed{3, later + 2s});
    queue.put(delayed{1, long_ago()});
    queue.put(delayed{2, later});
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_EQ(numbers(queue.to_vector()), (std::vector{1, 2, 3}));
    EXPECT_TRUE(queue.contains([](const delayed& x) { return x.number == 3; }));
    EXPECT_EQ(queue.take().number, 1);
    int head = 0;
    EXPECT_TRUE(queue.peek([&](const delayed& x) { head = x.number; }));
    EXPECT_EQ(head, 2);
    EXPECT_EQ(numbers(queue.take_if([](const delayed&) { return true; })), (std::vector{2, 3}));
    EXPECT_TRUE(queue.empty());
}

TEST(delay_queue_looking, next_due_is_that_of_the_head) {
    delay_queue<delayed> queue;
    EXPECT_EQ(queue.next_due(), std::nullopt);
    const due_time later = from_now(1h);
    queue.put(delayed{1, later});
    EXPECT_EQ(queue.next_due(), later);
    queue.put(delayed{2, later - 1s});
    EXPECT_EQ(queue.next_due(), later - 1s);
    queue.remove_if([](const delayed& x) { return x.number == 2; });
    EXPECT_EQ(queue.next_due(), later);
    queue.clear();
    EXPECT_EQ(queue.next_due(), std::nullopt);
}

// ---- Construction and failures

TEST(delay_queue_construction, due_time_is_read_by_the_given_callable) {
    const auto by_value = [](const std::unique_ptr<int>& p) { return long_ago() + std::chrono::seconds{*p}; };
    delay_queue<std::unique_ptr<int>, decltype(by_value)> queue{by_value};
    queue.put(std::make_unique<int>(2));
    queue.put(std::make_unique<int>(1));
    EXPECT_EQ(*queue.take(), 1);
    EXPECT_EQ(*queue.take(), 2);
}

TEST(delay_queue_construction, range_becomes_the_contents) {
    const std::vector<delayed> some{{2, long_ago() + 1s}, {1, long_ago()}};
    delay_queue<delayed> queue{some};
    EXPECT_EQ(queue.take().number, 1);
    EXPECT_EQ(queue.take().number, 2);
    using by_function = delay_queue<int, std::function<due_time(int)>>;
    by_function fifo{std::vector{5, 6}, [](int) { return due_time::min(); }};
    EXPECT_EQ(fifo.take(), 5);
}

TEST(delay_queue_construction, empty_callable_is_refused) {
    using by_function = delay_queue<int, std::function<due_time(int)>>;
    EXPECT_EQ(test::what_of<std::invalid_argument>([] { by_function queue; }), "delay_queue: empty callable");
}

TEST(delay_queue_failure, element_that_cannot_tell_its_due_time_is_not_added) {
    const auto picky = [](const std::unique_ptr<int>& p) {
        return *p < 0 ? throw std::runtime_error("due") : due_time::min();
    };
    delay_queue<std::unique_ptr<int>, decltype(picky)> queue{picky};
    queue.put(std::make_unique<int>(1));
    auto bad = std::make_unique<int>(-1);
    EXPECT_THROW(static_cast<void>(queue.offer(std::move(bad))), std::runtime_error);
    ASSERT_NE(bad, nullptr);
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(*queue.take(), 1);
}

TEST(delay_queue_failure, predicate_that_throws_changes_nothing) {
    delay_queue<delayed> queue{std::vector<delayed>{{1, long_ago()}, {2, long_ago() + 1s}}};
    EXPECT_THROW(queue.remove_if([](const delayed& x) {
        return x.number == 2 ? throw std::runtime_error("predicate") : true;
    }),
                 std::runtime_error);
    EXPECT_EQ(numbers(queue.to_vector()), (std::vector{1, 2}));
}

}  // namespace
