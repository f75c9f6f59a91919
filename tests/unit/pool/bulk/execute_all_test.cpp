// Many tasks in one call: execute_all, submit_all, invoke_all, and what each guarantees for every
// single task.
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/throws.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/behaviour/scripted_queue.hpp"

namespace {

using spool::task;
using spool::thread_pool_executor;

struct adder {
    test::record<int>* to;
    int n;
    void operator()() const { to->add(n); }
};

class pool_bulk : public testing::Test {
protected:
    std::vector<task> tasks(int n) {
        std::vector<task> made;
        for (int i = 0; i < n; ++i) {
            made.emplace_back(adder{&ran, i});
        }
        return made;
    }
    static std::vector<int> numbers(int n) {
        std::vector<int> all(static_cast<std::size_t>(n));
        std::iota(all.begin(), all.end(), 0);
        return all;
    }

    test::record<int> ran;
    test::queue_script script;
    test::busy_workers busy;
};

TEST_F(pool_bulk, tasks_run_in_their_order_on_a_single_worker) {
    thread_pool_executor pool({.core_size = 1});
    std::vector<task> many = tasks(1000);
    pool.execute_all(many);
    for (const task& t : many) {
        EXPECT_TRUE(t.empty());
    }
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran.all(), numbers(1000));
    EXPECT_EQ(pool.completed_task_count(), 1000U);
}

TEST_F(pool_bulk, the_first_ones_make_the_core_workers_start) {
    thread_pool_executor pool({.core_size = 3, .maximum_size = 5});
    test::gate release;
    const test::open_at_end guard{release};
    std::atomic<int> started{0};
    std::vector<std::function<void()>> many(10, [&] {
        ++started;
        release.wait();
    });
    pool.execute_all(many);
    EXPECT_TRUE(test::eventually([&] { return started == 3; }));
    EXPECT_EQ(pool.pool_size(), 3U);
    EXPECT_EQ(pool.queue().size(), 7U);
    release.open();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(started, 10);
}

TEST_F(pool_bulk, a_full_queue_makes_the_pool_grow_and_then_refuses_the_rest_one_by_one) {
    thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 2, .queue = test::bounded(3), .rejection = spool::discard_policy{}});
    test::gate release;
    const test::open_at_end guard{release};
    std::atomic<int> started{0};
    pool.execute_all(std::vector<std::function<void()>>(9, [&] {
        ++started;
        release.wait();
    }));
    EXPECT_EQ(pool.pool_size(), 2U);
    EXPECT_EQ(pool.queue().size(), 3U);
    EXPECT_EQ(pool.rejected_count(), 4U);
    release.open();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(started, 5);
}

TEST_F(pool_bulk, a_refusal_that_throws_leaves_those_after_it_untouched) {
    thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::bounded(3)});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    std::vector<task> many = tasks(6);
    const spool::task_id fifth = many[4].id();
    EXPECT_THROW(pool.execute_all(many), spool::rejected_execution);
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(many[static_cast<std::size_t>(i)].empty(), i < 4) << i;
    }
    EXPECT_EQ(many[4].id(), fifth);
    EXPECT_EQ(pool.rejected_count(), 1U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran.all(), numbers(3));
    many[4]();
    EXPECT_EQ(ran.size(), 4U);
}

TEST_F(pool_bulk, caller_runs_those_that_find_no_room) {
    thread_pool_executor pool({.core_size = 1,
                               .maximum_size = 1,
                               .queue = test::bounded(2),
                               .rejection = spool::caller_runs_policy{}});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    pool.execute_all(tasks(5));
    EXPECT_EQ(ran.all(), (std::vector<int>{2, 3, 4}));
}

TEST_F(pool_bulk, a_pool_that_is_shut_down_refuses_the_first_and_touches_no_other) {
    thread_pool_executor pool({.core_size = 1});
    pool.shutdown();
    std::vector<task> many = tasks(3);
    EXPECT_THROW(pool.execute_all(many), spool::rejected_execution);
    EXPECT_TRUE(many[0].empty());
    EXPECT_FALSE(many[1].empty());
    EXPECT_FALSE(many[2].empty());
    EXPECT_EQ(pool.rejected_count(), 1U);
}

// As with execute(), the caller does not get a refused task back.
TEST_F(pool_bulk, a_refused_task_is_gone_from_the_caller_whatever_threw) {
    struct throwing_hooks : spool::pool_hooks {
        void rejected(const spool::task_info&, spool::rejection_reason) override {
            throw std::runtime_error("hook");
        }
    };
    const auto expect_first_gone = [this](thread_pool_executor& pool, const std::string& what) {
        std::vector<task> many = tasks(3);
        EXPECT_EQ(test::what_of<std::runtime_error>([&] { pool.execute_all(many); }), what);
        EXPECT_TRUE(many[0].empty()) << what;
        EXPECT_FALSE(many[1].empty()) << what;
        EXPECT_FALSE(many[2].empty()) << what;
    };
    thread_pool_executor no_threads(
        {.core_size = 1, .thread_factory = [](task, const spool::worker_info&) -> spool::worker_thread {
             throw std::runtime_error("factory");
         }});
    expect_first_gone(no_threads, "thread_pool_executor \"pool\": no thread: factory");
    thread_pool_executor shut_down({.core_size = 1, .hooks = std::make_shared<throwing_hooks>()});
    shut_down.shutdown();
    expect_first_gone(shut_down, "hook");
    std::atomic<int> calls{0};
    thread_pool_executor queued(
        {.core_size = 0, .maximum_size = 1, .queue = std::make_unique<test::scripted_queue>(8, script)});
    script.before_push.arm([] { throw std::runtime_error("queue"); });
    expect_first_gone(queued, "queue");
    // One worker exists, a second one cannot be started, and the queue throws.
    thread_pool_executor one_thread({.core_size = 2,
                                     .queue = std::make_unique<test::scripted_queue>(8, script),
                                     .thread_factory = [&](task body, const spool::worker_info& info) {
                                         if (calls++ > 0) {
                                             throw std::runtime_error("factory");
                                         }
                                         return spool::worker_thread_factory()(std::move(body), info);
                                     }});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(one_thread);
    script.before_push.arm([] { throw std::runtime_error("queue"); });
    expect_first_gone(one_thread, "queue");
    EXPECT_EQ(ran.size(), 0U);
}

// The submitter's second look at the control word: see second_look_test.cpp.
TEST_F(pool_bulk, shut_down_in_the_middle_leaves_none_of_them_in_the_queue) {
    thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = std::make_unique<test::scripted_queue>(8, script)});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    std::vector<task> many = tasks(4);
    const spool::task_id last = many[3].id();
    script.after_push.arm([&pool] { pool.shutdown(); });
    EXPECT_THROW(pool.execute_all(many), spool::rejected_execution);
    EXPECT_EQ(pool.queue().size(), 0U);
    EXPECT_TRUE(many[0].empty());
    EXPECT_FALSE(many[1].empty());
    EXPECT_EQ(many[3].id(), last);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran.size(), 0U);
}

TEST_F(pool_bulk, a_queue_that_throws_at_the_third_keeps_the_first_two_and_the_rest_stay) {
    thread_pool_executor pool({.core_size = 1,
                               .maximum_size = 1,
                               .queue = std::make_unique<test::scripted_queue>(8, script),
                               .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    std::vector<task> many = tasks(4);
    script.after_push.arm([this] {
        script.after_push.arm([this] {
            script.before_push.arm([this] {
                script.before_push.arm([] { throw std::runtime_error("and again"); });
                throw std::runtime_error("no more");
            });
        });
    });
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { pool.execute_all(many); }), "and again");
    EXPECT_EQ(pool.queue().size(), 2U);
    EXPECT_FALSE(many[3].empty());
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran.all(), numbers(2));
    EXPECT_NE(many[3].target<adder>(), nullptr);  // unchanged: not wrapped for task_times
}

struct waited_hooks : spool::pool_hooks {
    void before_execute(const spool::task_info& t) override { waited.add(t.waited.count()); }
    test::record<std::chrono::nanoseconds::rep> waited;
};

TEST_F(pool_bulk, the_time_that_each_waited_is_measured) {
    const auto hooks = std::make_shared<waited_hooks>();
    thread_pool_executor pool({.core_size = 1, .hooks = hooks, .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    pool.execute_all(tasks(300));
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    const auto waited = hooks->waited.all();
    ASSERT_EQ(waited.size(), 301U);
    EXPECT_TRUE(std::all_of(waited.begin(), waited.end(), [](auto ns) { return ns > 0; }));
    EXPECT_EQ(ran.all(), numbers(300));
}

TEST_F(pool_bulk, empty_ranges_change_nothing) {
    thread_pool_executor pool({.core_size = 1});
    pool.execute_all(std::span<task>{});
    pool.execute_all(std::vector<task>{});
    EXPECT_TRUE(spool::submit_all(pool, std::vector<std::function<int()>>{}).empty());
    EXPECT_TRUE(spool::invoke_all(pool, std::vector<std::function<int()>>{}).empty());
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_EQ(pool.task_count(), 0U);
}

TEST_F(pool_bulk, an_empty_task_among_them_is_refused_before_any_is_taken) {
    thread_pool_executor pool({.name = "bulk", .core_size = 1});
    std::vector<task> many = tasks(3);
    many[1] = nullptr;
    const std::string text = test::what_of<std::invalid_argument>([&] { pool.execute_all(many); });
    EXPECT_TRUE(test::contains(text, "empty")) << text;
    EXPECT_FALSE(many[0].empty());
    EXPECT_FALSE(many[2].empty());
    EXPECT_EQ(pool.pool_size(), 0U);
    std::vector<std::function<int()>> jobs{[] { return 1; }, nullptr};
    EXPECT_THROW(static_cast<void>(spool::submit_all(pool, jobs)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(spool::invoke_all(pool, jobs)), std::invalid_argument);
    EXPECT_EQ(pool.task_count(), 0U);
}

TEST_F(pool_bulk, lambdas_of_an_lvalue_are_copied_and_those_of_an_rvalue_moved) {
    thread_pool_executor pool({.core_size = 2});
    const auto counter = std::make_shared<std::atomic<int>>(0);
    auto one = [counter] { ++*counter; };
    std::vector<decltype(one)> kept(3, one);
    pool.execute_all(kept);
    EXPECT_TRUE(test::eventually([&] { return *counter == 3; }));
    struct move_only {
        std::unique_ptr<int> n = std::make_unique<int>(2);
        std::atomic<int>* sum;
        void operator()() const { *sum += *n; }
    };
    std::vector<move_only> gone(2);
    gone[0].sum = gone[1].sum = counter.get();
    pool.execute_all(std::move(gone));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(*counter, 7);
    EXPECT_EQ(counter.use_count(), 5);  // `kept` still holds three
}

}  // namespace
