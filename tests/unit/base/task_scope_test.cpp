// task_scope: the stop state of a running task, and how scopes nest.
#include <gtest/gtest.h>

#include <optional>
#include <stop_token>
#include <thread>

#include "spool/base/task.hpp"
#include "spool/detail/task_scope.hpp"

namespace {

using spool::task;
using spool::task_scope;

void stop(task_scope& scope) {
    scope.interrupt().request_stop();
}

// Stands for the body of a future.
struct future_body {
    void operator()() const {}
};

}  // namespace

namespace spool::detail {

template <>
struct task_traits<future_body> : no_task_traits {
    static constexpr bool is_future_body = true;
    [[nodiscard]] static task_id id(const future_body&) { return 4711; }
    [[nodiscard]] static void* shared_state(const future_body& f) { return const_cast<future_body*>(&f); }
};

}  // namespace spool::detail

namespace {

TEST(task_scope_stop, without_a_scope_nothing_ever_stops) {
    EXPECT_EQ(task_scope::current(), nullptr);
    EXPECT_FALSE(task_scope::current_token().stop_possible());
}

TEST(task_scope_stop, new_scope_is_current_and_not_stopped) {
    task_scope scope;
    EXPECT_EQ(task_scope::current(), &scope);
    EXPECT_FALSE(scope.stop_requested());
    EXPECT_TRUE(scope.token().stop_possible());
    EXPECT_FALSE(scope.token().stop_requested());
    EXPECT_EQ(task_scope::current_token(), scope.token());
}

TEST(task_scope_stop, interrupt_stops_a_token_asked_for_before) {
    task_scope scope;
    const std::stop_token token = scope.token();
    stop(scope);
    EXPECT_TRUE(scope.stop_requested());
    EXPECT_TRUE(token.stop_requested());
}

TEST(task_scope_stop, interrupt_stops_a_token_asked_for_after) {
    task_scope scope;
    EXPECT_FALSE(scope.interrupt().stop_possible());  // the token was not requested: no state yet
    EXPECT_TRUE(scope.stop_requested());
    EXPECT_TRUE(scope.token().stop_requested());
}

TEST(task_scope_stop, interrupt_itself_runs_no_callback) {
    task_scope scope;
    int calls = 0;
    const std::stop_callback count{scope.token(), [&calls] { ++calls; }};
    std::stop_source source = scope.interrupt();
    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(scope.stop_requested());
    source.request_stop();
    EXPECT_EQ(calls, 1);
}

TEST(task_scope_stop, token_outlives_its_scope) {
    std::stop_token token;
    {
        task_scope scope;
        token = scope.token();
    }
    EXPECT_FALSE(token.stop_requested());
}

TEST(task_scope_stop, interrupt_works_from_another_thread) {
    task_scope scope;
    const std::stop_token token = scope.token();
    std::thread{[&scope] { stop(scope); }}.join();
    EXPECT_TRUE(token.stop_requested());
}

TEST(task_scope_stop, scopes_of_threads_are_independent) {
    task_scope mine;
    std::thread{[] {
        task_scope theirs;
        stop(theirs);
    }}.join();
    EXPECT_FALSE(mine.stop_requested());
    EXPECT_EQ(task_scope::current(), &mine);
}

// ---- Nesting

TEST(task_scope_nesting, scope_around_is_current_again_afterwards) {
    task_scope outer;
    {
        task_scope inner;
        EXPECT_EQ(task_scope::current(), &inner);
    }
    EXPECT_EQ(task_scope::current(), &outer);
}

TEST(task_scope_nesting, stop_of_the_outer_reaches_an_inner_token_asked_for_before) {
    task_scope outer;
    task_scope inner;
    const std::stop_token token = inner.token();
    stop(outer);
    EXPECT_TRUE(token.stop_requested());
    EXPECT_TRUE(inner.stop_requested());
}

TEST(task_scope_nesting, stop_of_the_outer_reaches_an_inner_token_asked_for_after) {
    task_scope outer;
    task_scope inner;
    stop(outer);
    EXPECT_TRUE(inner.stop_requested());
    EXPECT_TRUE(inner.token().stop_requested());
}

TEST(task_scope_nesting, stop_of_the_outer_reaches_an_inner_scope_opened_after) {
    task_scope outer;
    stop(outer);
    task_scope inner;
    EXPECT_TRUE(inner.stop_requested());
    EXPECT_TRUE(inner.token().stop_requested());
}

TEST(task_scope_nesting, stop_passes_three_levels) {
    task_scope outermost;
    const std::stop_token token_of_outermost = outermost.token();
    task_scope middle;
    task_scope innermost;
    const std::stop_token token = innermost.token();
    stop(outermost);
    EXPECT_TRUE(token.stop_requested());
    EXPECT_TRUE(innermost.stop_requested());
    EXPECT_TRUE(middle.stop_requested());
    EXPECT_TRUE(middle.token().stop_requested());
}

TEST(task_scope_nesting, stop_of_the_middle_reaches_only_the_innermost) {
    task_scope outermost;
    task_scope middle;
    task_scope innermost;
    const std::stop_token token = innermost.token();
    stop(middle);
    EXPECT_TRUE(token.stop_requested());
    EXPECT_FALSE(outermost.stop_requested());
    EXPECT_FALSE(outermost.token().stop_requested());
}

TEST(task_scope_nesting, stop_of_the_inner_never_reaches_the_outer) {
    task_scope outer;
    const std::stop_token token = outer.token();
    {
        task_scope inner;
        const std::stop_token token_of_inner = inner.token();
        stop(inner);
        EXPECT_TRUE(token_of_inner.stop_requested());
    }
    EXPECT_FALSE(outer.stop_requested());
    EXPECT_FALSE(token.stop_requested());
}

TEST(task_scope_nesting, inner_scope_that_ended_is_not_touched_by_the_outer) {
    task_scope outer;
    std::stop_token token;
    {
        task_scope inner;
        token = inner.token();
    }
    stop(outer);
    EXPECT_FALSE(token.stop_requested());
}

// ---- reset() and adopt()

TEST(task_scope_reset, next_task_gets_a_fresh_token) {
    const task next = [] {};
    task_scope scope;
    const std::stop_token old = scope.token();
    scope.reset(next);
    EXPECT_NE(scope.token(), old);
    stop(scope);
    EXPECT_FALSE(old.stop_requested());
    EXPECT_TRUE(scope.token().stop_requested());
}

TEST(task_scope_reset, stop_does_not_reach_the_next_task) {
    const task next = [] {};
    task_scope scope;
    const std::stop_token old = scope.token();
    stop(scope);
    scope.reset(next);
    EXPECT_FALSE(scope.stop_requested());
    EXPECT_FALSE(scope.token().stop_requested());
    EXPECT_TRUE(old.stop_requested());
}

TEST(task_scope_reset, unnoticed_stop_does_not_reach_the_next_task) {
    const task next = [] {};
    task_scope scope;
    stop(scope);
    scope.reset(next);
    EXPECT_FALSE(scope.stop_requested());
    EXPECT_FALSE(scope.token().stop_requested());
}

TEST(task_scope_reset, callback_left_behind_is_not_called_for_a_later_task) {
    const task next = [] {};
    task_scope scope;
    int calls = 0;
    const std::stop_callback left_behind{scope.token(), [&calls] { ++calls; }};
    scope.reset(next);
    stop(scope);
    const std::stop_token asked_after = scope.token();
    EXPECT_TRUE(asked_after.stop_requested());
    scope.reset(next);
    const std::stop_token asked_before = scope.token();
    stop(scope);
    EXPECT_TRUE(asked_before.stop_requested());
    EXPECT_EQ(calls, 0);
}

TEST(task_scope_reset, late_request_on_the_old_source_does_not_reach_the_next_task) {
    const task next = [] {};
    task_scope scope;
    const std::stop_token old = scope.token();
    std::stop_source late = scope.interrupt();
    scope.reset(next);
    late.request_stop();
    EXPECT_TRUE(old.stop_requested());
    EXPECT_FALSE(scope.stop_requested());
    EXPECT_FALSE(scope.token().stop_requested());
}

TEST(task_scope_reset, inner_scope_is_still_linked_to_the_outer) {
    const task next = [] {};
    task_scope outer;
    task_scope inner;
    const std::stop_token old = inner.token();
    inner.reset(next);
    const std::stop_token fresh = inner.token();
    stop(outer);
    EXPECT_FALSE(old.stop_requested());
    EXPECT_TRUE(fresh.stop_requested());
    inner.reset(next);
    EXPECT_TRUE(inner.stop_requested());  // the stop of the outer scope remains
    EXPECT_TRUE(inner.token().stop_requested());
}

TEST(task_scope_adoption, scope_of_a_plain_task_is_not_adopted) {
    EXPECT_EQ(task_scope::adopt(), nullptr);
    const task plain = [] {};
    EXPECT_FALSE(plain.adopts_scope());
    const task_scope unnamed;
    EXPECT_EQ(task_scope::adopt(), nullptr);
    const task_scope named{plain};
    EXPECT_EQ(task_scope::adopt(), nullptr);
}

TEST(task_scope_adoption, scope_of_a_future_is_adopted_once) {
    const task body = future_body{};
    EXPECT_TRUE(body.adopts_scope());
    EXPECT_EQ(body.id(), 4711U);
    task_scope scope{body};
    EXPECT_EQ(task_scope::adopt(), &scope);
    EXPECT_EQ(task_scope::adopt(), nullptr);
}

TEST(task_scope_adoption, only_the_innermost_scope_is_adopted) {
    const task body = future_body{};
    task_scope outer{body};
    {
        const task_scope inner;
        EXPECT_EQ(task_scope::adopt(), nullptr);
    }
    EXPECT_EQ(task_scope::adopt(), &outer);
}

TEST(task_scope_adoption, reset_lets_the_next_task_decide_again) {
    const task plain = [] {};
    const task body = future_body{};
    task_scope scope{body};
    scope.reset(plain);
    EXPECT_EQ(task_scope::adopt(), nullptr);
    scope.reset(body);
    EXPECT_EQ(task_scope::adopt(), &scope);
    scope.reset(body);
    EXPECT_EQ(task_scope::adopt(), &scope);
}

}  // namespace
