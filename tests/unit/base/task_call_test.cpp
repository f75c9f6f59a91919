// Calling a task: which form of the callable is chosen, and which argument it gets.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include "spool/base/task.hpp"
#include "support/throws.hpp"

namespace {

using spool::task;

int calls_of_function = 0;
void plain_function() {
    ++calls_of_function;
}

TEST(task_call, empty_task_throws_bad_function_call) {
    task work;
    EXPECT_THROW(work(), std::bad_function_call);
    work = nullptr;
    EXPECT_THROW(work(), std::bad_function_call);
}

TEST(task_call, moved_from_task_throws_bad_function_call) {
    task from = [] {};
    const task to{std::move(from)};
    EXPECT_THROW(from(), std::bad_function_call);
}

TEST(task_call, same_task_can_be_called_twice) {
    int calls = 0;
    task work = [&calls] { ++calls; };
    work();
    work();
    EXPECT_EQ(calls, 2);
}

TEST(task_call, callable_keeps_its_state_between_calls) {
    int last = 0;
    task work = [&last, n = 0]() mutable { last = ++n; };
    work();
    work();
    EXPECT_EQ(last, 2);
}

TEST(task_call, return_value_is_dropped) {
    int calls = 0;
    task work = [&calls] {
        ++calls;
        return std::string{"nobody reads this"};
    };
    static_assert(std::is_void_v<decltype(work())>);
    work();
    EXPECT_EQ(calls, 1);
}

TEST(task_call, exception_of_the_callable_is_passed_on) {
    task work = [] { throw std::runtime_error("disk full"); };
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { work(); }), "disk full");
    EXPECT_FALSE(work.empty());  // it may be called again
    EXPECT_THROW(work(), std::runtime_error);
}

TEST(task_call, move_only_callable_is_accepted) {
    int seen = 0;
    task work = [&seen, value = std::make_unique<int>(7)] { seen = *value; };
    task moved{std::move(work)};
    moved();
    EXPECT_EQ(seen, 7);
}

TEST(task_call, plain_function_is_accepted_by_name_and_address) {
    calls_of_function = 0;
    task by_name{plain_function};
    task by_address{&plain_function};
    by_name();
    by_address();
    EXPECT_EQ(calls_of_function, 2);
}

TEST(task_call, const_callable_is_accepted) {
    int calls = 0;
    const auto callable = [&calls] { ++calls; };
    task work{callable};
    work();
    EXPECT_EQ(calls, 1);
}

TEST(task_call, token_outside_of_any_task_never_stops) {
    bool stop_possible = true;
    task work = [&stop_possible](std::stop_token stop) { stop_possible = stop.stop_possible(); };
    work();
    EXPECT_FALSE(stop_possible);
}

TEST(task_call, callable_gets_the_token_of_the_current_scope) {
    bool same = false;
    spool::task_scope scope;
    task work = [&same, &scope](std::stop_token stop) { same = stop == scope.token(); };
    work();
    EXPECT_TRUE(same);
}

TEST(task_call, callable_gets_a_fresh_token_at_each_call) {
    std::stop_token seen;
    task work = [&seen](std::stop_token stop) { seen = std::move(stop); };
    {
        spool::task_scope scope;
        scope.interrupt().request_stop();
        work();
        EXPECT_TRUE(seen.stop_requested());
    }
    const spool::task_scope scope;
    work();
    EXPECT_FALSE(seen.stop_requested());
}

// As with std::jthread, a callable that can take the token gets it.
TEST(task_call, generic_callable_gets_the_token) {
    int arguments = -1;
    task work = [&arguments](auto&&... given) { arguments = static_cast<int>(sizeof...(given)); };
    work();
    EXPECT_EQ(arguments, 1);
}

TEST(task_call, member_function_of_the_token_is_a_task) {
    static_assert(spool::stoppable_callable<decltype(&std::stop_token::stop_requested)>);
    task work = &std::stop_token::stop_requested;
    EXPECT_FALSE(work.empty());
    EXPECT_NO_THROW(work());
}

TEST(task_call, lvalue_only_callable_is_called_as_one) {
    struct lvalue_only {
        void operator()() & { ++*calls; }
        int* calls;
    };
    int calls = 0;
    task work = lvalue_only{&calls};
    work();
    EXPECT_EQ(calls, 1);
}

// If task_callable required constructibility, it would recurse here.
struct made_from_a_task {
    made_from_a_task(task work) : inner(std::move(work)) {}
    void operator()() { inner(); }
    task inner;
};

TEST(task_call, callable_constructible_from_a_task_compiles) {
    int calls = 0;
    task work = made_from_a_task{[&calls] { ++calls; }};
    work();
    EXPECT_EQ(calls, 1);
}

TEST(task_call, task_inside_a_lambda_can_be_called) {
    int calls = 0;
    task inner = [&calls] { ++calls; };
    task outer = [inner = std::move(inner)]() mutable { inner(); };
    outer();
    EXPECT_EQ(calls, 1);
}

static_assert(spool::task_callable<void()>);
static_assert(spool::task_callable<void (*)()>);
static_assert(spool::task_callable<std::function<int()>>);
static_assert(!spool::task_callable<void (*)(int)>);
static_assert(!spool::task_callable<int>);
static_assert(!std::is_constructible_v<task, void (*)(int)>);
static_assert(!std::is_constructible_v<task, int>);
static_assert(std::is_same_v<spool::task_result_t<int (*)()>, int>);
static_assert(std::is_same_v<spool::task_result_t<char (*)(std::stop_token)>, char>);

}  // namespace
