// A pool that can start no thread: what happens to its queued tasks when it ends, and how the user
// learns of it.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;

// A factory that makes no thread until `works` is set.
class factory_without_threads : public testing::TestWithParam<bool> {
protected:
    [[nodiscard]] spool::thread_factory factory() {
        return [this, throws = GetParam()](spool::task body, const spool::worker_info&) {
            if (works) {
                return spool::worker_thread{std::thread{std::move(body)}};
            }
            if (throws) {
                throw std::runtime_error("no thread today");
            }
            return spool::worker_thread{};
        };
    }
    std::atomic<bool> works{false};
};
INSTANTIATE_TEST_SUITE_P(ways, factory_without_threads, testing::Bool(), [](const auto& instance) {
    return instance.param ? "throws" : "returns_no_thread";
});

struct later {
    spool::due_time when = spool::due_time::clock::now() + 1h;
    void operator()() const {}
    [[nodiscard]] spool::due_time due() const { return when; }
};

}  // namespace

TEST_P(factory_without_threads, lets_a_wait_for_the_end_without_limit_run_what_is_queued) {
    test::record<std::thread::id> threads;
    auto queue = std::make_unique<spool::linked_blocking_queue<spool::task>>();
    queue->put([&threads] { threads.add(std::this_thread::get_id()); });
    queue->put([&threads] { threads.add(std::this_thread::get_id()); });
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::move(queue), .thread_factory = factory()});
    pool.shutdown();
    EXPECT_FALSE(pool.await_termination(1ms));
    EXPECT_EQ(threads.size(), 0U);
    EXPECT_TRUE(pool.await_termination_until(spool::deadline::never(), {}));
    EXPECT_EQ(threads.count(std::this_thread::get_id()), 2U);
    EXPECT_TRUE(pool.is_terminated());
}

// A thread already waits for termination when the last chance to start a worker is gone.
TEST_P(factory_without_threads, is_noticed_by_one_who_waits_for_the_end_already) {
    std::atomic<int> ran{0};
    auto queue = std::make_unique<spool::linked_blocking_queue<spool::task>>();
    queue->put([&ran] { ++ran; });
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::move(queue), .thread_factory = factory()});
    std::thread waiter{[&] { pool.await_termination_until(spool::deadline::never(), {}); }};
    pool.shutdown();
    waiter.join();
    EXPECT_EQ(ran, 1);
    EXPECT_TRUE(pool.is_terminated());
}

TEST_P(factory_without_threads, is_told_by_describe_until_a_thread_starts) {
    spool::thread_pool_executor pool({.name = "none", .core_size = 1, .thread_factory = factory()});
    EXPECT_FALSE(test::contains(pool.describe(), "no thread can be started")) << pool.describe();
    EXPECT_FALSE(pool.prestart_core_thread());
    const std::string why = GetParam() ? ": no thread today" : "";
    EXPECT_TRUE(test::contains(pool.describe(), "no thread can be started" + why)) << pool.describe();
    works = true;
    EXPECT_TRUE(pool.prestart_core_thread());
    EXPECT_FALSE(test::contains(pool.describe(), "no thread can be started")) << pool.describe();
    ASSERT_TRUE(test::ends(pool));
}

// The task is not due for an hour. Meanwhile a stop of the task that waits must not be overlooked.
TEST_P(factory_without_threads, lets_a_stop_end_the_wait_for_a_task_that_is_not_due) {
    std::atomic<bool> interrupted{false};
    std::atomic<bool> closed{false};
    test::gate waits;
    test::gate closes;
    auto queue = std::make_unique<spool::delay_queue<spool::task>>();
    queue->put(later{});
    spool::thread_pool_executor other({.core_size = 1});
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::move(queue), .thread_factory = factory()});
    pool.shutdown();
    const auto waiter = other.submit([&] {
        waits.open();
        try {
            pool.await_termination_until(spool::deadline::never(), spool::this_task::stop_token());
        } catch (const spool::interrupted&) {
            interrupted = true;
        }
    });
    ASSERT_TRUE(waits.opens());
    EXPECT_TRUE(waiter.cancel());
    ASSERT_TRUE(test::eventually([&] { return interrupted.load(); }));
    const auto closer = other.submit([&] {
        closes.open();
        pool.close();
        closed = true;
    });
    ASSERT_TRUE(closes.opens());
    EXPECT_TRUE(closer.cancel());
    EXPECT_TRUE(test::eventually([&] { return closed.load(); }));
    ASSERT_TRUE(test::ends(other));
    EXPECT_TRUE(pool.is_terminated());
}
