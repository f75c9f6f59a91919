// What can be the body of a future_task, and the task that is made from it: its id, priority and
// due time.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "spool/base/task.hpp"
#include "spool/future/future_task.hpp"

namespace {

using spool::due_time;
using spool::future;
using spool::future_task;
using spool::task;

const due_time noon{std::chrono::hours{12}};

struct ordered_body {
    int operator()() const { return 7; }
    [[nodiscard]] int priority() const { return 5; }
    [[nodiscard]] due_time due() const { return noon; }
};

int seven() {
    return 7;
}

struct has_member {
    int n = 7;
    [[nodiscard]] int member() const { return n; }
};

template <class T>
void expect_order_kept(future_task<T> t, int priority, due_time due) {
    EXPECT_EQ(t.priority(), priority);
    EXPECT_EQ(t.due(), due);
    future_task<T> moved = std::move(t);
    EXPECT_EQ(moved.priority(), priority);
    EXPECT_EQ(moved.due(), due);
    auto [handle, work] = std::move(moved).split();
    EXPECT_EQ(work.priority(), priority);
    EXPECT_EQ(work.due(), due);
    handle.cancel();  // destroys the callable that was asked for them
    EXPECT_EQ(work.priority(), priority);
    EXPECT_EQ(work.due(), due);
}

}  // namespace

TEST(future_task_callables, may_be_functions_wrappers_and_move_only_objects) {
    future_task<int> pointer{&seven};
    future_task<int> wrapper{std::function<int()>{seven}};
    future_task<int> move_only{[p = std::make_unique<int>(7)] { return *p; }};
    has_member object;
    future_task<int> bound{std::bind_front(&has_member::member, &object)};
    for (future_task<int>* t : {&pointer, &wrapper, &move_only, &bound}) {
        t->run();
        EXPECT_EQ(t->get(), 7);
    }
}

TEST(future_task_callables, may_be_mutable_and_are_called_as_lvalues) {
    struct counts_calls {
        int calls = 0;
        int operator()() & { return ++calls; }
    };
    future_task<int> t{counts_calls{}};
    EXPECT_TRUE(t.run_and_reset());
    t.run();
    EXPECT_EQ(t.get(), 2);
}

TEST(future_task_callables, given_as_an_lvalue_are_copied) {
    int calls = 0;
    const auto body = [&calls] { return ++calls; };
    future_task<int> t{body};
    t.run();
    EXPECT_EQ(t.get(), 1);
    EXPECT_EQ(body(), 2);
}

TEST(future_task_callables, that_take_a_stop_token_get_one_that_can_stop) {
    future_task<bool> t{[](std::stop_token stop) { return stop.stop_possible() && !stop.stop_requested(); }};
    t.run();
    EXPECT_TRUE(t.get());
}

TEST(future_task_callables, with_both_forms_are_called_with_the_token) {
    struct both {
        std::string operator()() const { return "plain"; }
        std::string operator()(std::stop_token) const { return "token"; }
    };
    future_task t{both{}};
    t.run();
    EXPECT_EQ(t.get(), "token");
}

TEST(future_task_callables, with_a_value_may_take_a_token_too) {
    bool possible = false;
    future_task<int> t{[&](std::stop_token stop) { possible = stop.stop_possible(); }, 7};
    t.run();
    EXPECT_TRUE(possible);
    EXPECT_EQ(t.get(), 7);
}

// Its own id() and shared_state() must not affect the task that is made from it.
struct named : future_task<int> {
    using future_task::future_task;
    [[nodiscard]] std::string id() const { return "named"; }
    [[nodiscard]] std::string shared_state() const { return "none"; }
};

TEST(future_task_callables, what_derives_from_one_is_the_body_of_its_future) {
    named t{[] { return 7; }};
    const future<int> f = t;
    task work{std::move(t)};
    EXPECT_TRUE(work.adopts_scope());
    EXPECT_EQ(work.id(), f.id());
    work();
    EXPECT_EQ(f.get(), 7);
}

TEST(future_task_callables, what_only_contains_one_is_a_plain_callable) {
    struct secret : private future_task<int> {
        using future_task::future_task;
        void operator()() { run(); }
    };
    const task work{secret{[] { return 7; }}};
    EXPECT_FALSE(work.adopts_scope());
    EXPECT_TRUE(work.is_plain());
}

TEST(future_task_ids, are_the_same_for_the_future_and_the_split_off_task) {
    future_task<int> t{[] { return 7; }};
    const spool::task_id id = t.id();
    EXPECT_NE(id, 0U);
    auto [handle, work] = std::move(t).split();
    EXPECT_EQ(handle.id(), id);
    EXPECT_EQ(work.id(), id);
    const task moved = std::move(work);
    EXPECT_EQ(moved.id(), id);
}

TEST(future_task_ids, are_the_same_for_the_future_and_the_task_it_was_put_into) {
    future_task<int> t{[] { return 7; }};
    const future<int> f = t;
    const task work{std::move(t)};
    EXPECT_EQ(work.id(), f.id());
}

TEST(future_task_ids, differ_between_futures) {
    const future_task<int> a{[] { return 7; }};
    const future_task<int> b{[] { return 7; }};
    EXPECT_NE(a.id(), b.id());
}

TEST(future_task_order, is_that_of_the_callable_also_after_its_end) {
    expect_order_kept(future_task<int>{ordered_body{}}, 5, noon);
}

TEST(future_task_order, of_a_plain_callable_is_neutral) {
    expect_order_kept(future_task<int>{[] { return 7; }}, 0, due_time::min());
}

TEST(future_task_order, comes_from_with_priority) {
    expect_order_kept(future_task<int>{spool::with_priority(9, [] { return 7; })}, 9, due_time::min());
    expect_order_kept(future_task<void>{spool::with_priority(-1, [](std::stop_token) {})}, -1,
                      due_time::min());
}

TEST(future_task_order, is_kept_by_an_action_with_a_value) {
    expect_order_kept(future_task<std::string>{ordered_body{}, "value"}, 5, noon);
}

TEST(future_task_order, with_priority_keeps_the_due_time_of_its_callable) {
    expect_order_kept(future_task<int>{spool::with_priority(9, ordered_body{})}, 9, noon);
}

TEST(future_task_as_callable, runs_and_completes_when_the_task_is_called) {
    future_task<int> t{ordered_body{}};
    const future<int> f = t;
    task work{std::move(t)};
    EXPECT_TRUE(work.adopts_scope());
    EXPECT_EQ(work.priority(), 5);
    EXPECT_EQ(work.due(), noon);
    work();
    EXPECT_EQ(f.get(), 7);
    work();  // a second call does nothing
    EXPECT_EQ(f.get(), 7);
}

TEST(future_task_as_callable, counts_as_a_handle_until_the_task_is_destroyed) {
    future_task<std::string> t{[] { return std::string(100, 'x'); }};
    future<std::string> f = t;
    future<std::string> g = f;
    task work{std::move(t)};
    work();
    EXPECT_EQ(std::move(f).get(), std::string(100, 'x'));
    // A copy: the task could still read the result.
    EXPECT_EQ(std::move(g).get(), std::string(100, 'x'));
}

TEST(future_task_as_callable, split_leaves_an_empty_future_task) {
    future_task<int> t{[] { return 7; }};
    const auto parts = std::move(t).split();
    EXPECT_FALSE(t.valid());
    EXPECT_TRUE(parts.handle.valid());
    EXPECT_FALSE(parts.work.empty());
}
