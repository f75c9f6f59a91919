// state(), result_now() and exception_now() in each state of a future, and what they throw when
// called too early.
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "spool/future/future_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"

namespace {

using spool::cancel_mode;
using spool::future_state;
using spool::future_task;

// Both calls must throw. The text names the call, what is missing, and the future.
template <class T>
void expect_neither_now(const spool::future<T>& f, const std::string& state) {
    const std::string task = "future of task " + std::to_string(f.id()) + ": " + state;
    EXPECT_EQ(test::what_of<std::logic_error>([&] {
                  f.result_now();
              }).find("future::result_now: there is not a result; " + task),
              0U);
    EXPECT_EQ(test::what_of<std::logic_error>([&] {
                  static_cast<void>(f.exception_now());
              }).find("future::exception_now: there is not an exception; " + task),
              0U);
}

}  // namespace

TEST(future_states, pending_has_neither_result_nor_exception) {
    const future_task<int> t{[] { return 7; }};
    EXPECT_EQ(t.state(), future_state::pending);
    EXPECT_FALSE(t.is_done());
    EXPECT_FALSE(t.is_cancelled());
    expect_neither_now(t, "not completed, not started");
}

TEST(future_states, running_has_neither_result_nor_exception) {
    test::gate running;
    test::gate release;
    future_task<int> t{[&] {
        running.open();
        release.wait();
        return 7;
    }};
    const std::jthread runner{[&] { t.run(); }};
    const test::open_at_end guard{release};
    running.wait();
    EXPECT_EQ(t.state(), future_state::running);
    EXPECT_FALSE(t.is_done());
    EXPECT_FALSE(t.is_cancelled());
    expect_neither_now(t, "not completed, running");
}

TEST(future_states, succeeded_has_a_result_and_no_exception) {
    future_task<int> t{[] { return 7; }};
    t.run();
    EXPECT_EQ(t.state(), future_state::succeeded);
    EXPECT_TRUE(t.is_done());
    EXPECT_FALSE(t.is_cancelled());
    EXPECT_EQ(t.result_now(), 7);
    const std::string text = test::what_of<std::logic_error>([&] { static_cast<void>(t.exception_now()); });
    EXPECT_NE(text.find("completed normally"), std::string::npos) << text;
}

TEST(future_states, failed_has_an_exception_and_no_result) {
    const std::exception_ptr error = std::make_exception_ptr(std::runtime_error("disk full"));
    future_task<int> t{[&]() -> int { std::rethrow_exception(error); }};
    t.run();
    EXPECT_EQ(t.state(), future_state::failed);
    EXPECT_TRUE(t.is_done());
    EXPECT_FALSE(t.is_cancelled());
    EXPECT_EQ(t.exception_now(), error);
    const std::string text = test::what_of<std::logic_error>([&] { t.result_now(); });
    EXPECT_NE(text.find("completed exceptionally: disk full"), std::string::npos) << text;
}

TEST(future_states, cancelled_has_neither_result_nor_exception) {
    const future_task<int> t{[] { return 7; }};
    t.cancel();
    EXPECT_EQ(t.state(), future_state::cancelled);
    EXPECT_TRUE(t.is_done());
    EXPECT_TRUE(t.is_cancelled());
    expect_neither_now(t, "cancelled");
}

TEST(future_states, a_body_that_throws_cancelled_itself_has_failed) {
    future_task<void> t{[] { throw spool::cancelled("another one was"); }};
    t.run();
    EXPECT_EQ(t.state(), future_state::failed);
    EXPECT_FALSE(t.is_cancelled());
    EXPECT_EQ(test::what_of<spool::cancelled>([&] { t.get(); }), "another one was");
}

TEST(future_states, a_body_that_throws_something_odd_has_failed) {
    future_task<int> t{[]() -> int { throw 42; }};
    t.run();
    EXPECT_EQ(t.state(), future_state::failed);
    EXPECT_THROW(t.get(), int);
    EXPECT_NE(t.describe().find("no std::exception"), std::string::npos) << t;
}

TEST(future_states, run_and_reset_returns_to_pending_until_something_ends_it) {
    int calls = 0;
    future_task<int> t{[&]() -> int {
        if (++calls == 3) {
            throw std::runtime_error("third time");
        }
        return calls;
    }};
    EXPECT_TRUE(t.run_and_reset());
    EXPECT_TRUE(t.run_and_reset());
    EXPECT_EQ(t.state(), future_state::pending);
    EXPECT_FALSE(t.run_and_reset());
    EXPECT_EQ(t.state(), future_state::failed);
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { t.get(); }), "third time");
    EXPECT_FALSE(t.run_and_reset());
    EXPECT_EQ(calls, 3);
}

TEST(future_states, run_after_run_and_reset_brings_the_result) {
    int calls = 0;
    future_task<int> t{[&] { return ++calls; }};
    EXPECT_TRUE(t.run_and_reset());
    t.run();
    EXPECT_EQ(t.get(), 2);
}

TEST(future_states, run_and_reset_that_is_cancelled_meanwhile_answers_false) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        future_task<int>* self = nullptr;
        future_task<int> t{[&] {
            EXPECT_TRUE(self->cancel(mode));
            return 1;
        }};
        self = &t;
        EXPECT_FALSE(t.run_and_reset());
        EXPECT_TRUE(t.is_cancelled());
    }
}
