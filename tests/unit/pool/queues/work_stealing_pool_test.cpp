// A pool over a work_stealing_queue: tasks that are submitted by tasks run, are counted, handed
// back and removed like any other.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using stealing_queue = spool::work_stealing_queue<spool::task>;

std::size_t inbox_size(spool::thread_pool_executor& pool) {
    return dynamic_cast<stealing_queue&>(pool.queue()).inbox_size();
}

// A worker that runs `spawn(pool)` inside a task and stays in that task until it is released.
// Declare it before the pool.
class spawning_worker {
public:
    template <class Spawn>
    [[nodiscard]] bool begins(spool::thread_pool_executor& pool, Spawn spawn) {
        pool.execute([this, &pool, spawn] {
            spawn(pool);
            spawned_.open();
            release_.wait();
        });
        return spawned_.opens();
    }
    void release() { release_.open(); }
    ~spawning_worker() { release_.open(); }

private:
    test::gate spawned_;
    test::gate release_;
};

auto spawn(int count, std::atomic<int>& ran) {
    return [count, &ran](spool::thread_pool_executor& pool) {
        for (int i = 0; i < count; ++i) {
            pool.execute([&ran] { ++ran; });
        }
    };
}

// Spawns a binary tree of tasks.
void grow(spool::thread_pool_executor& pool, int depth, std::atomic<int>& leaves) {
    if (depth == 0) {
        ++leaves;
        return;
    }
    for (int i = 0; i < 2; ++i) {
        pool.execute([&pool, depth, &leaves] { grow(pool, depth - 1, leaves); });
    }
}

}  // namespace

TEST(work_stealing_pool, has_so_many_workers_as_asked_for) {
    EXPECT_EQ(spool::work_stealing_pool().core_size(), spool::default_parallelism());
    spool::thread_pool_executor pool = spool::work_stealing_pool(3);
    EXPECT_EQ(pool.core_size(), 3U);
    EXPECT_EQ(pool.maximum_size(), 3U);
    EXPECT_NE(dynamic_cast<stealing_queue*>(&pool.queue()), nullptr);
    EXPECT_THROW(static_cast<void>(spool::work_stealing_pool(0)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(spool::work_stealing_pool(1, spool::thread_factory{})),
                 std::invalid_argument);
}

TEST(work_stealing_pool, tree_of_tasks_runs_and_is_counted) {
    std::atomic<int> leaves{0};
    spool::thread_pool_executor pool = spool::work_stealing_pool(4);
    pool.execute([&] { grow(pool, 12, leaves); });
    ASSERT_TRUE(test::eventually([&] { return leaves == 4096; }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 8191U);
    EXPECT_EQ(pool.task_count(), 8191U);
    EXPECT_EQ(pool.largest_pool_size(), 4U);
}

TEST(work_stealing_pool, a_million_tasks_spawned_by_a_task_never_touch_the_inbox) {
    const int many = test::under_thread_sanitizer ? 50'000 : 1'000'000;
    std::atomic<int> ran{0};
    std::size_t in_inbox = 1;
    std::size_t queued = 0;
    spool::thread_pool_executor pool = spool::work_stealing_pool(1);
    pool.submit([&] {
            spawn(many, ran)(pool);
            in_inbox = inbox_size(pool);
            queued = pool.queue().size();
        })
        .get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(in_inbox, 0U);
    EXPECT_EQ(queued, static_cast<std::size_t>(many));
    EXPECT_EQ(ran, many);
}

// The outer task ends only when the inner one has run. So the idle worker must steal the inner
// task, although it is the newest and only one in the deque.
TEST(work_stealing_pool, idle_worker_takes_the_only_task_of_a_busy_one) {
    test::gate ran;
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    const auto stolen = pool.submit([&] {
        pool.execute([&] { ran.open(); });
        return ran.opens();
    });
    EXPECT_TRUE(stolen.get());
}

TEST(work_stealing_pool, outsiders_task_runs_while_the_workers_go_on_spawning) {
    std::atomic<bool> stop{false};
    test::gate ran;
    std::function<void()> again;
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    again = [&] {
        if (!stop) {
            // Refused once the pool is shut down.
            static_cast<void>(pool.try_execute([&] { again(); }));
        }
    };
    for (int i = 0; i < 4; ++i) {
        pool.execute([&] { again(); });
    }
    pool.execute([&] { ran.open(); });
    EXPECT_TRUE(ran.opens());
    stop = true;
    ASSERT_TRUE(test::ends(pool));
}

TEST(work_stealing_pool, worker_that_retires_leaves_its_tasks_to_the_others) {
    std::atomic<int> ran{0};
    spawning_worker retiring;
    spawning_worker staying;
    spool::thread_pool_executor pool({.core_size = 2, .queue = std::make_unique<stealing_queue>()});
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    ASSERT_TRUE(staying.begins(pool, [](auto&) {}));
    ASSERT_TRUE(retiring.begins(pool, spawn(10, ran)));
    pool.set_core_size(1);
    pool.set_maximum_size(1);
    retiring.release();
    ASSERT_TRUE(test::eventually([&] { return pool.pool_size() == 1; }));
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(pool.queue().size(), 10U);
    staying.release();
    EXPECT_TRUE(test::eventually([&] { return ran == 10; }));
    ASSERT_TRUE(test::ends(pool));
}

TEST(work_stealing_pool, last_worker_dies_and_its_successor_runs_its_tasks) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<stealing_queue>(), .uncaught = test::quiet()});
    pool.execute([&] {
        spawn(10, ran)(pool);
        throw std::runtime_error("task");
    });
    EXPECT_TRUE(test::eventually([&] { return ran == 10; }));
    ASSERT_TRUE(test::ends(pool));
}

TEST(work_stealing_pool, last_worker_dies_without_successor_and_its_tasks_run) {
    std::atomic<int> ran{0};
    std::atomic<int> threads{0};
    test::gate spawned;
    const spool::thread_factory only_one = [&](spool::task body, const spool::worker_info& info) {
        return threads++ == 0 ? spool::worker_thread_factory()(std::move(body), info)
                              : spool::worker_thread{};
    };
    {
        spool::thread_pool_executor pool({.core_size = 1,
                                          .queue = std::make_unique<stealing_queue>(),
                                          .thread_factory = only_one,
                                          .uncaught = test::quiet()});
        pool.execute([&] {
            spawn(10, ran)(pool);
            spawned.open();
            throw std::runtime_error("task");
        });
        ASSERT_TRUE(spawned.opens());
    }
    EXPECT_EQ(ran, 10);
}

TEST(work_stealing_pool, shutdown_runs_what_is_in_every_deque) {
    std::atomic<int> ran{0};
    spawning_worker one;
    spawning_worker two;
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    ASSERT_TRUE(one.begins(pool, spawn(10, ran)));
    ASSERT_TRUE(two.begins(pool, [](auto&) {}));
    pool.shutdown();
    EXPECT_FALSE(pool.is_terminated());
    two.release();
    EXPECT_TRUE(test::eventually([&] { return ran == 10; }));  // stolen by the second worker
    one.release();
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(work_stealing_pool, shutdown_now_hands_back_what_is_in_every_deque_and_in_the_inbox) {
    std::atomic<int> ran{0};
    spawning_worker one;
    spawning_worker two;
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    ASSERT_TRUE(two.begins(pool, [](auto&) {}));
    ASSERT_TRUE(one.begins(pool, spawn(10, ran)));
    spawn(3, ran)(pool);
    EXPECT_EQ(inbox_size(pool), 3U);
    EXPECT_EQ(pool.queue().size(), 13U);
    EXPECT_EQ(pool.task_count(), 15U);
    std::vector<spool::task> unstarted = pool.shutdown_now();
    EXPECT_EQ(unstarted.size(), 13U);
    for (spool::task& t : unstarted) {
        t();
    }
    EXPECT_EQ(ran, 13);
    one.release();
    two.release();
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(work_stealing_pool, tasks_in_a_deque_can_be_removed_and_purged) {
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    std::vector<spool::future<void>> spawned;
    spawning_worker worker;
    spool::thread_pool_executor pool = spool::work_stealing_pool(1);
    ASSERT_TRUE(worker.begins(pool, [&](auto& p) {
        for (int i = 0; i < 5; ++i) {
            spawned.push_back(p.submit([&ran, counted = test::tracked{alive}] { ++ran; }));
        }
    }));
    EXPECT_EQ(inbox_size(pool), 0U);
    EXPECT_TRUE(pool.remove(spawned[2]));
    EXPECT_TRUE(spawned[2].is_cancelled());
    EXPECT_FALSE(pool.remove(spawned[2]));
    EXPECT_TRUE(spawned[0].cancel());
    EXPECT_TRUE(spawned[4].cancel());
    EXPECT_EQ(pool.purge(), 2U);
    EXPECT_EQ(pool.queue().size(), 2U);
    EXPECT_EQ(alive, 2);
    worker.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(alive, 0);
}

TEST(work_stealing_pool, nested_waits_run_what_they_wait_for) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    std::function<int(int)> fibonacci = [&](int n) {
        if (n < 2) {
            return n;
        }
        const auto one = pool.submit([&, n] { return fibonacci(n - 1); });
        const auto two = pool.submit([&, n] { return fibonacci(n - 2); });
        return one.get() + two.get();
    };
    EXPECT_EQ(pool.submit([&] { return fibonacci(12); }).get(), 144);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.queue().size(), 0U);
    EXPECT_EQ(pool.task_count(), pool.completed_task_count());
}

TEST(work_stealing_pool, closed_by_its_own_task_it_runs_what_that_had_spawned) {
    std::atomic<int> ran{0};
    int at_close = 0;
    spool::thread_pool_executor pool = spool::work_stealing_pool(1);
    pool.submit([&] {
            spawn(10, ran)(pool);
            pool.close();
            at_close = ran;
        })
        .get();
    EXPECT_EQ(at_close, 10);
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(work_stealing_pool, destroyed_by_its_own_task_it_runs_what_that_had_spawned) {
    std::atomic<int> ran{0};
    // Keeps the task from destroying the pool while execute() is still inside it.
    test::gate begin;
    test::gate gone;
    auto pool = std::make_unique<spool::thread_pool_executor>(
        spool::pool_options{.core_size = 2, .queue = std::make_unique<stealing_queue>()});
    auto& running = *pool;
    running.execute([&, own = std::move(pool)]() mutable {
        begin.wait();
        spawn(10, ran)(*own);
        own.reset();
        gone.open();
    });
    begin.open();
    ASSERT_TRUE(gone.opens());
    EXPECT_EQ(ran, 10);
}
