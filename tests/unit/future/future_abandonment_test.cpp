// A task is destroyed without having run: its future is cancelled, so that no waiter hangs.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"
#include "support/tracked.hpp"

namespace {

using spool::future;
using spool::future_task;

}  // namespace

TEST(future_abandonment, of_the_future_task_makes_the_future_cancelled) {
    future<int> f;
    {
        const future_task<int> t{[] { return 7; }};
        f = t;
        EXPECT_FALSE(f.is_done());
    }
    EXPECT_TRUE(f.is_cancelled());
    EXPECT_THROW(f.get(), spool::cancelled);
}

TEST(future_abandonment, of_the_split_off_task_makes_the_future_cancelled) {
    auto [handle, work] = future_task<int>{[] { return 7; }}.split();
    EXPECT_FALSE(handle.is_done());
    work = nullptr;
    EXPECT_TRUE(handle.is_cancelled());
}

TEST(future_abandonment, of_a_future_task_put_into_a_task_makes_the_future_cancelled) {
    future_task<int> t{[] { return 7; }};
    const future<int> f = t;
    {
        const spool::task work{std::move(t)};
        EXPECT_FALSE(f.is_done());
    }
    EXPECT_TRUE(f.is_cancelled());
}

TEST(future_abandonment, by_move_assignment_cancels_what_was_there_before) {
    future_task<int> old_one{[] { return 1; }};
    const future<int> old_handle = old_one;
    future_task<int> new_one{[] { return 2; }};
    const future<int> new_handle = new_one;
    old_one = std::move(new_one);
    EXPECT_TRUE(old_handle.is_cancelled());
    EXPECT_FALSE(new_handle.is_done());
    old_one.run();
    EXPECT_EQ(new_handle.get(), 2);
}

TEST(future_abandonment, moves_keep_the_future_pending) {
    auto [handle, work] = future_task<int>{[] { return 7; }}.split();
    spool::task moved = std::move(work);
    work = nullptr;
    spool::task again;
    again = std::move(moved);
    EXPECT_FALSE(handle.is_done());
    again();
    EXPECT_EQ(handle.get(), 7);
}

TEST(future_abandonment, releases_every_waiter) {
    auto parts = future_task<int>{[] { return 7; }}.split();
    const future<int> f = parts.handle;
    const test::waiter plain{[&] { f.get(); }};
    const test::waiter timed{[&] { f.get_for(test::long_delay()); }};
    const test::waiter any_outcome{[&] { f.wait(); }};
    parts.work = nullptr;
    EXPECT_EQ(plain.answer(), "cancelled");
    EXPECT_EQ(timed.answer(), "cancelled");
    EXPECT_EQ(any_outcome.answer(), "ready");
}

TEST(future_abandonment, destroys_the_callable_exactly_once_and_never_calls_it) {
    std::atomic<int> alive{0};
    int calls = 0;
    auto parts = future_task<int>{[&, held = test::tracked{alive}] { return ++calls; }}.split();
    EXPECT_EQ(alive, 1);
    parts.work = nullptr;
    EXPECT_EQ(alive, 0);
    parts.handle = {};
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(calls, 0);
}

TEST(future_abandonment, without_any_handle_left_still_destroys_the_callable) {
    std::atomic<int> alive{0};
    auto parts = future_task<int>{[held = test::tracked{alive}] { return 7; }}.split();
    parts.handle = {};
    EXPECT_EQ(alive, 1);  // the task can still run
    parts.work = nullptr;
    EXPECT_EQ(alive, 0);
}

TEST(future_abandonment, calls_the_done_callbacks_once_the_outcome_can_be_read) {
    auto parts = future_task<int>{[] { return 7; }}.split();
    std::string answer;
    parts.handle.on_done([&](const future<int>& f) { answer = test::answer_of([&] { f.get(); }); });
    parts.work = nullptr;
    EXPECT_EQ(answer, "cancelled");
}

TEST(future_abandonment, reports_a_callback_that_throws_on_stderr_and_goes_on) {
    auto parts = future_task<int>{[] { return 7; }}.split();
    bool second_called = false;
    parts.handle.on_done([] { throw std::runtime_error("from the first callback"); });
    parts.handle.on_done([&] { second_called = true; });
    parts.handle.on_done([] { throw std::runtime_error("from the third callback"); });

    testing::internal::CaptureStderr();
    parts.work = nullptr;
    const std::string text = testing::internal::GetCapturedStderr();

    EXPECT_TRUE(second_called);
    EXPECT_TRUE(parts.handle.is_cancelled());
    EXPECT_NE(text.find("from the first callback"), std::string::npos) << text;
    EXPECT_NE(text.find("from the third callback"), std::string::npos) << text;
    EXPECT_NE(text.find("future of task " + std::to_string(parts.handle.id())), std::string::npos) << text;
}

TEST(future_abandonment, after_a_run_changes_nothing) {
    auto parts = future_task<int>{[] { return 7; }}.split();
    parts.work();
    parts.work = nullptr;
    EXPECT_EQ(parts.handle.get(), 7);
}

TEST(future_abandonment, after_run_and_reset_makes_the_future_cancelled) {
    std::atomic<int> alive{0};
    future<int> f;
    {
        future_task<int> t{[held = test::tracked{alive}] { return 7; }};
        f = t;
        EXPECT_TRUE(t.run_and_reset());
    }
    EXPECT_TRUE(f.is_cancelled());
    EXPECT_EQ(alive, 0);
}

TEST(future_abandonment, the_handle_does_not_keep_the_task_from_running) {
    int calls = 0;
    auto parts = future_task<int>{[&] { return ++calls; }}.split();
    parts.handle = {};
    parts.work();
    EXPECT_EQ(calls, 1);
}

TEST(future_abandonment, a_callable_that_cannot_be_copied_in_leaves_nothing_behind) {
    struct throws_when_copied {
        std::unique_ptr<int> something = std::make_unique<int>(1);
        throws_when_copied() = default;
        throws_when_copied(const throws_when_copied&) { throw std::bad_alloc{}; }
        int operator()() const { return 1; }
    };
    const throws_when_copied callable;
    EXPECT_THROW(future_task<int>{callable}, std::bad_alloc);
}
