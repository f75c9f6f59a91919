// The task scope in which a body runs: which stop token it gets, and which scopes a stop reaches.
#include <gtest/gtest.h>

#include <stop_token>
#include <utility>

#include "spool/detail/task_scope.hpp"
#include "spool/future/future_task.hpp"
#include "spool/sync/this_task.hpp"

namespace {

using spool::cancel_mode;
using spool::future;
using spool::future_task;
using spool::task_scope;

}  // namespace

TEST(future_scope, run_gives_the_body_a_scope_of_its_own) {
    task_scope* inside = nullptr;
    std::stop_token given;
    std::stop_token current;
    future_task<void> t{[&](std::stop_token stop) {
        inside = task_scope::current();
        given = std::move(stop);
        current = spool::this_task::stop_token();
    }};
    EXPECT_EQ(task_scope::current(), nullptr);
    t.run();
    EXPECT_NE(inside, nullptr);
    EXPECT_EQ(task_scope::current(), nullptr);
    EXPECT_EQ(given, current);
}

TEST(future_scope, a_split_off_task_takes_over_the_scope_opened_for_it) {
    task_scope* inside = nullptr;
    std::stop_token given;
    auto [handle, work] = future_task<void>{[&](std::stop_token stop) {
                              inside = task_scope::current();
                              given = std::move(stop);
                          }}.split();
    task_scope scope{work};
    work();
    EXPECT_EQ(inside, &scope);
    EXPECT_EQ(given, scope.token());
}

TEST(future_scope, a_future_task_put_into_a_task_takes_over_the_scope_opened_for_it) {
    task_scope* inside = nullptr;
    spool::task work{future_task<void>{[&] { inside = task_scope::current(); }}};
    const task_scope scope{work};
    work();
    EXPECT_EQ(inside, &scope);
}

TEST(future_scope, cancelling_the_future_stops_the_scope_taken_over) {
    future<void> handle;
    auto parts = future_task<void>{[&] { handle.cancel(); }}.split();
    handle = parts.handle;
    task_scope scope{parts.work};
    parts.work();
    EXPECT_TRUE(scope.stop_requested());
    EXPECT_TRUE(scope.token().stop_requested());
}

TEST(future_scope, cancelling_with_let_run_does_not_stop_the_scope) {
    future<void> handle;
    auto parts = future_task<void>{[&] { handle.cancel(cancel_mode::let_run); }}.split();
    handle = parts.handle;
    task_scope scope{parts.work};
    parts.work();
    EXPECT_FALSE(scope.stop_requested());
    EXPECT_FALSE(scope.token().stop_requested());
}

TEST(future_scope, one_run_inside_a_task_is_stopped_with_that_task_and_never_the_reverse) {
    future<void> inner;
    bool outer_stopped_by_inner = true;
    bool inner_stopped_by_outer = false;
    future_task<void> first{[&] { inner.cancel(); }};
    inner = first;
    future_task<void> second{[&](std::stop_token stop) {
        task_scope* const outer = task_scope::current();
        EXPECT_NE(outer, nullptr);
        inner_stopped_by_outer = stop.stop_requested() && spool::this_task::stop_requested();
    }};

    task_scope scope;
    first.run();
    outer_stopped_by_inner = scope.stop_requested() || scope.token().stop_requested();
    EXPECT_FALSE(outer_stopped_by_inner);
    EXPECT_TRUE(inner.is_cancelled());

    scope.interrupt().request_stop();
    second.run();
    EXPECT_TRUE(inner_stopped_by_outer);
    // A stop alone does not decide the outcome.
    EXPECT_EQ(second.state(), spool::future_state::succeeded);
}

TEST(future_scope, the_scope_is_taken_over_once_so_a_nested_run_gets_its_own) {
    task_scope* nested_scope = nullptr;
    future_task<void> nested{[&] { nested_scope = task_scope::current(); }};
    auto [handle, work] = future_task<void>{[&] { nested.run(); }}.split();
    const task_scope scope{work};
    work();
    EXPECT_NE(nested_scope, nullptr);
    EXPECT_NE(nested_scope, &scope);
}

TEST(future_scope, a_reused_scope_shows_the_next_task_no_stop_of_the_last) {
    future<void> first_handle;
    std::stop_token first_token;
    auto first = future_task<void>{[&](std::stop_token stop) {
                     first_token = std::move(stop);
                     first_handle.cancel();
                 }}.split();
    first_handle = first.handle;
    future<void> second_handle;
    bool second_stopped = true;
    bool second_token_stopped = true;
    auto second = future_task<void>{[&](std::stop_token stop) {
                      second_stopped = spool::this_task::stop_requested();
                      second_token_stopped = stop.stop_requested();
                  }}.split();

    task_scope scope{first.work};
    first.work();
    EXPECT_TRUE(first_token.stop_requested());
    scope.reset(second.work);
    second.work();
    EXPECT_FALSE(second_stopped);
    EXPECT_FALSE(second_token_stopped);
    EXPECT_EQ(second.handle.state(), spool::future_state::succeeded);
}

TEST(future_scope, a_token_left_behind_is_not_stopped_by_the_cancel_of_a_later_task) {
    std::stop_token first_token;
    auto first = future_task<void>{[&](std::stop_token stop) { first_token = std::move(stop); }}.split();
    future<void> second_handle;
    auto second = future_task<void>{[&](std::stop_token) { second_handle.cancel(); }}.split();
    second_handle = second.handle;

    task_scope scope{first.work};
    first.work();
    scope.reset(second.work);
    second.work();
    EXPECT_TRUE(second_handle.is_cancelled());
    EXPECT_FALSE(first_token.stop_requested());
}

TEST(future_scope, a_cancel_after_the_end_never_stops_the_scope) {
    auto [handle, work] = future_task<int>{[] { return 7; }}.split();
    task_scope scope{work};
    work();
    EXPECT_FALSE(handle.cancel());
    EXPECT_FALSE(scope.stop_requested());
}
