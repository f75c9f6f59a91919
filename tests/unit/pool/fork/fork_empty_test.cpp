// fork_policy::empty: the pool in the child, over every kind of queue.
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/behaviour/scripted_queue.hpp"
#include "unit/pool/fork/fork_helpers.hpp"
#include "unit/pool/queues/queue_kinds.hpp"

namespace {

using spool::fork_policy;
using spool::thread_pool_executor;
using namespace std::chrono_literals;

class pool_fork_empty : public testing::TestWithParam<test::queue_kind> {
protected:
    spool::pool_options sized(std::size_t n) {
        return {.name = "decode",
                .core_size = n,
                .maximum_size = n,
                .queue = GetParam().make(),
                .rejection = spool::caller_runs_policy{},
                .on_fork = fork_policy::empty};
    }
};
INSTANTIATE_TEST_SUITE_P(kinds, pool_fork_empty, testing::ValuesIn(test::queue_kinds()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(pool_fork_empty, the_child_has_the_settings_and_neither_threads_nor_tasks) {
    test::busy_workers busy;
    thread_pool_executor pool(sized(2));
    const test::open_at_end release{busy.release_gate()};
    busy.hold(pool);
    busy.hold(pool);
    pool.set_keep_alive(7s);
    for (int i = 0; GetParam().stores && i < 10; ++i) {
        pool.execute([] {});
    }
    const std::size_t capacity = pool.queue().capacity();
    const test::child_end end = test::in_child([&] {
        return test::first_wrong(pool.pool_size() == 0, pool.queue().empty(), pool.task_count() == 0,
                                 pool.name() == "decode", pool.core_size() == 2, pool.maximum_size() == 2,
                                 pool.keep_alive() == 7s, pool.queue().capacity() == capacity,
                                 pool.rejection().target<spool::caller_runs_policy>() != nullptr);
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST_P(pool_fork_empty, the_child_can_work_with_it_and_close_it) {
    test::busy_workers busy;
    auto pool = std::make_unique<thread_pool_executor>(sized(2));
    const test::open_at_end release{busy.release_gate()};
    busy.hold(*pool);
    busy.hold(*pool);
    const test::child_end end = test::in_child([&] {
        std::atomic<int> ran{0};
        std::vector<spool::future<void>> futures;
        for (int i = 0; i < 100; ++i) {
            futures.push_back(pool->submit([&ran] { ++ran; }));
        }
        for (const auto& f : futures) {
            f.get();
        }
        pool->close();
        const bool counted = pool->completed_task_count() <= 100 && pool->is_terminated();
        pool.reset();
        return test::first_wrong(ran == 100, counted);
    });
    EXPECT_EQ(end.status, 0) << end.said;
    busy.release();
    EXPECT_TRUE(test::ends(*pool));
    EXPECT_EQ(pool->completed_task_count(), 2U);
}

TEST_P(pool_fork_empty, queued_tasks_stay_the_parents) {
    if (!GetParam().stores) {
        GTEST_SKIP() << "nothing can be queued";
    }
    const pid_t parent = ::getpid();
    std::atomic<int> ran{0};
    test::busy_workers busy;
    thread_pool_executor pool(sized(1));
    const test::open_at_end release{busy.release_gate()};
    busy.hold(pool);
    std::vector<spool::future<void>> futures;
    for (int i = 0; i < 10; ++i) {
        futures.push_back(pool.submit([&ran, parent] { ran += ::getpid() == parent ? 1 : 1000; }));
    }
    const test::child_end end = test::in_child([&] {
        pool.submit([] {}).get();
        bool cancelled = true;
        for (const auto& f : futures) {
            f.wait();
            cancelled = cancelled && f.is_cancelled();
        }
        pool.close();
        return test::first_wrong(cancelled, ran == 0);
    });
    EXPECT_EQ(end.status, 0) << end.said;
    busy.release();
    for (const auto& f : futures) {
        f.get();
    }
    EXPECT_EQ(ran, 10);
}

TEST(pool_fork_empty_life, a_grandchild_has_an_empty_pool_of_its_own) {
    thread_pool_executor pool({.core_size = 1, .on_fork = fork_policy::empty});
    pool.submit([] {}).get();
    const test::child_end end = test::in_child([&] {
        const spool::future<int> in_child = pool.submit([] { return 1; });
        in_child.wait();
        test::gate hold;
        const spool::future<void> running = pool.submit([&] { hold.wait(); });
        const test::child_end grandchild = test::in_child([&] {
            const bool empty = pool.pool_size() == 0;
            const int seven = pool.submit([] { return 7; }).get();
            return test::first_wrong(running.is_cancelled(), in_child.get() == 1, empty, seven == 7);
        });
        hold.open();
        running.get();
        return grandchild.status;
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(pool_fork_empty_life, a_pool_that_was_shut_down_stays_so) {
    thread_pool_executor pool({.core_size = 1, .on_fork = fork_policy::empty});
    pool.submit([] {}).get();
    ASSERT_TRUE(test::ends(pool));
    const test::child_end end = test::in_child([&] {
        return test::first_wrong(pool.is_terminated(),
                                 pool.try_execute([] {}) == spool::admission_result::shut_down,
                                 pool.await_termination(0s));
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(pool_fork_empty_life, several_threads_of_the_child_find_one_pool) {
    thread_pool_executor pool({.core_size = 2, .on_fork = fork_policy::empty});
    pool.submit([] {}).get();
    const test::child_end end = test::in_child([&] {
        std::atomic<int> ran{0};
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 4; ++i) {
                threads.emplace_back([&] { pool.submit([&ran] { ++ran; }).get(); });
            }
        }
        return test::first_wrong(ran == 4, pool.task_count() == 4);
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(pool_fork_empty_life, hooks_factory_and_rejection_are_those_it_had_last) {
    struct counting final : spool::pool_hooks {
        std::atomic<int> started{0};
        void worker_started(const spool::worker_info&) override { ++started; }
    };
    const auto hooks = std::make_shared<counting>();
    thread_pool_executor pool({.core_size = 1, .hooks = hooks, .on_fork = fork_policy::empty});
    pool.submit([] {}).get();
    pool.set_rejection(spool::discard_policy{});
    pool.set_thread_factory(spool::worker_thread_factory({.name_pattern = "child-{number}"}));
    const test::child_end end = test::in_child([&] {
        std::string name;
        pool.submit([&] { name = test::own_thread_name(); }).get();
        return test::first_wrong(hooks->started == 2, name == "child-1",
                                 pool.rejection().target<spool::discard_policy>() != nullptr);
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST(pool_fork_empty_life, a_queue_that_cannot_be_made_anew_is_refused) {
    test::queue_script script;
    EXPECT_THROW(thread_pool_executor({.queue = std::make_unique<test::scripted_queue>(3, script),
                                       .on_fork = fork_policy::empty}),
                 std::invalid_argument);
}

TEST(pool_fork_empty_life, exit_in_the_child_destroys_an_unused_pool_without_a_wait) {
    test::busy_workers busy;
    thread_pool_executor pool({.core_size = 1, .on_fork = fork_policy::empty});
    const test::open_at_end release{busy.release_gate()};
    busy.hold(pool);
    const test::child_end end = test::in_child([&] {
        pool.~thread_pool_executor();
        return 0;
    });
    EXPECT_EQ(end.status, 0) << end.said;
}

}  // namespace
