// function_ref: calls the callable that it refers to, not a copy.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "spool/base/function_ref.hpp"

namespace {

using spool::function_ref;

int call_with_three(function_ref<int(int)> f) {
    return f(3);
}

int twice(int n) {
    return 2 * n;
}

TEST(function_reference, calls_the_callable_it_refers_to) {
    EXPECT_EQ(call_with_three([](int n) { return n + 1; }), 4);
}

TEST(function_reference, changes_the_original_not_a_copy) {
    auto counter = [n = 0](int) mutable { return ++n; };
    EXPECT_EQ(call_with_three(counter), 1);
    EXPECT_EQ(call_with_three(counter), 2);
}

TEST(function_reference, refers_to_a_const_callable) {
    const auto plus_one = [](int n) { return n + 1; };
    EXPECT_EQ(call_with_three(plus_one), 4);
}

TEST(function_reference, copy_refers_to_the_same_callable) {
    auto counter = [n = 0](int) mutable { return ++n; };
    function_ref<int(int)> first = counter;
    const function_ref<int(int)> second = first;
    EXPECT_EQ(first(0), 1);
    EXPECT_EQ(second(0), 2);
}

TEST(function_reference, refers_to_a_function_object_and_a_function_pointer) {
    std::function<int(int)> function = twice;
    EXPECT_EQ(call_with_three(function), 6);
    int (*pointer)(int) = twice;
    EXPECT_EQ(call_with_three(pointer), 6);
}

TEST(function_reference, passes_references_and_move_only_arguments) {
    int n = 1;
    auto add = [](int& target, std::unique_ptr<int> by) { target += *by; };
    const function_ref<void(int&, std::unique_ptr<int>)> f = add;
    f(n, std::make_unique<int>(4));
    EXPECT_EQ(n, 5);
}

TEST(function_reference, refers_to_a_function_by_its_name) {
    EXPECT_EQ(call_with_three(twice), 6);
    const function_ref<int(int)> by_name = twice;
    const function_ref<int(int)> copy = by_name;
    EXPECT_EQ(copy(4), 8);
}

TEST(function_reference, result_is_dropped_where_none_is_wanted) {
    int sum = 0;
    auto add = [&sum](int n) { return sum += n; };
    const function_ref<void(int)> drops = add;
    drops(3);
    EXPECT_EQ(sum, 3);
}

TEST(function_reference, result_is_converted_to_its_own) {
    auto give = [](int n) { return n; };
    const function_ref<bool(int)> converts = give;
    EXPECT_TRUE(converts(1));
    EXPECT_FALSE(converts(0));
}

static_assert(sizeof(function_ref<void()>) == 2 * sizeof(void*));
static_assert(std::is_trivially_copyable_v<function_ref<void()>>);
static_assert(!std::is_constructible_v<function_ref<int(int)>, std::unique_ptr<int> (*)(int)>);
static_assert(!std::is_constructible_v<function_ref<void()>, int>);

}  // namespace
