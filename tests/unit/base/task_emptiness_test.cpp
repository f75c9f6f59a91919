// A task made from a null value is empty; a task made from a callable never is.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stop_token>

#include "spool/base/task.hpp"

namespace {

using spool::task;

TEST(task_emptiness, default_and_nullptr_tasks_are_empty) {
    const task made_of_nothing{};
    const task made_of_null{nullptr};
    for (const task* work : {&made_of_nothing, &made_of_null}) {
        EXPECT_TRUE(work->empty());
        EXPECT_FALSE(static_cast<bool>(*work));
        EXPECT_TRUE(*work == nullptr);
        EXPECT_EQ(work->id(), 0U);
    }
}

TEST(task_emptiness, const_task_needs_no_value) {
    const spool::task t;
    EXPECT_TRUE(t.empty());
}

TEST(task_emptiness, task_of_a_callable_is_not_empty) {
    int n = 0;
    const task work = [&n] { ++n; };
    EXPECT_FALSE(work.empty());
    EXPECT_TRUE(static_cast<bool>(work));
    EXPECT_TRUE(work != nullptr);
}

TEST(task_emptiness, empty_std_function_makes_an_empty_task) {
    const task without{std::function<void()>{}};
    const task with_token{std::function<void(std::stop_token)>{}};
    EXPECT_TRUE(without.empty());
    EXPECT_EQ(without.id(), 0U);
    EXPECT_TRUE(with_token.empty());
}

TEST(task_emptiness, filled_std_function_makes_a_task) {
    int calls = 0;
    const std::function<void()> f = [&calls] { ++calls; };
    task work{f};
    ASSERT_FALSE(work.empty());
    work();
    EXPECT_EQ(calls, 1);
}

TEST(task_emptiness, null_function_pointer_makes_an_empty_task) {
    void (*without)() = nullptr;
    int (*with_token)(std::stop_token) = nullptr;
    EXPECT_TRUE(task{without}.empty());
    EXPECT_TRUE(task{with_token}.empty());
}

TEST(task_emptiness, null_member_pointer_makes_an_empty_task) {
    bool (std::stop_token::*member)() const noexcept = nullptr;
    static_assert(spool::task_callable<decltype(member)>);
    EXPECT_TRUE(task{member}.empty());
    member = &std::stop_token::stop_requested;
    EXPECT_FALSE(task{member}.empty());
}

TEST(task_emptiness, empty_callable_inside_with_priority_makes_an_empty_task) {
    const task of_function{spool::with_priority(3, std::function<void()>{})};
    void (*pointer)() = nullptr;
    const task of_pointer{spool::with_priority(3, pointer)};
    EXPECT_TRUE(of_function.empty());
    EXPECT_EQ(of_function.priority(), 0);
    EXPECT_TRUE(of_pointer.empty());
}

TEST(task_emptiness, filled_callable_inside_with_priority_makes_a_task) {
    EXPECT_FALSE(task{spool::with_priority(3, std::function<void()>{[] {}})}.empty());
    EXPECT_FALSE(task{spool::with_priority(3, [] {})}.empty());
}

// Such a lambda converts to a pointer and so compares with nullptr, yet it is never empty.
TEST(task_emptiness, lambda_without_captures_is_not_empty) {
    EXPECT_FALSE(task{[] {}}.empty());
    EXPECT_FALSE(task{[](std::stop_token) {}}.empty());
    EXPECT_FALSE(task{[](auto&&...) {}}.empty());
}

TEST(task_emptiness, empty_task_inside_a_callable_is_no_empty_task) {
    task outer = [inner = task{}]() mutable { inner(); };
    EXPECT_FALSE(outer.empty());
    EXPECT_THROW(outer(), std::bad_function_call);
}

}  // namespace
