// What a future can hold, and what get() returns: a reference to the value, a copy, or the value
// moved out.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/future/future_task.hpp"

namespace {

using spool::future;
using spool::future_task;

struct counts {
    int copies = 0;
    int moves = 0;
};

// Counts how often it is copied and moved.
class counted {
public:
    explicit counted(counts& c) : counts_(&c) {}
    counted(const counted& other) : counts_(other.counts_) { ++counts_->copies; }
    counted(counted&& other) noexcept : counts_(other.counts_) { ++counts_->moves; }
    counted& operator=(const counted&) = delete;

private:
    counts* counts_;
};

struct base_thing {
    int n = 1;
};
struct derived_thing : base_thing {};

// Returns the handle of a future whose task has run and is destroyed.
template <class F>
future<spool::task_result_t<F>> ran(F f) {
    auto [handle, work] = future_task<spool::task_result_t<F>>{std::move(f)}.split();
    work();
    work = nullptr;
    return std::move(handle);
}

TEST(future_value_given_beforehand, survives_runs_that_keep_no_result) {
    int runs = 0;
    spool::future_task<std::string> t{[&runs] { ++runs; }, std::string(100, 'x')};
    EXPECT_TRUE(t.run_and_reset());
    EXPECT_TRUE(t.run_and_reset());
    t.run();
    EXPECT_EQ(runs, 3);
    EXPECT_EQ(t.get(), std::string(100, 'x'));
}

TEST(future_value_given_beforehand, survives_runs_also_when_it_can_only_be_moved) {
    bool same = false;
    spool::task_scope scope;
    spool::future_task<std::unique_ptr<int>> t{
        [&same](const std::stop_token& stop) { same = stop == spool::task_scope::current_token(); },
        std::make_unique<int>(7)};
    EXPECT_TRUE(t.run_and_reset());
    EXPECT_TRUE(same);
    t.run();
    const std::unique_ptr<int> value = static_cast<spool::future<std::unique_ptr<int>>&&>(t).get();
    ASSERT_NE(value, nullptr);
    EXPECT_EQ(*value, 7);
}

}  // namespace

TEST(future_values, a_value_comes_as_a_reference_to_the_one_result) {
    const future<std::string> f = ran([] { return std::string{"hello"}; });
    const future<std::string> same = f;
    static_assert(std::is_same_v<decltype(f.get()), const std::string&>);
    EXPECT_EQ(f.get(), "hello");
    EXPECT_EQ(&f.get(), &f.get());
    EXPECT_EQ(&f.get(), &same.get());
    EXPECT_EQ(&f.get(), &f.get_for(std::chrono::seconds{0}));
    EXPECT_EQ(&f.get(), &f.get({}));
    EXPECT_EQ(&f.get(), &f.get_for(std::chrono::seconds{0}, {}));
    EXPECT_EQ(&f.get(), &f.result_now());
}

TEST(future_values, the_result_is_valid_while_any_handle_lives) {
    future<std::string> f = ran([] { return std::string(100, 'x'); });
    const std::string& text = f.get();
    const future<std::string> kept = f;
    f = {};
    EXPECT_EQ(text, std::string(100, 'x'));
}

TEST(future_values, get_by_reference_neither_copies_nor_moves) {
    counts c;
    const future<counted> f = ran([&] { return counted{c}; });
    c = {};
    static_cast<void>(f.get());
    static_cast<void>(f.result_now());
    EXPECT_EQ(c.copies, 0);
    EXPECT_EQ(c.moves, 0);
}

TEST(future_values, running_never_copies_the_result) {
    counts c;
    const future<counted> f = ran([&] { return counted{c}; });
    EXPECT_EQ(c.copies, 0);
}

TEST(future_values, get_on_the_last_handle_moves_the_value_out) {
    counts c;
    future<counted> f = ran([&] { return counted{c}; });
    c = {};
    static_assert(std::is_same_v<decltype(std::move(f).get()), counted>);
    [[maybe_unused]] const counted result = std::move(f).get();
    EXPECT_EQ(c.copies, 0);
    EXPECT_EQ(c.moves, 1);
}

TEST(future_values, timed_get_on_the_last_handle_moves_the_value_out) {
    counts c;
    future<counted> f = ran([&] { return counted{c}; });
    c = {};
    [[maybe_unused]] const counted result = std::move(f).get_for(std::chrono::seconds{0});
    EXPECT_EQ(c.copies, 0);
    EXPECT_EQ(c.moves, 1);
    EXPECT_FALSE(f.valid());
}

TEST(future_values, get_on_a_handle_that_is_not_the_last_copies) {
    counts c;
    future<counted> f = ran([&] { return counted{c}; });
    future<counted> other = f;
    c = {};
    [[maybe_unused]] const counted copy = std::move(f).get();
    EXPECT_EQ(c.copies, 1);
    EXPECT_EQ(c.moves, 0);
    [[maybe_unused]] const counted moved = std::move(other).get();  // now the last handle
    EXPECT_EQ(c.copies, 1);
    EXPECT_EQ(c.moves, 1);
}

TEST(future_values, a_copied_out_value_leaves_the_result_whole) {
    future<std::string> f = ran([] { return std::string(100, 'x'); });
    const future<std::string> other = f;
    const std::string copy = std::move(f).get();
    EXPECT_EQ(copy, other.get());
    EXPECT_EQ(other.get(), std::string(100, 'x'));
}

TEST(future_values, get_on_an_rvalue_uses_the_handle_up) {
    future<int> f = ran([] { return 7; });
    EXPECT_EQ(std::move(f).get(), 7);
    EXPECT_FALSE(f.valid());
    EXPECT_THROW(static_cast<void>(f.get()), std::logic_error);
}

TEST(future_values, get_on_an_rvalue_uses_the_handle_up_also_when_it_throws_the_outcome) {
    future<int> failed = ran([]() -> int { throw std::runtime_error("no"); });
    EXPECT_THROW(static_cast<void>(std::move(failed).get()), std::runtime_error);
    EXPECT_FALSE(failed.valid());

    future<int> dropped = future_task<int>{[] { return 1; }}.split().handle;
    EXPECT_THROW(static_cast<void>(std::move(dropped).get()), spool::cancelled);
    EXPECT_FALSE(dropped.valid());
}

TEST(future_values, get_on_an_rvalue_that_does_not_wait_to_the_end_keeps_the_handle) {
    auto [handle, work] = future_task<int>{[] { return 7; }}.split();
    std::stop_source stopped;
    stopped.request_stop();
    EXPECT_THROW(static_cast<void>(std::move(handle).get_for(std::chrono::seconds{0})), spool::timed_out);
    EXPECT_THROW(static_cast<void>(std::move(handle).get(stopped.get_token())), spool::interrupted);
    EXPECT_THROW(static_cast<void>(std::move(handle).get_for(std::chrono::hours{1}, stopped.get_token())),
                 spool::interrupted);
    ASSERT_TRUE(handle.valid());
    work();
    EXPECT_EQ(std::move(handle).get(), 7);
}

TEST(future_values, a_void_future_brings_only_the_end) {
    int calls = 0;
    future<void> f = ran([&] { ++calls; });
    static_assert(std::is_void_v<decltype(f.get())>);
    f.get();
    f.get_for(std::chrono::seconds{0});
    f.result_now();
    std::move(f).get();
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(f.valid());
}

TEST(future_values, a_void_future_drops_what_its_callable_returns) {
    future_task<void> t{[] { return 7; }};
    t.run();
    EXPECT_EQ(t.state(), spool::future_state::succeeded);
}

TEST(future_values, a_void_future_reports_the_failure_of_its_body) {
    const future<void> f = ran([] { throw std::out_of_range("void"); });
    EXPECT_THROW(f.get(), std::out_of_range);
}

TEST(future_values, a_reference_comes_as_the_very_object) {
    int n = 1;
    future<int&> f = ran([&]() -> int& { return n; });
    static_assert(std::is_same_v<decltype(f.get()), int&>);
    EXPECT_EQ(&f.get(), &n);
    EXPECT_EQ(&f.result_now(), &n);
    f.get() = 2;
    EXPECT_EQ(n, 2);
    EXPECT_EQ(&std::move(f).get(), &n);
    EXPECT_FALSE(f.valid());
}

TEST(future_values, a_reference_to_a_base_comes_from_a_derived_object) {
    derived_thing thing;
    future_task<base_thing&> t{[&]() -> derived_thing& { return thing; }};
    t.run();
    EXPECT_EQ(&t.get(), static_cast<base_thing*>(&thing));

    future_task<const base_thing&> fixed{[&]() -> derived_thing& { return thing; }};
    fixed.run();
    static_assert(std::is_same_v<decltype(fixed.get()), const base_thing&>);
    EXPECT_EQ(&fixed.get(), static_cast<base_thing*>(&thing));
}

TEST(future_values, a_result_is_converted_to_the_type_of_the_future) {
    future_task<std::string> t{[] { return "text"; }};
    t.run();
    EXPECT_EQ(t.get(), "text");
    static_assert(!std::is_constructible_v<future_task<int>, std::function<std::string()>>);
}

TEST(future_values, the_type_of_the_future_is_deduced_from_the_callable) {
    future_task plain{[] { return 7L; }};
    static_assert(std::is_same_v<decltype(plain), future_task<long>>);
    future_task stoppable{[](std::stop_token) { return std::string{}; }};
    static_assert(std::is_same_v<decltype(stoppable), future_task<std::string>>);
    future_task given{[] {}, 3.5};
    static_assert(std::is_same_v<decltype(given), future_task<double>>);
    given.run();
    EXPECT_EQ(given.get(), 3.5);
}

TEST(future_values, an_action_with_a_value_runs_and_brings_that_value) {
    int calls = 0;
    future_task<std::vector<int>> t{[&] { return ++calls; }, std::vector<int>{1, 2, 3}};
    t.run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(t.get(), (std::vector<int>{1, 2, 3}));
}

TEST(future_values, an_action_with_a_value_that_throws_brings_the_exception) {
    future_task<int> t{[] { throw std::out_of_range("action"); }, 1};
    t.run();
    EXPECT_THROW(t.get(), std::out_of_range);
}
