// The additional contract of queues that sort their elements: the order, and delays that have not
// expired.
#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/queue/contract.hpp"

namespace {

using namespace std::chrono_literals;
using spool::priority_blocking_queue;

TEST(priority_queue, PBQ_002_the_constructor_takes_no_initial_capacity) {
    static_assert(!std::constructible_from<priority_blocking_queue<int>, std::size_t>);
    static_assert(!std::constructible_from<priority_blocking_queue<int>, int>);
}

TEST(priority_queue, PBQ_007_a_reversing_comparator_gives_the_largest_first) {
    priority_blocking_queue<int, std::greater<>> queue;
    EXPECT_EQ(queue.offer_all(test::arrivals<test::priority>()), test::numbers().size());
    for (int n = test::size - 1; n >= 0; --n) {
        EXPECT_EQ(queue.poll(), n);
    }
}

TEST(priority_queue, PBQ_007_a_comparator_object_also_orders_the_initial_elements) {
    using by_function = std::function<bool(const std::string&, const std::string&)>;
    const std::vector<std::string> words{"ccc", "a", "bb"};
    const by_function longer = [](const std::string& a, const std::string& b) { return a.size() > b.size(); };
    priority_blocking_queue<std::string, by_function> queue(words, longer);
    EXPECT_EQ(queue.take(), "ccc");
    EXPECT_EQ(queue.take(), "bb");
    EXPECT_EQ(queue.take(), "a");
}

// Compares numbers; throws for negative ones.
struct fussy {
    bool operator()(int a, int b) const {
        if (a < 0 || b < 0) {
            throw std::domain_error("not comparable");
        }
        return a < b;
    }
};

TEST(priority_queue, PBQ_011_an_element_that_cannot_be_compared_is_refused_and_changes_nothing) {
    priority_blocking_queue<int, fussy> queue;
    EXPECT_TRUE(queue.offer(2));
    EXPECT_THROW(static_cast<void>(queue.offer(-1)), std::domain_error);
    EXPECT_THROW(queue.put(-1), std::domain_error);
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_TRUE(queue.offer(1));
    EXPECT_EQ(test::polled(queue), (std::vector<int>{1, 2}));
    test::expect_empty(queue);
}

// ---- Delays

struct delayed {
    int number;
    spool::due_time when;
    [[nodiscard]] spool::due_time due() const { return when; }
};
using delays = spool::delay_queue<delayed>;

delayed never_due(int number) {
    return {number, spool::due_time::max()};
}

TEST(delay_queue, DQ_038_elements_come_earliest_first_and_none_before_its_time) {
    delays queue;
    const spool::due_time start = std::chrono::steady_clock::now();
    for (int n = test::size; n > 0; --n) {
        EXPECT_TRUE(queue.offer({n, start + n * 1ms}));
    }
    for (int n = 1; n <= test::size; ++n) {
        const delayed taken = queue.take();
        EXPECT_GE(std::chrono::steady_clock::now(), taken.due());
        EXPECT_EQ(taken.number, n);
    }
    EXPECT_TRUE(queue.empty());
}

TEST(delay_queue, DQ_039_peek_shows_an_element_that_is_not_due) {
    delays queue;
    EXPECT_TRUE(queue.offer(never_due(7)));
    int seen = 0;
    EXPECT_TRUE(queue.peek([&](const delayed& x) { seen = x.number; }));
    EXPECT_EQ(seen, 7);
}

TEST(delay_queue, DQ_040_poll_returns_nothing_if_the_only_element_is_not_due) {
    delays queue;
    EXPECT_TRUE(queue.offer(never_due(7)));
    EXPECT_FALSE(queue.poll().has_value());
    EXPECT_FALSE(queue.poll_for(0s).has_value());
    EXPECT_EQ(queue.size(), 1U);
}

TEST(delay_queue, DQ_041_timed_poll_with_a_limit_below_the_delay_times_out) {
    delays queue;
    EXPECT_TRUE(queue.offer({7, std::chrono::steady_clock::now() + test::long_delay()}));
    test::expect_waits_out([&](auto d) { EXPECT_FALSE(queue.poll_for(d).has_value()); });
    EXPECT_EQ(queue.size(), 1U);
}

TEST(delay_queue, DQ_042_draining_leaves_elements_that_are_not_due) {
    delays queue;
    EXPECT_TRUE(queue.offer(never_due(3)));
    EXPECT_TRUE(queue.offer({2, spool::due_time{2ns}}));
    EXPECT_TRUE(queue.offer({1, spool::due_time{1ns}}));
    std::vector<delayed> out;
    EXPECT_EQ(queue.drain_to(out), 2U);
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(out[0].number, 1);
    EXPECT_EQ(out[1].number, 2);
    EXPECT_EQ(queue.size(), 1U);
}

}  // namespace
