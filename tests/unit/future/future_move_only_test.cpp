// Results that can only be moved: a single get() on an rvalue takes them.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "spool/future/future_task.hpp"
#include "support/throws.hpp"

namespace {

using spool::future;
using spool::future_task;
using std::chrono::seconds;
using pointer = std::unique_ptr<int>;

template <class T>
concept gets_as_lvalue = requires(future<T>& f) {
    f.get();
};
template <class T>
concept gets_with_token_as_lvalue = requires(future<T>& f) {
    f.get(std::stop_token{});
};
template <class T>
concept gets_timed_as_lvalue = requires(future<T>& f) {
    f.get_for(seconds{1});
};
template <class T>
concept gets_now = requires(future<T>& f) {
    f.result_now();
};
template <class T>
concept gets_as_rvalue = requires(future<T>& f) {
    std::move(f).get();
    std::move(f).get(std::stop_token{});
    std::move(f).get_for(seconds{1});
    std::move(f).get_for(seconds{1}, std::stop_token{});
};

static_assert(gets_as_lvalue<int> && gets_with_token_as_lvalue<int> && gets_timed_as_lvalue<int> &&
              gets_now<int>);
static_assert(!gets_as_lvalue<pointer> && !gets_with_token_as_lvalue<pointer> &&
              !gets_timed_as_lvalue<pointer> && !gets_now<pointer>);
static_assert(gets_as_rvalue<int> && gets_as_rvalue<pointer>);
// A reference to a move-only object can be shared like any other.
static_assert(gets_as_lvalue<pointer&> && gets_now<pointer&>);

}  // namespace

TEST(future_move_only, the_result_comes_out_of_an_rvalue) {
    future_task<pointer> t{[] { return std::make_unique<int>(7); }};
    t.run();
    const pointer result = std::move(t).get();
    ASSERT_NE(result, nullptr);
    EXPECT_EQ(*result, 7);
}

TEST(future_move_only, the_first_get_wins_and_every_later_one_throws_logic_error) {
    future_task<pointer> t{[] { return std::make_unique<int>(7); }};
    future<pointer> first = t;
    future<pointer> second = t;
    future<pointer> third = t;
    t.run();
    EXPECT_NE(std::move(second).get(), nullptr);
    EXPECT_NE(test::what_of<std::logic_error>([&] { std::move(first).get(); }).find("moved out"),
              std::string::npos);
    EXPECT_FALSE(first.valid());
    EXPECT_THROW(static_cast<void>(std::move(third).get_for(seconds{0})), std::logic_error);
    EXPECT_EQ(t.state(), spool::future_state::succeeded);  // the future is still done
}

TEST(future_move_only, a_get_that_times_out_takes_nothing) {
    future_task<pointer> t{[] { return std::make_unique<int>(7); }};
    future<pointer> f = t;
    EXPECT_THROW(static_cast<void>(std::move(f).get_for(seconds{0})), spool::timed_out);
    ASSERT_TRUE(f.valid());
    t.run();
    EXPECT_EQ(*std::move(f).get(), 7);
}

TEST(future_move_only, a_failure_can_be_read_by_every_handle) {
    future_task<pointer> t{[]() -> pointer { throw std::out_of_range("none"); }};
    future<pointer> first = t;
    future<pointer> second = t;
    t.run();
    EXPECT_THROW(static_cast<void>(std::move(first).get()), std::out_of_range);
    EXPECT_THROW(static_cast<void>(std::move(second).get()), std::out_of_range);
}

TEST(future_move_only, a_value_set_by_hand_is_moved_in) {
    future_task<pointer> t{[] { return pointer{}; }};
    EXPECT_TRUE(t.set_value(std::make_unique<int>(9)));
    EXPECT_EQ(*std::move(t).get(), 9);
}

TEST(future_move_only, a_reference_to_one_is_shared) {
    pointer owner = std::make_unique<int>(3);
    future_task<pointer&> t{[&]() -> pointer& { return owner; }};
    t.run();
    EXPECT_EQ(&t.get(), &owner);
    EXPECT_EQ(&t.get(), &owner);
}
