// Waits that are no deadlock are not reported. Each test waits until the watch knows its waits, and
// then makes the watch look.
#include <array>
#include <functional>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "unit/pool/deadlock/deadlock_helpers.hpp"

namespace {

using spool::deadlock_policy;
using spool::thread_pool_executor;
using namespace std::chrono_literals;

bool watched(std::size_t n) {
    return test::eventually([n] { return spool::deadlock_watch::waiting() == n; });
}

TEST(deadlock_silence, about_a_slow_task) {
    test::reports told;
    test::busy_workers busy;
    thread_pool_executor a(test::of_size(1, "a", deadlock_policy::report(told.handler())));
    thread_pool_executor b(test::of_size(1, "b", deadlock_policy::report(told.handler())));
    busy.hold(b);
    const auto waiter = a.submit([&] { return b.submit([] { return 1; }).get(); });
    ASSERT_TRUE(watched(1));
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    busy.release();
    EXPECT_EQ(waiter.get(), 1);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_waits_with_a_limit) {
    spool::future<bool> first;
    spool::future<bool> second;
    std::array<test::gate, 2> begun;
    test::gate known;
    test::reports told;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::report(told.handler())));
    first = pool.submit([&] {
        begun[0].open();
        known.wait();
        return second.wait_for(test::medium_delay());
    });
    second = pool.submit([&] {
        begun[1].open();
        known.wait();
        return first.wait_for(2 * test::medium_delay());
    });
    ASSERT_TRUE(begun[0].opens() && begun[1].opens());
    known.open();
    EXPECT_FALSE(first.get());
    EXPECT_TRUE(second.get());
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_future_that_anybody_could_complete) {
    spool::future_task<int> by_hand{[] { return 0; }};
    const spool::future<int> handle = by_hand;
    test::reports told;
    thread_pool_executor pool(test::of_size(1, "a", deadlock_policy::report(told.handler())));
    const auto waiter = pool.submit([&] { return handle.get(); });
    const auto queued = pool.submit([] { return 1; });
    ASSERT_TRUE(watched(1));
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    by_hand.set_value(5);
    EXPECT_EQ(waiter.get() + queued.get(), 6);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_pool_that_can_still_grow) {
    test::reports told;
    test::two_pools_that_wait waits;
    const auto policy = deadlock_policy::report(told.handler());
    thread_pool_executor a(test::of_size(1, "a", policy));
    thread_pool_executor b(
        {.name = "b", .core_size = 1, .maximum_size = 2, .queue = test::bounded(5), .on_deadlock = policy});
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    ASSERT_TRUE(watched(2));
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    for (int i = 0; i < 5; ++i) {
        b.execute([] {});  // the queue is full, so the pool grows
    }
    EXPECT_EQ(waits.first.get() + waits.second.get(), 2);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_pool_with_one_more_worker) {
    test::reports told;
    test::two_pools_that_wait waits;
    const auto policy = deadlock_policy::report(told.handler());
    test::busy_workers busy;
    thread_pool_executor a(test::of_size(1, "a", policy));
    thread_pool_executor b(test::of_size(2, "b", policy));
    const test::open_at_end release{busy.release_gate()};
    busy.hold(b);
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    ASSERT_TRUE(watched(2));
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    busy.release();
    EXPECT_EQ(waits.first.get() + waits.second.get(), 2);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_chain_of_waits_whose_last_goes_on) {
    std::array<spool::future<int>, 4> chain;
    std::array<test::gate, 4> begun;
    test::reports told;
    test::busy_workers busy;
    thread_pool_executor pool(test::of_size(4, "a", deadlock_policy::report(told.handler())));
    const test::open_at_end release{busy.release_gate()};
    for (std::size_t i = 0; i < 4; ++i) {
        chain[i] = pool.submit([&, i] {
            begun[i].open();
            if (i == 0) {
                busy.release_gate().wait();
                return 0;
            }
            return 1 + chain[i - 1].get();
        });
        ASSERT_TRUE(begun[i].opens());
    }
    ASSERT_TRUE(watched(3));
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    busy.release();
    EXPECT_EQ(chain[3].get(), 3);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_future_that_a_worker_runs_by_hand) {
    spool::future<int> waiter;
    test::gate begun;
    test::gate known;
    test::gate runs;
    spool::future_task<int> by_hand{[&] {
        runs.open();
        return waiter.get();
    }};
    const spool::future<int> handle = by_hand;
    test::reports told;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::report(told.handler())));
    waiter = pool.submit([&] {
        begun.open();
        known.wait();
        return handle.get();
    });
    // Otherwise the worker in by_hand.run() would run this body itself.
    ASSERT_TRUE(begun.opens());
    pool.execute([&] { by_hand.run(); });
    ASSERT_TRUE(runs.opens());
    known.open();
    ASSERT_TRUE(watched(2));
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    by_hand.set_value(5);  // any thread could do this
    EXPECT_EQ(waiter.get(), 5);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_waits_that_were_asked_to_stop) {
    std::array<test::gate, 2> begun;
    test::gate both;
    std::stop_source stop;
    test::gate in_callback;
    test::gate leave_callback;
    test::reports told;
    const auto policy = deadlock_policy::report(told.handler());
    thread_pool_executor a(test::of_size(1, "a", policy));
    thread_pool_executor b(
        {.name = "b", .core_size = 1, .maximum_size = 2, .queue = test::bounded(5), .on_deadlock = policy});
    const auto first = a.submit([&] {
        begun[0].open();
        both.wait();
        try {
            return b.submit([] { return 1; }).get(stop.get_token());
        } catch (const spool::interrupted&) {
            return 7;
        }
    });
    const auto second = b.submit([&] {
        begun[1].open();
        both.wait();
        return a.submit([] { return 2; }).get();
    });
    ASSERT_TRUE(begun[0].opens() && begun[1].opens());
    both.open();
    ASSERT_TRUE(watched(2));
    // The newest callback is called first. It blocks, so the wait does not learn of its stop for a
    // while.
    const std::stop_callback slow{stop.get_token(), [&] {
                                      in_callback.open();
                                      leave_callback.wait();
                                  }};
    std::jthread stopper{[&] { stop.request_stop(); }};
    const test::open_at_end release{leave_callback};
    ASSERT_TRUE(in_callback.opens());
    b.set_maximum_size(1);  // now only the stop can end the waits
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    leave_callback.open();
    EXPECT_EQ(first.get(), 7);
    EXPECT_EQ(second.get(), 2);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_worker_that_is_in_a_wait_of_another_kind) {
    test::reports told;
    test::gate outside;
    test::gate slow_runs;
    spool::future<int> slow;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::report(told.handler())));
    const test::open_at_end release{outside};
    slow = pool.submit([&] {
        slow_runs.open();
        outside.wait();  // a plain condition variable: this wait may end at any time
        return 1;
    });
    ASSERT_TRUE(slow_runs.opens());
    const auto waiter = pool.submit([&] { return slow.get(); });
    ASSERT_TRUE(watched(1));
    EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    outside.open();
    EXPECT_EQ(waiter.get(), 1);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_nested_waits_that_run_what_they_wait_for) {
    test::reports told;
    thread_pool_executor pool(test::of_size(1, "a", deadlock_policy::report(told.handler())));
    const std::function<int(int)> down = [&](int n) -> int {
        return n == 0 ? 0 : 1 + pool.submit([&, n] { return down(n - 1); }).get();
    };
    EXPECT_EQ(pool.submit([&] { return down(50); }).get(), 50);
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_wait_whose_stop_was_requested) {
    test::reports told;
    test::circle_of_two circle;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::report(told.handler())));
    circle.start(pool, pool);
    std::ignore = pool.shutdown_now();  // asks both tasks to stop, which ends their waits
    ASSERT_TRUE(circle.close());
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(told.size(), 0U);
}

TEST(deadlock_silence, about_a_circle_that_a_thread_outside_of_the_pools_is_part_of) {
    spool::future_task<int> outside{[&] { return 3; }};
    const spool::future<int> handle = outside;
    test::reports told;
    thread_pool_executor pool(test::of_size(1, "a", deadlock_policy::report(told.handler())));
    const auto waiter = pool.submit([&] { return handle.get(); });
    ASSERT_TRUE(watched(1));
    std::jthread runner{[&] { outside.run(); }};
    EXPECT_EQ(waiter.get(), 3);
    EXPECT_EQ(told.size(), 0U);
}

}  // namespace
