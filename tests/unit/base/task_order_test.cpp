// What a task reports about its callable: priority, due time, and the callable itself.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <utility>

#include "spool/base/task.hpp"
#include "unit/base/callables.hpp"

namespace {

using spool::due_time;
using spool::task;
using namespace std::chrono_literals;

struct has_order {
    void operator()() const {}
    [[nodiscard]] int priority() const { return importance; }
    [[nodiscard]] due_time due() const { return when; }

    int importance;
    due_time when;
};

struct large_with_order : has_order {
    std::byte padding[64]{};
};

TEST(task_order, plain_callable_has_priority_zero_and_is_due_at_once) {
    const task work = [] {};
    EXPECT_EQ(work.priority(), 0);
    EXPECT_EQ(work.due(), due_time::min());
}

TEST(task_order, empty_task_has_priority_zero_and_is_due_at_once) {
    const task work{};
    EXPECT_EQ(work.priority(), 0);
    EXPECT_EQ(work.due(), due_time::min());
    EXPECT_FALSE(work.adopts_scope());
}

TEST(task_order, callable_answers_for_its_task) {
    const due_time when{5s};
    const task small = has_order{.importance = -3, .when = when};
    const task large = large_with_order{{.importance = 9, .when = when}};
    EXPECT_EQ(small.priority(), -3);
    EXPECT_EQ(small.due(), when);
    EXPECT_EQ(large.priority(), 9);
    EXPECT_EQ(large.due(), when);
}

TEST(task_order, answers_survive_a_move) {
    const due_time when{5s};
    task first = has_order{.importance = 4, .when = when};
    const task second{std::move(first)};
    EXPECT_EQ(second.priority(), 4);
    EXPECT_EQ(second.due(), when);
    EXPECT_EQ(first.priority(), 0);
    EXPECT_EQ(first.due(), due_time::min());
}

TEST(task_order, with_priority_answers_the_priority) {
    int calls = 0;
    task work = spool::with_priority(10, [&calls] { ++calls; });
    EXPECT_EQ(work.priority(), 10);
    EXPECT_EQ(work.due(), due_time::min());
    work();
    EXPECT_EQ(calls, 1);
}

TEST(task_order, with_priority_keeps_the_due_time) {
    const due_time when{5s};
    const task work = spool::with_priority(10, has_order{.importance = 1, .when = when});
    EXPECT_EQ(work.priority(), 10);
    EXPECT_EQ(work.due(), when);
}

TEST(task_order, with_priority_passes_the_token_on) {
    spool::task_scope scope;
    bool same = false;
    task work = spool::with_priority(-1, [&](std::stop_token stop) { same = stop == scope.token(); });
    EXPECT_EQ(work.priority(), -1);
    work();
    EXPECT_TRUE(same);
}

TEST(task_order, with_priority_keeps_the_result_type) {
    auto callable = spool::with_priority(1, [] { return 6 * 7; });
    static_assert(std::is_same_v<spool::task_result_t<decltype(callable)>, int>);
    EXPECT_EQ(callable(), 42);
    const int n = 5;
    auto by_reference = spool::with_priority(1, [&n]() -> const int& { return n; });
    static_assert(std::is_same_v<spool::task_result_t<decltype(by_reference)>, const int&>);
    EXPECT_EQ(&by_reference(), &n);
}

TEST(task_target, right_type_returns_the_callable) {
    task work = has_order{.importance = 4, .when = {}};
    ASSERT_NE(work.target<has_order>(), nullptr);
    work.target<has_order>()->importance = 5;
    EXPECT_EQ(work.priority(), 5);
}

TEST(task_target, large_callable_is_found_too) {
    task work = large_with_order{{.importance = 4, .when = {}}};
    ASSERT_NE(work.target<large_with_order>(), nullptr);
    work.target<large_with_order>()->importance = 6;
    EXPECT_EQ(work.priority(), 6);
}

TEST(task_target, wrong_type_returns_null) {
    task work = large_with_order{{.importance = 4, .when = {}}};
    EXPECT_EQ(work.target<has_order>(), nullptr);  // a base class is another type
    EXPECT_EQ(work.target<int>(), nullptr);
    EXPECT_EQ(task{}.target<has_order>(), nullptr);
}

TEST(task_target, const_task_returns_a_const_callable) {
    const task work = has_order{.importance = 4, .when = {}};
    static_assert(std::is_same_v<decltype(work.target<has_order>()), const has_order*>);
    ASSERT_NE(work.target<has_order>(), nullptr);
    EXPECT_EQ(work.target<has_order>()->importance, 4);
}

TEST(task_target, function_pointer_is_a_target) {
    static int calls;
    calls = 0;
    void (*function)() = [] { ++calls; };
    task work{function};
    ASSERT_NE(work.target<void (*)()>(), nullptr);
    EXPECT_EQ(*work.target<void (*)()>(), function);
    (*work.target<void (*)()>())();
    EXPECT_EQ(calls, 1);
}

}  // namespace
