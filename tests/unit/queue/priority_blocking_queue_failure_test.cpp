// priority_blocking_queue: whatever throws, and whenever, nothing changes and nothing is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "spool/queue/priority_blocking_queue.hpp"
#include "support/delays.hpp"

namespace {

using spool::priority_blocking_queue;
using spool::task;

struct comparison_failed : std::runtime_error {
    comparison_failed() : std::runtime_error("comparison") {}
};

// The n-th comparison from now on throws; none if n is 0.
struct failing_plan {
    int calls_until_failure = 0;
};
struct failing_less {
    failing_plan* plan;
    bool operator()(const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) const {
        if (plan->calls_until_failure > 0 && --plan->calls_until_failure == 0) {
            throw comparison_failed{};
        }
        return *a < *b;
    }
};
using fragile_queue = priority_blocking_queue<std::unique_ptr<int>, failing_less>;

class priority_queue_failure : public testing::Test {
protected:
    static constexpr int count = 40;

    priority_queue_failure() {
        for (int i = 0; i < count; ++i) {
            queue_.put(std::make_unique<int>(i * 17 % count));
        }
    }
    [[nodiscard]] std::vector<int> contents() const {
        std::vector<int> all;
        queue_.for_each([&](const auto& p) { all.push_back(*p); });
        return all;
    }
    // Calls `f()` with its first comparison failing, then its second, and so on until it succeeds.
    // Returns how often it failed.
    template <class F>
    int fail_at_each(F f) {
        const std::vector<int> before = contents();
        for (int n = 1;; ++n) {
            plan_.calls_until_failure = n;
            try {
                f();
                plan_ = {};
                return n - 1;
            } catch (const comparison_failed&) {
                EXPECT_EQ(contents(), before) << "comparison " << n;
                EXPECT_EQ(queue_.size(), before.size());
            }
        }
    }

    failing_plan plan_;
    fragile_queue queue_{failing_less{&plan_}};
};

TEST_F(priority_queue_failure, comparator_that_throws_while_adding_changes_nothing) {
    auto least = std::make_unique<int>(-1);
    const int failures = fail_at_each([&] {
        const bool added = queue_.offer(std::move(least));
        EXPECT_TRUE(added);
    });
    EXPECT_GE(failures, 5);  // compared on every level up to the root
    EXPECT_EQ(least, nullptr);
    EXPECT_EQ(*queue_.take(), -1);
}

TEST_F(priority_queue_failure, element_that_could_not_be_added_is_untouched) {
    auto least = std::make_unique<int>(-1);
    plan_.calls_until_failure = 3;
    EXPECT_THROW(queue_.put(std::move(least)), comparison_failed);
    ASSERT_NE(least, nullptr);
    EXPECT_EQ(*least, -1);
    plan_.calls_until_failure = 1;
    EXPECT_THROW(static_cast<void>(queue_.offer_for(std::move(least), test::long_delay())),
                 comparison_failed);
    ASSERT_NE(least, nullptr);
}

TEST_F(priority_queue_failure, comparator_that_throws_while_taking_loses_nothing) {
    for (int expected = 0; expected < count; ++expected) {
        std::optional<std::unique_ptr<int>> head;
        fail_at_each([&] { head = queue_.poll(); });
        ASSERT_TRUE(head.has_value());
        EXPECT_EQ(**head, expected);
    }
    EXPECT_TRUE(queue_.empty());
}

TEST_F(priority_queue_failure, comparator_that_throws_while_removing_changes_nothing) {
    std::vector<std::unique_ptr<int>> taken;
    const int failures =
        fail_at_each([&] { taken = queue_.take_if([](const auto& p) { return *p % 3 == 0; }); });
    EXPECT_GT(failures, count);
    EXPECT_EQ(taken.size(), 14U);
    EXPECT_EQ(queue_.size(), 26U);
}

TEST_F(priority_queue_failure, comparator_that_throws_while_looking_changes_nothing) {
    const int failures = fail_at_each([&] { queue_.for_each([](const auto&) {}); });
    EXPECT_GT(failures, count);
}

TEST_F(priority_queue_failure, predicate_that_throws_changes_nothing) {
    const std::vector<int> before = contents();
    for (int bad = 0; bad < count; ++bad) {
        EXPECT_THROW(queue_.remove_if([bad](const auto& p) {
            return *p == bad ? throw std::runtime_error("predicate") : true;
        }),
                     std::runtime_error);
        ASSERT_EQ(contents(), before);
    }
}

// The failed call has released the lock, and the next call gets the element.
TEST_F(priority_queue_failure, taker_that_fails_leaves_the_queue_usable) {
    plan_.calls_until_failure = 1;
    EXPECT_THROW(static_cast<void>(queue_.take()), comparison_failed);
    EXPECT_EQ(*queue_.take(), 0);
}

TEST(priority_queue_of_tasks, task_that_cannot_tell_its_priority_is_not_added) {
    struct speechless {
        void operator()() const {}
        [[nodiscard]] int priority() const { throw std::runtime_error("priority"); }
    };
    priority_blocking_queue<task> queue;
    queue.put([] {});
    task work = speechless{};
    EXPECT_THROW(static_cast<void>(queue.offer(std::move(work))), std::runtime_error);
    EXPECT_FALSE(work.empty());
    EXPECT_EQ(queue.size(), 1U);
}

}  // namespace
