// Stops and nested tasks: a stop of the waiter reaches the task that the waiter runs, never the
// reverse.
#include <chrono>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;

}  // namespace

TEST(pool_nested_stop, a_task_run_by_its_waiter_has_a_stop_token_of_its_own) {
    bool different = false;
    spool::thread_pool_executor pool({.core_size = 1});
    pool.submit([&] {
            const std::stop_token outer = spool::this_task::stop_token();
            const auto inner = pool.submit([] { return spool::this_task::stop_token(); });
            different = !(inner.get() == outer) && spool::this_task::stop_token() == outer;
        })
        .get();
    EXPECT_TRUE(different);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_nested_stop, cancelling_the_waiter_stops_the_task_that_it_runs) {
    test::gate inner_runs;
    std::atomic<bool> inner_stopped{false};
    spool::thread_pool_executor pool({.core_size = 1});
    const auto outer = pool.submit([&] {
        pool.submit([&] {
                inner_runs.open();
                try {
                    spool::this_task::sleep_for(1h);
                } catch (const spool::interrupted&) {
                    inner_stopped = true;
                }
            })
            .get();
    });
    ASSERT_TRUE(inner_runs.opens());
    EXPECT_TRUE(outer.cancel());
    ASSERT_TRUE(test::ends(pool));
    EXPECT_TRUE(inner_stopped);
}

TEST(pool_nested_stop, a_stop_of_the_token_given_to_the_wait_stops_the_task_that_the_waiter_runs) {
    test::gate inner_runs;
    std::stop_source end_of_wait;
    std::atomic<bool> inner_stopped{false};
    std::atomic<bool> outer_stopped{true};
    spool::thread_pool_executor pool({.core_size = 1});
    const auto outer = pool.submit([&] {
        const auto inner = pool.submit([&] {
            inner_runs.open();
            try {
                spool::this_task::sleep_for(1h);
            } catch (const spool::interrupted&) {
                inner_stopped = true;
            }
        });
        inner.wait(end_of_wait.get_token());
        outer_stopped = spool::this_task::stop_requested();
    });
    EXPECT_TRUE(inner_runs.opens());
    end_of_wait.request_stop();
    EXPECT_TRUE(outer.wait_for(test::long_delay()));
    EXPECT_TRUE(inner_stopped);
    EXPECT_FALSE(outer_stopped);
    static_cast<void>(pool.shutdown_now());  // ends the inner task if the stop has not reached it
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(pool_nested_stop, cancelling_the_inner_task_does_not_stop_the_waiter) {
    test::gate inner_runs;
    test::gate inner_known;
    spool::future<void> inner;
    std::atomic<bool> outer_stopped{true};
    std::atomic<bool> inner_stopped{false};
    std::atomic<bool> wait_said_cancelled{false};
    spool::thread_pool_executor pool({.core_size = 1});
    const auto outer = pool.submit([&] {
        inner = pool.submit([&] {
            inner_runs.open();
            try {
                spool::this_task::sleep_for(1h);
            } catch (const spool::interrupted&) {
                inner_stopped = true;
            }
        });
        inner_known.open();
        try {
            spool::future<void>{inner}.get();
        } catch (const spool::cancelled&) {
            wait_said_cancelled = true;
        }
        outer_stopped = spool::this_task::stop_requested();
    });
    ASSERT_TRUE(inner_known.opens() && inner_runs.opens());
    EXPECT_TRUE(inner.cancel());
    ASSERT_TRUE(outer.wait_for(test::long_delay()));
    outer.get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_TRUE(inner_stopped);
    EXPECT_FALSE(outer_stopped);
    EXPECT_TRUE(wait_said_cancelled);
}

TEST(pool_nested_stop, shutdown_now_reaches_a_task_that_its_waiter_runs) {
    test::gate inner_runs;
    std::atomic<bool> inner_stopped{false};
    std::atomic<bool> outer_stopped{false};
    spool::thread_pool_executor pool({.core_size = 1});
    pool.execute([&] {
        const auto inner = pool.submit([&] {
            inner_runs.open();
            try {
                spool::this_task::sleep_for(1h);
            } catch (const spool::interrupted&) {
                inner_stopped = true;
            }
        });
        inner.wait();
        outer_stopped = spool::this_task::stop_requested();
    });
    ASSERT_TRUE(inner_runs.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(inner_stopped);
    EXPECT_TRUE(outer_stopped);
}

TEST(pool_nested_stop, the_next_nested_task_does_not_see_the_stop_of_the_one_before) {
    std::atomic<bool> first_stopped{false};
    std::atomic<bool> second_stopped{true};
    spool::future<void> first;
    spool::thread_pool_executor pool({.core_size = 1});
    pool.submit([&] {
            first = pool.submit([&] {
                first.cancel();
                first_stopped = spool::this_task::stop_requested();
            });
            first.wait();
            second_stopped = pool.submit([] { return spool::this_task::stop_requested(); }).get();
        })
        .get();
    EXPECT_TRUE(first_stopped);
    EXPECT_FALSE(second_stopped);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_nested_stop, a_waiter_that_was_stopped_before_does_not_start_the_task) {
    std::atomic<int> ran{0};
    test::gate ended;
    std::atomic<bool> interrupted{false};
    spool::future<void> self;
    test::gate known;
    spool::thread_pool_executor pool({.core_size = 1});
    self = pool.submit([&] {
        known.wait();
        self.cancel();
        const auto inner = pool.submit([&ran] { ++ran; });
        try {
            inner.get();
        } catch (const spool::interrupted&) {
            interrupted = ran == 0;
        }
        ended.open();
    });
    known.open();
    ASSERT_TRUE(ended.opens());
    ASSERT_TRUE(test::ends(pool));
    EXPECT_TRUE(interrupted);
    EXPECT_EQ(ran, 1);  // a worker ran it later, from the queue
}
