// A pool over a priority_blocking_queue: queued tasks run by priority, ties by arrival.
#include <algorithm>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

std::unique_ptr<spool::blocking_queue<spool::task>> by_priority() {
    return std::make_unique<spool::priority_blocking_queue<spool::task>>();
}

struct entry {
    int priority;
    int arrival;
    bool operator==(const entry&) const = default;
};

// Queues 100 tasks of random priority behind one busy worker, and returns the order in which they
// ran.
template <class Submit>
std::vector<entry> order_of_hundred(Submit submit, bool task_times = false) {
    test::record<entry> ran;
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .queue = by_priority(), .task_times = task_times});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    EXPECT_TRUE(busy.started());
    std::minstd_rand random{4711};
    for (int i = 0; i < 100; ++i) {
        const int priority = static_cast<int>(random() % 10) - 5;
        submit(pool, spool::with_priority(priority, [&ran, priority, i] { ran.add({priority, i}); }));
    }
    busy.release();
    EXPECT_TRUE(test::ends(pool));
    return ran.all();
}

void expect_in_order(const std::vector<entry>& ran) {
    EXPECT_EQ(ran.size(), 100U);
    std::vector<entry> expected = ran;
    std::sort(expected.begin(), expected.end(), [](const entry& a, const entry& b) {
        return std::pair{-a.priority, a.arrival} < std::pair{-b.priority, b.arrival};
    });
    EXPECT_EQ(ran, expected);
}

TEST(pool_with_priority_queue, executed_tasks_run_by_priority_then_by_arrival) {
    const auto execute = [](auto& pool, auto f) { pool.execute(std::move(f)); };
    expect_in_order(order_of_hundred(execute));
    expect_in_order(order_of_hundred(execute, true));
}

TEST(pool_with_priority_queue, submitted_tasks_run_by_priority_then_by_arrival) {
    const auto submit = [](auto& pool, auto f) { static_cast<void>(pool.submit(std::move(f))); };
    expect_in_order(order_of_hundred(submit));
    expect_in_order(order_of_hundred(submit, true));
}

TEST(pool_with_priority_queue, shutdown_now_hands_back_by_priority) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .queue = by_priority()});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    for (const int priority : {1, 3, 2}) {
        pool.execute(spool::with_priority(priority, [] {}));
    }
    std::vector<int> priorities;
    for (const spool::task& t : pool.shutdown_now()) {
        priorities.push_back(t.priority());
    }
    EXPECT_EQ(priorities, (std::vector{3, 2, 1}));
}

// The submitter gets the exception, and the queue is unchanged.
TEST(pool_with_priority_queue, task_that_cannot_tell_its_priority_is_refused_to_its_submitter) {
    struct speechless {
        void operator()() const {}
        [[nodiscard]] int priority() const { throw std::runtime_error("priority"); }
    };
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .queue = by_priority()});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    pool.execute([&ran] { ++ran; });
    EXPECT_THROW(pool.execute(speechless{}), std::runtime_error);
    EXPECT_EQ(pool.queue().size(), 1U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

// A comparator throws on a worker: the pool reports it and replaces the worker, and no task is
// lost.
TEST(pool_with_priority_queue, comparator_that_throws_on_a_worker_loses_no_task) {
    struct fragile {
        std::shared_ptr<std::atomic<int>> failures;
        bool operator()(const spool::task& a, const spool::task& b) const {
            int left = failures->load();
            if (left > 0 && failures->compare_exchange_strong(left, left - 1)) {
                throw std::runtime_error("comparator");
            }
            return a.id() < b.id();
        }
    };
    const auto failures = std::make_shared<std::atomic<int>>(0);
    std::atomic<int> ran{0};
    std::atomic<int> reported{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .queue = std::make_unique<spool::priority_blocking_queue<spool::task, fragile>>(fragile{failures}),
         .uncaught = [&reported](const spool::worker_info&, const std::exception_ptr&) { ++reported; }});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    for (int i = 0; i < 20; ++i) {
        pool.execute([&ran] { ++ran; });
    }
    *failures = 3;
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(reported, 3);
}

}  // namespace
