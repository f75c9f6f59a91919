// set_value() and set_exception(), before and during the run, and results whose move throws.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using spool::future_state;
using spool::future_task;
using test::gate;

// A result whose n-th move throws.
class fragile {
public:
    explicit fragile(int& moves_left) : moves_left_(&moves_left) {}
    fragile(fragile&& other) : moves_left_(other.moves_left_) {
        if ((*moves_left_)-- == 0) {
            throw std::length_error("this result does not move");
        }
    }

private:
    int* moves_left_;
};

// A body that another thread is running, until `release` opens.
class held_run {
public:
    explicit held_run(gate& release)
        : work([this, &release, last = test::at_end([this] { ++destroyed; })](std::stop_token stop) {
              running_.open();
              release.wait();
              stopped = stop.stop_requested();
              return 7;
          }),
          runner_([this] { work.run(); }) {
        running_.wait();
    }
    void join() { runner_.join(); }

    std::atomic<bool> stopped{false};
    std::atomic<int> destroyed{0};

private:
    gate running_;

public:
    future_task<int> work;

private:
    std::jthread runner_;
};

}  // namespace

TEST(future_completion_by_hand, is_done_with_the_value_and_never_runs_the_body) {
    std::atomic<int> alive{0};
    int calls = 0;
    future_task<std::string> t{[&, held = test::tracked{alive}] {
        ++calls;
        return std::string{"from the body"};
    }};
    EXPECT_TRUE(t.set_value("by hand"));
    EXPECT_EQ(alive, 0);
    t.run();
    EXPECT_EQ(t.get(), "by hand");
    EXPECT_EQ(calls, 0);
    EXPECT_FALSE(t.set_value("again"));
    EXPECT_EQ(t.get(), "by hand");
}

TEST(future_completion_by_hand, works_for_void_and_references) {
    future_task<void> nothing{[] {}};
    EXPECT_TRUE(nothing.set_value());
    EXPECT_FALSE(nothing.set_value());
    EXPECT_EQ(nothing.state(), future_state::succeeded);

    int n = 1;
    int other = 2;
    future_task<int&> reference{[&]() -> int& { return other; }};
    EXPECT_TRUE(reference.set_value(n));
    EXPECT_FALSE(reference.set_value(other));
    EXPECT_EQ(&reference.get(), &n);

    future_task<const int&> fixed{[&]() -> const int& { return other; }};
    EXPECT_TRUE(fixed.set_value(n));
    EXPECT_EQ(&fixed.get(), &n);
}

TEST(future_completion_by_hand, while_the_body_runs_decides_and_drops_the_late_value) {
    gate release;
    held_run t{release};
    const test::open_at_end guard{release};
    const test::waiter waits{[&] { t.work.get(); }};
    EXPECT_TRUE(t.work.set_value(8));
    EXPECT_EQ(waits.answer(), "ready");  // before the body ends
    EXPECT_EQ(t.destroyed, 0);
    EXPECT_EQ(t.work.get(), 8);
    release.open();
    t.join();
    EXPECT_EQ(t.work.get(), 8);
    EXPECT_EQ(t.destroyed, 1);
    EXPECT_FALSE(t.stopped);  // no stop was requested
}

TEST(future_completion_by_hand, with_an_exception_while_the_body_runs_decides) {
    gate release;
    held_run t{release};
    const test::open_at_end guard{release};
    EXPECT_TRUE(t.work.set_exception(std::make_exception_ptr(std::out_of_range("by hand"))));
    EXPECT_THROW(t.work.get(), std::out_of_range);
    EXPECT_FALSE(t.work.cancel());
    release.open();
    t.join();
    EXPECT_THROW(t.work.get(), std::out_of_range);
    EXPECT_EQ(t.destroyed, 1);
    EXPECT_FALSE(t.stopped);
}

TEST(future_completion_by_hand, from_within_the_body_decides) {
    future_task<int>* self = nullptr;
    bool answer = false;
    future_task<int> t{[&] {
        answer = self->set_value(8);
        return 7;
    }};
    self = &t;
    t.run();
    EXPECT_TRUE(answer);
    EXPECT_EQ(t.get(), 8);
}

TEST(future_completion_by_hand, after_a_cancel_answers_false) {
    future_task<int> t{[] { return 7; }};
    t.cancel();
    EXPECT_FALSE(t.set_value(8));
    EXPECT_FALSE(t.set_exception(std::make_exception_ptr(1)));
    EXPECT_TRUE(t.is_cancelled());
}

TEST(future_completion_by_hand, refuses_a_null_exception_and_changes_nothing) {
    future_task<int> t{[] { return 7; }};
    EXPECT_EQ(test::what_of<std::invalid_argument>([&] { t.set_exception(nullptr); }),
              "future_task::set_exception: null exception");
    EXPECT_EQ(t.state(), future_state::pending);
    t.run();
    EXPECT_EQ(t.get(), 7);
    EXPECT_THROW(t.set_exception(nullptr), std::invalid_argument);  // also when the future is done
}

TEST(future_result_that_does_not_move, makes_the_future_failed_whichever_move_throws) {
    // The result is moved out of the call and then into the future. Each of these moves throws
    // once.
    for (int good_moves = 0; good_moves < 2; ++good_moves) {
        int moves_left = good_moves;
        std::atomic<int> alive{0};
        int done_calls = 0;
        future_task<fragile> t{[&, held = test::tracked{alive}] { return fragile{moves_left}; }};
        t.on_done([&] { ++done_calls; });
        const test::waiter waits{[&] { t.wait(); }};
        t.run();
        EXPECT_EQ(waits.answer(), "ready");
        EXPECT_EQ(t.state(), future_state::failed) << "after " << good_moves << " good moves";
        EXPECT_THROW(static_cast<void>(std::move(t).get()), std::length_error);
        EXPECT_EQ(done_calls, 1);
        EXPECT_EQ(alive, 0);
    }
}

TEST(future_result_that_does_not_move, set_by_hand_makes_the_future_failed) {
    int moves_left = 0;
    future_task<fragile> t{[&] { return fragile{moves_left}; }};
    EXPECT_TRUE(t.set_value(fragile{moves_left}));
    EXPECT_EQ(t.state(), future_state::failed);
    EXPECT_THROW(std::rethrow_exception(t.exception_now()), std::length_error);
}
