// A group and the life of its pool: refusals, termination, and what hooks and counts show.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "group_helpers.hpp"
#include "support/throws.hpp"
#include "unit/pool/behaviour/scripted_queue.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;

TEST(group_refusal, child_of_a_pool_that_is_shut_down_runs_in_the_one_who_forks) {
    thread_pool_executor pool(test::of_size(1));
    ASSERT_TRUE(test::ends(pool));
    task_group children{pool};
    std::thread::id where;
    children.run([&] { where = std::this_thread::get_id(); });
    EXPECT_EQ(where, std::this_thread::get_id());
    children.wait();
    EXPECT_EQ(test::fib(pool, 10), 55);
    EXPECT_EQ(pool.rejected_count(), 0U);
}

TEST(group_refusal, child_of_a_pool_that_is_full_runs_in_the_one_who_forks) {
    test::busy_workers busy;
    thread_pool_executor pool(test::of_size(1, test::bounded(1)));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    task_group children{pool};
    std::vector<std::thread::id> where(2);
    children.run([&] { where[0] = std::this_thread::get_id(); });
    children.run([&] { where[1] = std::this_thread::get_id(); });
    EXPECT_EQ(where[1], std::this_thread::get_id());
    busy.release();
    children.wait();
    EXPECT_NE(where[0], std::thread::id{});
}

TEST(group_refusal, child_that_throws_where_it_is_forked_throws_out_of_wait_alone) {
    thread_pool_executor pool(test::of_size(1));
    pool.shutdown();
    task_group children{pool};
    EXPECT_NO_THROW(children.run([] { throw std::runtime_error("late"); }));
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { children.wait(); }), "late");
}

TEST(group_refusal, child_that_the_queue_has_no_memory_for_runs_in_the_one_who_forks) {
    test::queue_script script;
    auto options = test::of_size(1);
    options.queue = std::make_unique<test::scripted_queue>(4, script);
    thread_pool_executor pool(std::move(options));
    pool.prestart_all_core_threads();
    std::atomic<int> ran{0};
    task_group children{pool};
    script.before_push.arm([] { throw std::bad_alloc{}; });
    EXPECT_NO_THROW(children.run([&] { ++ran; }));
    EXPECT_EQ(ran, 1);
    EXPECT_NO_THROW(children.wait());
}

TEST(group_at_the_end, ends_with_cancelled_when_shutdown_now_drops_its_children) {
    test::busy_workers busy;
    thread_pool_executor pool(test::of_size(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    std::atomic<int> ran{0};
    pool.execute([] {});
    task_group children{pool};
    children.run([&] { ++ran; });
    children.run([&] { ++ran; });
    // The unrelated task. Children are not handed back: only their group may run them.
    EXPECT_EQ(pool.shutdown_now().size(), 1U);
    EXPECT_TRUE(test::contains(test::what_of<spool::cancelled>([&] { children.wait(); }), "task_group"));
    busy.release();
    EXPECT_EQ(ran, 0);
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(group_at_the_end, ends_on_the_worker_whose_children_shutdown_now_drops) {
    thread_pool_executor pool(test::of_size(1, test::stealing()));
    test::gate forked;
    test::gate dropped;
    std::atomic<int> ran{0};
    std::atomic<bool> was_cancelled{false};
    pool.execute([&] {
        task_group children{pool};
        children.run([&] { ++ran; });
        forked.open();
        dropped.wait();
        try {
            children.wait();
        } catch (const spool::cancelled&) {
            was_cancelled = true;
        }
    });
    ASSERT_TRUE(forked.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    dropped.open();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(was_cancelled);
    EXPECT_EQ(ran, 0);
}

TEST(group_at_the_end, shutdown_now_asks_the_child_that_runs_to_stop) {
    test::gate started;
    thread_pool_executor pool(test::of_size(1));
    task_group children{pool};
    std::atomic<bool> asked{false};
    children.run([&](const std::stop_token& stop) {
        started.open();
        asked = test::eventually([&] { return stop.stop_requested(); });
    });
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    children.wait();
    EXPECT_TRUE(asked);
}

TEST(group_at_the_end, children_queued_at_shutdown_still_run) {
    test::busy_workers busy;
    thread_pool_executor pool(test::of_size(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    std::atomic<int> ran{0};
    task_group children{pool};
    children.run([&] { ++ran; });
    pool.shutdown();
    busy.release();
    children.wait();
    EXPECT_EQ(ran, 1);
}

struct seen_hooks : spool::pool_hooks {
    void before_execute(const spool::task_info& t) override { before.add(t.id); }
    void after_execute(const spool::task_info& t, const std::exception_ptr&) override { after.add(t.id); }
    test::record<spool::task_id> before;
    test::record<spool::task_id> after;
};

TEST(group_numbers, hooks_see_every_child_also_those_run_inside_wait) {
    const auto hooks = std::make_shared<seen_hooks>();
    auto options = test::of_size(1, test::stealing());
    options.hooks = hooks;
    thread_pool_executor pool(std::move(options));
    test::in_time(pool.submit([&] {
        task_group children{pool};
        for (int i = 0; i < 5; ++i) {
            children.run([] {});
        }
        children.wait();
        EXPECT_EQ(hooks->after.size(), 5U);
    }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(hooks->before.size(), 6U);
    EXPECT_EQ(hooks->after.size(), 6U);
}

TEST(group_numbers, tasks_are_completed_and_running_and_queued_at_every_step) {
    thread_pool_executor pool(test::of_size(1, test::stealing()));
    test::in_time(pool.submit([&] {
        task_group children{pool};
        const auto expect = [&pool](std::uint64_t completed, std::uint64_t running, std::size_t queued) {
            const spool::pool_snapshot now = pool.snapshot();
            EXPECT_EQ(now.completed, completed);
            EXPECT_EQ(now.active, 1U);
            EXPECT_EQ(now.queued, queued);
            EXPECT_EQ(now.tasks, completed + running + queued);
            EXPECT_EQ(pool.task_count(), now.tasks);
        };
        children.run([&] { expect(1, 2, 0); });
        children.run([&] { expect(0, 2, 1); });
        expect(0, 1, 2);
        children.wait();
        expect(2, 1, 0);
    }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 3U);
}

}  // namespace
