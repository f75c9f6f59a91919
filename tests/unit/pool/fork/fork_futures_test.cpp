// Futures in a forked child.
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/fork/fork_helpers.hpp"

namespace {

using spool::thread_pool_executor;
using namespace std::chrono_literals;

// A pool with one future that a worker runs, and one that is queued.
struct three_futures {
    test::busy_workers busy;
    thread_pool_executor pool{{.core_size = 1}};
    test::gate begun;
    spool::future<int> running = pool.submit([this] {
        begun.open();
        busy.release_gate().wait();
        return 1;
    });
    spool::future<int> queued = pool.submit([] { return 2; });
    const test::open_at_end release{busy.release_gate()};
};

TEST(future_fork, what_was_queued_or_running_says_cancelled_and_nobody_waits) {
    three_futures f;
    ASSERT_TRUE(f.begun.opens());
    const test::child_end end = test::in_child([&] {
        const auto throws_cancelled = [](const spool::future<int>& one) {
            try {
                static_cast<void>(one.get());
            } catch (const spool::cancelled&) {
                return one.is_done() && one.is_cancelled() && one.wait_for(0s) && !one.cancel() &&
                       one.state() == spool::future_state::cancelled;
            }
            return false;
        };
        return test::first_wrong(throws_cancelled(f.running), throws_cancelled(f.queued));
    });
    EXPECT_EQ(end.status, 0) << end.said;
    f.busy.release();
    EXPECT_EQ(f.running.get() + f.queued.get(), 3);
}

TEST(future_fork, what_was_done_stays_done) {
    thread_pool_executor pool({.core_size = 1});
    const auto done = pool.submit([] { return 7; });
    done.wait();
    EXPECT_EQ(test::in_child([&] { return done.get() == 7 ? 0 : 1; }).status, 0);
}

TEST(future_fork, callbacks_of_the_child_are_called_and_those_of_the_parent_are_not) {
    three_futures f;
    std::atomic<int> called{0};
    f.queued.on_done([&] { ++called; });
    const test::child_end end = test::in_child([&] {
        f.queued.wait();
        const int before = called;
        f.queued.on_done([&] { called += 10; });
        return test::first_wrong(before == 0, called == 10);
    });
    EXPECT_EQ(end.status, 0) << end.said;
    f.busy.release();
    f.queued.wait();
    EXPECT_TRUE(test::ends(f.pool));
    EXPECT_EQ(called, 1);
}

TEST(future_fork, the_childs_copy_of_a_queued_callable_is_not_destroyed) {
    struct witness {
        std::atomic<int>* gone;
        ~witness() { ++*gone; }
    };
    std::atomic<int> gone{0};
    test::busy_workers busy;
    auto pool = std::make_unique<thread_pool_executor>(spool::pool_options{.core_size = 1});
    const test::open_at_end release{busy.release_gate()};
    busy.hold(*pool);
    auto queued = pool->submit([w = std::make_shared<witness>(&gone)] {});
    const test::child_end end = test::in_child([&] {
        queued.wait();
        queued = {};
        pool.reset();
        return gone.load();
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(future_fork, one_that_no_pool_has_can_be_run_or_set_in_the_child) {
    const thread_pool_executor pool({.core_size = 1});
    spool::future_task<int> by_run{[] { return 3; }};
    spool::future_task<int> by_hand{[] { return 0; }};
    spool::future_task<int> by_pool{[] { return 5; }};
    const spool::future<int> from_pool = by_pool;
    const test::child_end end = test::in_child([&] {
        const bool pending = !by_run.is_done() && !by_hand.is_done();
        std::jthread runner{[&] { by_run.run(); }};
        by_hand.set_value(4);
        thread_pool_executor own({.core_size = 1});
        own.execute(std::move(by_pool));
        return test::first_wrong(pending, by_run.get() == 3, by_hand.get() == 4, from_pool.get() == 5);
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(future_fork, ids_of_the_child_are_not_those_of_the_parent) {
    const spool::task_id before = spool::task{[] {}}.id();
    const test::child_end end = test::in_child([&] { return spool::task{[] {}}.id() > before + 1 ? 0 : 1; });
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(spool::task{[] {}}.id(), before + 1);
}

TEST(future_fork, a_task_with_a_due_time_in_a_delay_queue_says_cancelled) {
    struct later {
        void operator()() const {}
        [[nodiscard]] static spool::due_time due() {
            return spool::due_time::clock::now() + std::chrono::hours{1};
        }
    };
    thread_pool_executor pool({.core_size = 1, .queue = std::make_unique<spool::delay_queue<spool::task>>()});
    pool.submit([] {}).get();  // the worker exists, so the next task is queued
    const auto waiting = pool.submit(later{});
    const test::child_end end = test::in_child([&] {
        waiting.wait();
        return waiting.is_cancelled() ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.said;
    static_cast<void>(pool.shutdown_now());
}

}  // namespace
