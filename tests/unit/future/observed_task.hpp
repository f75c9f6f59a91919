// observed_task: a future_task that counts what happens to it, and the two checks that many tests
// share.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"

namespace test {

/// Counts the calls of its body and of an on_done callback, and records whether the callback found
/// the future done.
struct observed_task {
    std::atomic<int> body_calls{0};
    std::atomic<int> done_calls{0};
    std::atomic<bool> done_when_called{true};
    spool::future_task<int> work;  // last: its destructor may still call the callback

    template <class Body>
    explicit observed_task(Body body)
        : work([this, body = std::move(body)]() mutable {
              ++body_calls;
              return body();
          }) {
        work.on_done([this](const spool::future<int>& self) {
            ++done_calls;
            done_when_called = done_when_called && self.is_done();
        });
    }
    observed_task() : observed_task([] { return 7; }) {}
};

/// The done-check without the outcome: the future stays done, the callback ran once, and nothing
/// starts the body again.
inline void expect_done(observed_task& t) {
    const int body_calls = t.body_calls;
    EXPECT_TRUE(t.work.is_done());
    EXPECT_FALSE(t.work.cancel(spool::cancel_mode::let_run));
    EXPECT_FALSE(t.work.cancel(spool::cancel_mode::interrupt));
    t.work.run();
    EXPECT_FALSE(t.work.run_and_reset());
    EXPECT_EQ(t.body_calls, body_calls);
    EXPECT_EQ(t.done_calls, 1);
    EXPECT_TRUE(t.done_when_called);
    EXPECT_TRUE(t.work.is_done());
}

/// The done-check for a value.
inline void expect_done_with_value(observed_task& t, int value) {
    expect_done(t);
    EXPECT_EQ(t.work.state(), spool::future_state::succeeded);
    EXPECT_FALSE(t.work.is_cancelled());
    EXPECT_EQ(t.work.get(), value);
    for_any_timeout([&](auto timeout) { EXPECT_EQ(t.work.get_for(timeout), value); });
}

/// The exception that `get()` throws.
template <class Get>
std::exception_ptr thrown_by(Get get) {
    try {
        get();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

/// The done-check for a failure: get() always throws the same exception object.
inline void expect_done_with_error(observed_task& t, const std::exception_ptr& error) {
    expect_done(t);
    EXPECT_EQ(t.work.state(), spool::future_state::failed);
    EXPECT_FALSE(t.work.is_cancelled());
    EXPECT_EQ(thrown_by([&] { t.work.get(); }), error);
    for_any_timeout([&](auto timeout) { EXPECT_EQ(thrown_by([&] { t.work.get_for(timeout); }), error); });
}

/// The done-check for a cancelled task.
inline void expect_done_cancelled(observed_task& t) {
    expect_done(t);
    EXPECT_EQ(t.work.state(), spool::future_state::cancelled);
    EXPECT_TRUE(t.work.is_cancelled());
    EXPECT_THROW(t.work.get(), spool::cancelled);
    for_any_timeout([&](auto timeout) { EXPECT_THROW(t.work.get_for(timeout), spool::cancelled); });
}

/// The confuse-check without the outcome: a finished task ignores every attempt to finish it again.
inline void try_to_confuse(observed_task& t) {
    EXPECT_FALSE(t.work.set_value(-1));
    EXPECT_FALSE(t.work.set_exception(std::make_exception_ptr(std::runtime_error("too late"))));
    EXPECT_FALSE(t.work.cancel(spool::cancel_mode::let_run));
    EXPECT_FALSE(t.work.cancel(spool::cancel_mode::interrupt));
    EXPECT_EQ(t.done_calls, 1);
}

}  // namespace test
