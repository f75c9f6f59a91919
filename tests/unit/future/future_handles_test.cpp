// Handles as values: equality, copies, and a handle without a state.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/future/future_task.hpp"
#include "support/throws.hpp"

namespace {

using spool::future;
using spool::future_task;
using std::chrono::seconds;

static_assert(std::is_copy_constructible_v<future<int>> && std::is_nothrow_move_constructible_v<future<int>>);
static_assert(!std::is_copy_constructible_v<future_task<int>> &&
              !std::is_copy_assignable_v<future_task<int>>);
static_assert(std::is_nothrow_move_constructible_v<future_task<int>> &&
              std::is_nothrow_move_assignable_v<future_task<int>>);
static_assert(sizeof(future<int>) == sizeof(void*));

struct named_call {
    const char* name;
    std::function<void(future<int>&)> call;
};

const std::vector<named_call>& all_calls() {
    static const std::vector<named_call> calls = {
        {"get", [](future<int>& f) { f.get(); }},
        {"get", [](future<int>& f) { f.get(std::stop_token{}); }},
        {"get", [](future<int>& f) { std::move(f).get(); }},
        {"get", [](future<int>& f) { std::move(f).get(std::stop_token{}); }},
        {"get_for", [](future<int>& f) { f.get_for(seconds{0}); }},
        {"get_for", [](future<int>& f) { f.get_for(seconds{0}, std::stop_token{}); }},
        {"get_for", [](future<int>& f) { std::move(f).get_for(seconds{0}); }},
        {"get_for", [](future<int>& f) { std::move(f).get_for(seconds{0}, std::stop_token{}); }},
        {"wait", [](future<int>& f) { f.wait(); }},
        {"wait", [](future<int>& f) { f.wait(std::stop_token{}); }},
        {"wait_for", [](future<int>& f) { static_cast<void>(f.wait_for(seconds{0})); }},
        {"wait_for", [](future<int>& f) { static_cast<void>(f.wait_for(seconds{0}, std::stop_token{})); }},
        {"wait_until", [](future<int>& f) { static_cast<void>(f.wait_until(spool::deadline::never())); }},
        {"cancel", [](future<int>& f) { f.cancel(); }},
        {"is_done", [](future<int>& f) { static_cast<void>(f.is_done()); }},
        {"is_cancelled", [](future<int>& f) { static_cast<void>(f.is_cancelled()); }},
        {"state", [](future<int>& f) { static_cast<void>(f.state()); }},
        {"result_now", [](future<int>& f) { f.result_now(); }},
        {"exception_now", [](future<int>& f) { static_cast<void>(f.exception_now()); }},
        {"on_done", [](future<int>& f) { f.on_done([] {}); }},
        {"on_done", [](future<int>& f) { f.on_done([](const future<int>&) {}); }},
        {"id", [](future<int>& f) { static_cast<void>(f.id()); }},
    };
    return calls;
}

void expect_every_call_refused(future<int>& f) {
    for (const named_call& c : all_calls()) {
        const std::string text = test::what_of<std::logic_error>([&] { c.call(f); });
        EXPECT_TRUE(text.starts_with("future::" + std::string{c.name} + ": ")) << c.name << ": " << text;
    }
}

}  // namespace

TEST(future_handles, are_equal_when_they_share_a_state) {
    const future_task<int> a{[] { return 1; }};
    const future_task<int> b{[] { return 1; }};
    const future<int> first = a;
    const future<int> second = first;
    EXPECT_EQ(first, second);
    EXPECT_EQ(first, static_cast<const future<int>&>(a));
    EXPECT_NE(first, static_cast<const future<int>&>(b));
    EXPECT_NE(first, future<int>{});
    EXPECT_EQ(future<int>{}, future<int>{});
}

TEST(future_handles, see_the_same_outcome_whichever_copy_is_asked) {
    future_task<int> t{[] { return 7; }};
    const future<int> first = t;
    const future<int> second = first;
    t.run();
    EXPECT_EQ(first.get(), 7);
    EXPECT_EQ(second.get(), 7);
    EXPECT_EQ(first.id(), second.id());
}

TEST(future_handles, made_without_a_task_refuse_every_call_naming_it) {
    future<int> empty;
    EXPECT_FALSE(empty.valid());
    expect_every_call_refused(empty);
    EXPECT_FALSE(empty.valid());
}

TEST(future_handles, moved_from_refuse_every_call_naming_it) {
    const future_task<int> t{[] { return 7; }};
    future<int> f = t;
    const future<int> taken = std::move(f);
    EXPECT_TRUE(taken.valid());
    EXPECT_FALSE(f.valid());
    expect_every_call_refused(f);
}

TEST(future_handles, without_a_state_can_be_assigned_to_and_described) {
    const future_task<int> t{[] { return 7; }};
    future<int> f;
    std::ostringstream out;
    out << f;
    EXPECT_EQ(out.str(), "future without a state");
    f = t;
    EXPECT_TRUE(f.valid());
    EXPECT_FALSE(f.is_done());
}

TEST(future_handles, assigned_to_themselves_keep_their_state) {
    future_task<int> t{[] { return 7; }};
    future<int> f = t;
    const future<int>& alias = f;
    f = alias;
    t.run();
    EXPECT_EQ(f.get(), 7);
}

TEST(future_handles, of_a_task_that_was_moved_belong_to_the_new_owner) {
    future_task<int> t{[] { return 7; }};
    const future<int> f = t;
    future_task<int> moved = std::move(t);
    EXPECT_FALSE(t.valid());
    EXPECT_FALSE(f.is_done());
    moved.run();
    EXPECT_EQ(f.get(), 7);
}

TEST(future_handles, a_moved_from_task_refuses_to_run_or_to_be_completed) {
    future_task<int> t{[] { return 7; }};
    const future_task<int> moved = std::move(t);
    EXPECT_THROW(t.run(), std::logic_error);
    EXPECT_THROW(t(), std::logic_error);
    EXPECT_THROW(t.run_and_reset(), std::logic_error);
    EXPECT_THROW(t.set_value(1), std::logic_error);
    EXPECT_THROW(t.set_exception(std::make_exception_ptr(1)), std::logic_error);
    EXPECT_FALSE(moved.is_done());
}

TEST(future_handles, a_moved_from_task_refuses_to_become_a_task) {
    future_task<int> t{[] { return 7; }};
    const future_task<int> moved = std::move(t);
    EXPECT_THROW(spool::task{std::move(t)}, std::logic_error);
}

TEST(future_handles, a_moved_from_task_refuses_to_be_split) {
    future_task<int> t{[] { return 7; }};
    const future_task<int> moved = std::move(t);
    EXPECT_THROW(static_cast<void>(std::move(t).split()), std::logic_error);
}
