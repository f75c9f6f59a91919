// close() and the destructor, called from everywhere that a program may call them.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using pool_ptr = std::unique_ptr<spool::thread_pool_executor>;

struct ending_hooks : spool::pool_hooks {
    void worker_started(const spool::worker_info&) override { ++workers; }
    void worker_stopped(const spool::worker_info&) override { --workers; }
    void terminated() override {
        workers_at_end = workers.load();
        ++ends;
    }
    std::atomic<int> workers{0};
    std::atomic<int> workers_at_end{-1};
    std::atomic<int> ends{0};
};

// Destroys the pool at the end of a thread that belongs to no pool.
struct at_thread_end {
    pool_ptr pool;
};

}  // namespace

TEST(pool_close, of_a_pool_that_never_had_a_task_ends_at_once) {
    const auto hooks = std::make_shared<ending_hooks>();
    { const spool::thread_pool_executor pool({.core_size = 3, .hooks = hooks}); }
    EXPECT_EQ(hooks->ends, 1);
}

TEST(pool_close, inside_a_task_runs_the_rest_of_the_queue_there_and_waits_for_the_others) {
    std::atomic<int> ran{0};
    std::atomic<bool> all_ran{false};
    std::atomic<std::size_t> left{99};
    spool::thread_pool_executor pool({.core_size = 2});
    test::gate queued;
    pool.execute([&] {
        queued.wait();
        pool.close();
        all_ran = ran == 50;
        left = pool.pool_size();
    });
    for (int i = 0; i < 50; ++i) {
        pool.execute([&ran] { ++ran; });
    }
    queued.open();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(all_ran);
    EXPECT_EQ(left, 1U);
    EXPECT_EQ(pool.completed_task_count(), 51U);
}

TEST(pool_destruction, inside_a_task_of_its_own_runs_the_rest_of_the_queue_and_ends_the_pool) {
    const auto hooks = std::make_shared<ending_hooks>();
    std::atomic<int> ran{0};
    test::gate queued;
    test::gate done;
    std::atomic<int> ran_by_then{0};
    std::atomic<int> ends_by_then{0};
    auto* const pool = new spool::thread_pool_executor({.core_size = 1, .hooks = hooks});
    pool->execute([&, pool] {
        queued.wait();
        delete pool;
        ran_by_then = ran.load();
        ends_by_then = hooks->ends.load();
        done.open();
    });
    for (int i = 0; i < 20; ++i) {
        pool->execute([&ran] { ++ran; });
    }
    queued.open();
    ASSERT_TRUE(done.opens());
    EXPECT_EQ(ran_by_then, 20);
    EXPECT_EQ(ends_by_then, 1);
    EXPECT_EQ(hooks->workers_at_end, 0);
    // The last thread has released it.
    EXPECT_TRUE(test::eventually([&] { return hooks.use_count() == 1; }));
}

TEST(pool_destruction, inside_a_task_of_its_own_joins_the_other_workers) {
    const std::size_t before = test::thread_count();
    const auto hooks = std::make_shared<ending_hooks>();
    test::gate others_started;
    test::gate release_others;
    test::gate done;
    std::atomic<int> others{0};
    std::atomic<int> exited{0};
    spool::worker_thread_options options;
    options.on_exit = [&exited](const spool::worker_info&) { ++exited; };
    auto* const pool = new spool::thread_pool_executor(
        {.core_size = 3, .thread_factory = spool::worker_thread_factory(options), .hooks = hooks});
    std::atomic<int> exited_by_then{0};
    for (int i = 0; i < 2; ++i) {
        pool->execute([&] {
            if (++others == 2) {
                others_started.open();
            }
            release_others.wait();
        });
    }
    ASSERT_TRUE(others_started.opens());
    // No thread may be inside a call on a pool that is destroyed.
    test::gate submitted;
    pool->execute([&, pool] {
        submitted.wait();
        release_others.open();
        delete pool;
        exited_by_then = exited.load();
        done.open();
    });
    submitted.open();
    ASSERT_TRUE(done.opens());
    EXPECT_EQ(exited_by_then, 2);
    EXPECT_EQ(hooks->ends, 1);
    EXPECT_TRUE(test::eventually([&] { return exited == 3 && test::thread_count() <= before; }));
}

TEST(pool_destruction, by_the_last_shared_pointer_dropped_inside_a_task) {
    const auto hooks = std::make_shared<ending_hooks>();
    std::atomic<int> ran{0};
    test::gate owned_by_task;
    auto pool =
        std::make_shared<spool::thread_pool_executor>(spool::pool_options{.core_size = 2, .hooks = hooks});
    pool->execute([&, mine = pool]() mutable {
        owned_by_task.wait();
        mine.reset();
    });
    for (int i = 0; i < 20; ++i) {
        pool->execute([&ran] { ++ran; });
    }
    pool.reset();
    owned_by_task.open();
    EXPECT_TRUE(test::eventually([&] { return hooks.use_count() == 1; }));
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(hooks->ends, 1);
    EXPECT_EQ(hooks->workers, 0);
}

// The callable owns the last pointer. So the pool is destroyed when the worker destroys the task,
// after the body.
TEST(pool_destruction, by_the_last_shared_pointer_dropped_with_the_task_itself) {
    for (const bool as_future : {false, true}) {
        const auto hooks = std::make_shared<ending_hooks>();
        std::atomic<int> ran{0};
        test::gate only_in_task;
        auto pool = std::make_shared<spool::thread_pool_executor>(
            spool::pool_options{.core_size = 1, .hooks = hooks});
        auto body = [&only_in_task, mine = pool] { only_in_task.wait(); };
        if (as_future) {
            static_cast<void>(pool->submit(std::move(body)));
        } else {
            pool->execute(std::move(body));
        }
        pool->execute([&ran] { ++ran; });
        pool.reset();
        only_in_task.open();
        EXPECT_TRUE(test::eventually([&] { return hooks.use_count() == 1; }));
        EXPECT_EQ(ran, 1);
        EXPECT_EQ(hooks->ends, 1);
    }
}

TEST(pool_destruction, inside_a_task_that_its_waiter_runs) {
    const auto hooks = std::make_shared<ending_hooks>();
    test::gate done;
    auto* const pool = new spool::thread_pool_executor({.core_size = 1, .hooks = hooks});
    test::gate submitted;
    pool->execute([&, pool] {
        submitted.wait();
        const auto inner = pool->submit([pool] { delete pool; });
        inner.get();
        done.open();
    });
    submitted.open();
    ASSERT_TRUE(done.opens());
    EXPECT_EQ(hooks->ends, 1);
    EXPECT_TRUE(test::eventually([&] { return hooks.use_count() == 1; }));
}

TEST(pool_destruction, inside_a_task_that_throws_afterwards_still_reports_the_exception) {
    const auto hooks = std::make_shared<ending_hooks>();
    test::record<std::string> reported;
    auto* const pool = new spool::thread_pool_executor(
        {.core_size = 1,
         .hooks = hooks,
         .uncaught = [&](const spool::worker_info&, const std::exception_ptr& e) {
             reported.add(spool::describe(e));
         }});
    test::gate submitted;
    pool->execute([&, pool] {
        submitted.wait();
        delete pool;
        throw std::runtime_error("after the end");
    });
    submitted.open();
    EXPECT_TRUE(test::eventually([&] { return hooks.use_count() == 1; }));
    EXPECT_EQ(reported.all(), std::vector<std::string>{"after the end"});
}

TEST(pool_destruction, inside_a_task_of_another_pool) {
    std::atomic<int> ran{0};
    std::atomic<int> ran_by_then{0};
    spool::thread_pool_executor other({.core_size = 1});
    auto pool = std::make_unique<spool::thread_pool_executor>(spool::pool_options{.core_size = 2});
    for (int i = 0; i < 30; ++i) {
        pool->execute([&ran] { ++ran; });
    }
    const auto done = other.submit([&] {
        pool.reset();
        ran_by_then = ran.load();
    });
    ASSERT_TRUE(done.wait_for(test::long_delay()));
    EXPECT_EQ(ran_by_then, 30);
    ASSERT_TRUE(test::ends(other));
}

// The contract suite tries close() in a task of another pool. This is the same guarantee for a task
// of the pool itself: a stop of the closing task stops the other tasks.
TEST(pool_close, inside_a_task_of_its_own_goes_on_with_shutdown_now_when_that_task_is_stopped) {
    test::gate other_started;
    test::gate other_stopped;
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 2});
    const test::open_at_end guard{release};
    pool.execute([&](std::stop_token stop) {
        const std::stop_callback on_stop(stop, [&] {
            other_stopped.open();
            release.open();
        });
        other_started.open();
        release.wait();
    });
    ASSERT_TRUE(other_started.opens());
    const auto closing = pool.submit([&pool] { pool.close(); });
    ASSERT_TRUE(test::eventually([&] { return pool.is_shutdown(); }));
    closing.cancel();
    EXPECT_TRUE(other_stopped.opens_within(test::medium_delay()));
    release.open();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(pool_destruction, in_a_thread_local_destructor_of_a_thread_that_is_no_pools) {
    const auto hooks = std::make_shared<ending_hooks>();
    std::atomic<int> ran{0};
    std::thread([&] {
        thread_local std::optional<at_thread_end> kept;
        kept.emplace();
        kept->pool = std::make_unique<spool::thread_pool_executor>(
            spool::pool_options{.core_size = 2, .hooks = hooks});
        for (int i = 0; i < 20; ++i) {
            kept->pool->execute([&ran] { ++ran; });
        }
    }).join();
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(hooks->ends, 1);
    EXPECT_EQ(hooks.use_count(), 1);
}

// Two tasks of one pool close it at the same time. Each must count the other as a task that cannot
// end yet.
TEST(pool_close_death, inside_two_tasks_of_its_own_at_once_does_not_hang) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "death tests and ThreadSanitizer do not go together";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto close_twice = [] {
        alarm(10);  // ends this child process if it hangs
        test::gate both_here;
        std::atomic<int> here{0};
        {
            spool::thread_pool_executor pool({.core_size = 2});
            for (int i = 0; i < 2; ++i) {
                pool.execute([&] {
                    if (++here == 2) {
                        both_here.open();
                    }
                    both_here.wait();
                    pool.close();
                });
            }
            both_here.wait();
        }
        std::_Exit(0);
    };
    EXPECT_EXIT(close_twice(), testing::ExitedWithCode(0), "");
}

// The worker has left the pool, but its thread is still ending: a thread_local of that thread drops
// the last pointer to the pool. A thread cannot join itself.
TEST(pool_close_death, in_a_thread_local_destructor_of_a_worker_that_has_left_does_not_end_the_process) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "death tests and ThreadSanitizer do not go together";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto outlive_the_worker = [] {
        alarm(10);  // ends this child process if it hangs
        const auto hooks = std::make_shared<ending_hooks>();
        auto pool = std::make_shared<spool::thread_pool_executor>(spool::pool_options{
            .core_size = 1,
            .keep_alive = 1ms,
            .core_threads_may_time_out = true,
            .thread_factory = [](spool::task body,
                                 const spool::worker_info&) { return std::thread{std::move(body)}; },
            .hooks = hooks});
        test::gate only_in_task;
        pool->execute([&only_in_task, mine = pool]() mutable {
            thread_local std::shared_ptr<spool::thread_pool_executor> kept;
            kept = std::move(mine);
            only_in_task.wait();
        });
        pool.reset();
        only_in_task.open();
        std::_Exit(test::eventually([&] { return hooks.use_count() == 1; }) && hooks->ends == 1 ? 0 : 1);
    };
    EXPECT_EXIT(outlive_the_worker(), testing::ExitedWithCode(0), "");
}
