// shutdown_and_await and close(): the orderly end of a service.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "spool/executor/executor_service.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/any_timeout.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "unit/executor/direct_service.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using namespace std::chrono_literals;
using spool::shutdown_and_await;
using spool::thread_per_task_executor;

TEST(shutdown_and_await, ends_in_the_first_phase_when_the_tasks_end_in_their_grace) {
    std::atomic<bool> stopped{false};
    test::gate release;
    thread_per_task_executor threads;
    threads.execute([&](std::stop_token stop) {
        release.wait();
        stopped = stop.stop_requested();
    });
    release.open();
    const auto end = shutdown_and_await(threads, test::long_delay(), 0ns);
    EXPECT_TRUE(end.terminated);
    EXPECT_TRUE(end.never_ran.empty());
    EXPECT_TRUE(threads.is_terminated());
    EXPECT_FALSE(stopped);
}

TEST(shutdown_and_await, asks_to_stop_in_the_second_phase) {
    test::gate running;
    thread_per_task_executor threads;
    threads.execute([&] {
        running.open();
        spool::this_task::sleep_for(1h);
    });
    ASSERT_TRUE(running.opens());
    const auto took = test::time_of([&] {
        const auto end = shutdown_and_await(threads, test::short_delay(), test::long_delay());
        EXPECT_TRUE(end.terminated);
    });
    EXPECT_GE(took, test::short_delay());
    EXPECT_TRUE(threads.is_terminated());
}

TEST(shutdown_and_await, returns_false_if_a_task_does_not_stop) {
    test::gate release;
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    threads.execute([&] { release.wait(); });
    const auto took = test::time_of([&] {
        EXPECT_FALSE(shutdown_and_await(threads, test::short_delay(), test::short_delay()).terminated);
    });
    EXPECT_GE(took, 2 * test::short_delay());
    EXPECT_TRUE(threads.is_terminating());
}

TEST(shutdown_and_await, hands_back_the_tasks_that_never_ran_in_order) {
    std::vector<int> order;
    test::manual_service service;
    for (const int i : {1, 2, 3}) {
        service.execute([&order, i] { order.push_back(i); });
    }
    const auto waits = service.submit([] {});
    auto end = shutdown_and_await(service, 0s, 0s);
    EXPECT_TRUE(end.terminated);
    ASSERT_EQ(end.never_ran.size(), 4U);
    for (std::size_t i = 0; i < 3; ++i) {
        end.never_ran[i]();
    }
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_FALSE(waits.is_done());
    end.never_ran.clear();
    EXPECT_TRUE(waits.is_cancelled());
}

TEST(shutdown_and_await, an_interruption_goes_straight_to_the_second_phase_and_then_ends_the_wait) {
    test::gate release;
    test::gate task_stopped;
    test::gate waiting;
    test::gate ended;
    std::atomic<bool> terminated{true};
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    threads.execute([&](std::stop_token stop) {  // is told to stop, but does not end
        const std::stop_callback on_stop{stop, [&] { task_stopped.open(); }};
        release.wait();
    });
    thread_per_task_executor caller;
    caller.execute([&] {
        waiting.open();
        terminated =
            shutdown_and_await(threads, std::chrono::hours::max(), std::chrono::hours::max()).terminated;
        ended.open();
    });
    ASSERT_TRUE(waiting.opens());
    caller.shutdown_now();
    EXPECT_TRUE(ended.opens());
    EXPECT_TRUE(task_stopped.opens());
    EXPECT_FALSE(terminated);
}

TEST(shutdown_and_await, any_grace_is_safe) {
    test::for_any_timeout([](auto grace) {
        test::direct_service ended;
        EXPECT_TRUE(shutdown_and_await(ended, grace, grace).terminated);
        test::manual_service holding;
        holding.execute([] {});
        EXPECT_EQ(shutdown_and_await(holding, 0ns, grace).never_ran.size(), 1U);
        if (grace.count() <= 0) {
            test::manual_service holding_too;
            holding_too.execute([] {});
            EXPECT_TRUE(shutdown_and_await(holding_too, grace, 0ns).terminated);
        }
    });
}

TEST(executor_service_close, waits_until_the_service_has_terminated) {
    test::manual_service service;
    bool ran = false;
    service.execute([&] { ran = true; });
    std::jthread worker{[&] {
        if (test::eventually([&] { return service.is_shutdown(); })) {
            service.run_all();
        }
    }};
    service.close();
    EXPECT_TRUE(service.is_terminated());
    worker.join();
    EXPECT_TRUE(ran);
}

TEST(executor_service_close,
     after_an_interruption_destroys_the_tasks_handed_back_and_still_waits_for_termination) {
    test::gate closing;
    test::manual_service service;
    const auto held = service.submit([] { return 1; });
    std::atomic<bool> terminated{false};
    {
        thread_per_task_executor caller;
        caller.execute([&] {
            closing.open();
            service.close();
            terminated = service.is_terminated();
        });
        ASSERT_TRUE(closing.opens());
        caller.shutdown_now();
    }
    EXPECT_TRUE(terminated);
    EXPECT_TRUE(held.is_cancelled());
}

}  // namespace
