// Two options that wrap tasks: decorate (inside the future) and task_times (around everything).
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using steps = std::vector<std::string>;

spool::task_decorator noting(test::record<std::string>& notes) {
    return [&notes](spool::task body) -> spool::task {
        return [&notes, body = std::move(body)]() mutable {
            notes.add("begin");
            body();
            notes.add("end");
        };
    };
}

struct timing_hooks : spool::pool_hooks {
    void before_execute(const spool::task_info& t) override { waited.add(t.waited); }
    void after_execute(const spool::task_info& t, const std::exception_ptr&) override { ran.add(t.ran); }
    test::record<std::chrono::nanoseconds> waited;
    test::record<std::chrono::nanoseconds> ran;
};

// A callable of a named type, for task::target.
struct named_body {
    std::atomic<int>* ran;
    int number = 0;
    void operator()() const { ++*ran; }
    [[nodiscard]] int priority() const { return number; }
};

}  // namespace

TEST(pool_decorate, wraps_the_body_of_every_future_inside_the_future) {
    test::record<std::string> notes;
    spool::thread_pool_executor pool({.core_size = 1, .decorate = noting(notes)});
    const auto answer = pool.submit([&notes] {
        notes.add("body");
        return 7;
    });
    answer.on_done([&notes] { notes.add("done"); });
    EXPECT_EQ(answer.get(), 7);
    ASSERT_TRUE(test::ends(pool));
    const steps all = notes.all();
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all, (steps{"begin", "body", "end", "done"}));
}

TEST(pool_decorate, leaves_tasks_given_to_execute_alone) {
    test::record<std::string> notes;
    spool::thread_pool_executor pool({.core_size = 1, .decorate = noting(notes)});
    pool.execute([&notes] { notes.add("body"); });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(notes.all(), steps{"body"});
}

TEST(pool_decorate, keeps_stop_token_priority_and_exceptions_of_the_body) {
    test::record<std::string> notes;
    spool::thread_pool_executor pool({.core_size = 1, .decorate = noting(notes)});
    const auto stop = pool.submit([](std::stop_token token) { return token.stop_possible(); });
    EXPECT_TRUE(stop.get());
    const auto failing = pool.submit([] { throw std::domain_error("from the body"); });
    EXPECT_THROW(failing.get(), std::domain_error);
    EXPECT_EQ(pool.submit([] {}, std::string{"value"}).get(), "value");
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_decorate, that_throws_tells_the_submitter_and_changes_nothing) {
    spool::thread_pool_executor pool({.core_size = 1, .decorate = [](spool::task) -> spool::task {
                                          throw std::runtime_error("no decoration");
                                      }});
    EXPECT_THROW(static_cast<void>(pool.submit([] {})), std::runtime_error);
    EXPECT_EQ(pool.task_count(), 0U);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_task_times, tells_the_hooks_how_long_a_task_waited_and_ran) {
    const auto hooks = std::make_shared<timing_hooks>();
    test::gate started;
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks, .task_times = true});
    const test::open_at_end guard{release};
    pool.execute([&] { started.open(), release.wait(); });
    ASSERT_TRUE(started.opens());
    const auto queued_at = std::chrono::steady_clock::now();
    pool.execute([] {});
    const auto future = pool.submit([] {});
    const auto held_until = std::chrono::steady_clock::now();
    release.open();
    future.get();
    ASSERT_TRUE(test::ends(pool));
    const auto waited = hooks->waited.all();
    const auto ran = hooks->ran.all();
    ASSERT_EQ(waited.size(), 3U);
    ASSERT_EQ(ran.size(), 3U);
    EXPECT_GT(waited[0], 0ns);
    EXPECT_GE(ran[0], held_until - queued_at);  // at least as long as it was held
    EXPECT_GT(waited[1], 0ns);
    EXPECT_GT(waited[2], 0ns);
    EXPECT_GE(waited[1] + 10ms, waited[2]);  // queued and run directly before it
    EXPECT_GT(ran[1], 0ns);
    EXPECT_GT(ran[2], 0ns);
}

TEST(pool_task_times, tells_the_hooks_how_long_a_task_run_by_its_waiter_waited) {
    const auto hooks = std::make_shared<timing_hooks>();
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks, .task_times = true});
    const auto begin = std::chrono::steady_clock::now();
    pool.submit([&pool] { pool.submit([] {}).get(); }).get();
    ASSERT_TRUE(test::ends(pool));
    ASSERT_EQ(hooks->waited.size(), 2U);
    EXPECT_GT(hooks->waited.all()[1], 0ns);
    EXPECT_LT(hooks->waited.all()[1], std::chrono::steady_clock::now() - begin);
    EXPECT_GT(hooks->ran.all()[0], 0ns);
}

TEST(pool_task_times, are_zero_unless_asked_for) {
    const auto hooks = std::make_shared<timing_hooks>();
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks});
    pool.submit([] {}).get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(hooks->waited.all().front(), 0ns);
    EXPECT_EQ(hooks->ran.all().front(), 0ns);
}

TEST(pool_task_times, leave_a_refused_task_as_it_came) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = test::synchronous(), .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    spool::task work = named_body{&ran, 3};
    const auto id = work.id();
    EXPECT_EQ(pool.try_execute(std::move(work)), spool::admission_result::full);
    ASSERT_NE(work.target<named_body>(), nullptr);
    EXPECT_EQ(work.id(), id);
    EXPECT_EQ(pool.execute_for(std::move(work), 1ms), spool::admission_result::timed_out);
    ASSERT_NE(work.target<named_body>(), nullptr);
    EXPECT_EQ(work.id(), id);
    work();
    EXPECT_EQ(ran, 1);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_task_times, hand_the_original_tasks_to_a_rejection_policy) {
    std::atomic<int> ran{0};
    std::atomic<int> recognised{0};
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .rejection =
             [&](spool::task&& work, spool::rejection_reason, spool::thread_pool_executor&) {
                 recognised += work.target<named_body>() != nullptr ? 1 : 0;
             },
         .task_times = true});
    pool.shutdown();
    pool.execute(named_body{&ran, 1});
    EXPECT_EQ(recognised, 1);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_task_times, let_shutdown_now_hand_back_the_original_tasks) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    spool::task work = named_body{&ran, 5};
    const auto id = work.id();
    pool.execute(std::move(work));
    const auto pending = pool.submit([] { return 6; });
    auto back = pool.shutdown_now();
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    ASSERT_EQ(back.size(), 2U);
    ASSERT_NE(back[0].target<named_body>(), nullptr);
    EXPECT_EQ(back[0].target<named_body>()->number, 5);
    EXPECT_EQ(back[0].id(), id);
    EXPECT_EQ(back[1].id(), pending.id());
    back[0]();
    back[1]();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(pending.get(), 6);
}

TEST(pool_task_times, keep_id_priority_and_removal_working) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    spool::task work = named_body{&ran, 9};
    const auto id = work.id();
    pool.execute(std::move(work));
    int priority = 0;
    EXPECT_TRUE(pool.queue().peek([&](const spool::task& t) { priority = t.priority(); }));
    EXPECT_EQ(priority, 9);
    EXPECT_TRUE(pool.remove(id));
    const auto cancelled = pool.submit([] {});
    cancelled.cancel();
    EXPECT_EQ(pool.purge(), 1U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 0);
}
