// cancel() of a running body: its stop, its waiters, its callable and its late outcome.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"
#include "spool/sync/this_task.hpp"
#include "support/gate.hpp"

namespace {

using spool::cancel_mode;
using spool::future;
using spool::future_task;
using test::gate;

// Blocks until a stop is requested through the token.
void wait_for_stop(const std::stop_token& stop) {
    gate stopped;
    const std::stop_callback on_stop{stop, [&] { stopped.open(); }};
    stopped.wait();
}

}  // namespace

TEST(future_cancel_running, with_interrupt_stops_the_token_of_the_body) {
    gate running;
    std::stop_token left_behind;
    future_task<int> t{[&](std::stop_token stop) {
        left_behind = stop;
        running.open();
        wait_for_stop(stop);
        return 7;
    }};
    std::jthread runner{[&] { t.run(); }};
    running.wait();
    EXPECT_FALSE(left_behind.stop_requested());
    EXPECT_TRUE(t.cancel());  // interrupt is the default
    EXPECT_TRUE(left_behind.stop_requested());
    runner.join();
    EXPECT_TRUE(t.is_cancelled());
}

TEST(future_cancel_running, with_interrupt_is_seen_by_a_body_that_never_asked_for_a_token) {
    gate running;
    std::atomic<bool> seen{false};
    std::atomic<bool> token_found_stopped{false};
    future_task<void> t{[&] {
        running.open();
        while (!spool::this_task::stop_requested()) {
            std::this_thread::yield();
        }
        seen = true;
        // The token is requested only now.
        token_found_stopped = spool::this_task::stop_token().stop_requested();
        spool::this_task::interruption_point();
    }};
    std::jthread runner{[&] { t.run(); }};
    running.wait();
    EXPECT_TRUE(t.cancel());
    runner.join();
    EXPECT_TRUE(seen);
    EXPECT_TRUE(token_found_stopped);
    EXPECT_TRUE(t.is_cancelled());
}

TEST(future_cancel_running, has_moved_the_state_before_it_requests_the_stop) {
    gate running;
    std::atomic<bool> cancelled_when_stopped{false};
    gate stopped;
    future_task<void> t{[&](std::stop_token stop) {
        const std::stop_callback on_stop{stop, [&] {
                                             cancelled_when_stopped = t.is_cancelled();
                                             stopped.open();
                                         }};
        running.open();
        stopped.wait();
    }};
    std::jthread runner{[&] { t.run(); }};
    running.wait();
    t.cancel();
    runner.join();
    EXPECT_TRUE(cancelled_when_stopped);
}

TEST(future_cancel_running, with_let_run_leaves_the_token_alone_also_after_the_end) {
    gate running;
    gate release;
    std::stop_token left_behind;
    future_task<int> t{[&](std::stop_token stop) {
        left_behind = stop;
        running.open();
        release.wait();
        return 7;
    }};
    std::jthread runner{[&] { t.run(); }};
    const test::open_at_end guard{release};
    running.wait();
    EXPECT_TRUE(t.cancel(cancel_mode::let_run));
    EXPECT_FALSE(t.cancel(cancel_mode::interrupt));  // too late to interrupt: the future is done
    EXPECT_FALSE(left_behind.stop_requested());
    release.open();
    runner.join();
    EXPECT_FALSE(left_behind.stop_requested());
    EXPECT_TRUE(t.is_cancelled());
}

TEST(future_cancel_running, releases_the_waiters_before_the_body_ends) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        gate running;
        gate release;
        future_task<int> t{[&] {
            running.open();
            release.wait();
            return 7;
        }};
        const test::waiter plain{[&] { t.get(); }};
        const test::waiter any_outcome{[&] { t.wait(); }};
        const std::jthread runner{[&] { t.run(); }};
        const test::open_at_end guard{release};
        running.wait();
        EXPECT_TRUE(t.cancel(mode));
        EXPECT_EQ(plain.answer(), "cancelled");
        EXPECT_EQ(any_outcome.answer(), "ready");
        EXPECT_FALSE(release.is_open());
    }
}

TEST(future_cancel_running, discards_a_late_value_and_a_late_exception) {
    for (const bool throws : {false, true}) {
        for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
            gate running;
            gate release;
            std::atomic<int> results{0};
            future_task<std::shared_ptr<void>> t{[&] {
                running.open();
                release.wait();
                if (throws) {
                    throw std::runtime_error("late");
                }
                ++results;
                return test::at_end([&] { --results; });
            }};
            std::jthread runner{[&] { t.run(); }};
            const test::open_at_end guard{release};
            running.wait();
            EXPECT_TRUE(t.cancel(mode));
            release.open();
            runner.join();
            EXPECT_THROW(t.get(), spool::cancelled);
            EXPECT_EQ(t.state(), spool::future_state::cancelled);
            EXPECT_EQ(results, 0);  // the late value is dropped
        }
    }
}

TEST(future_cancel_running, leaves_the_callable_to_the_runner_who_destroys_it_once) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        gate running;
        gate release;
        std::atomic<int> destroyed{0};
        std::thread::id destroyed_by;
        future_task<int> t{[&, last = test::at_end([&] {
                                   ++destroyed;
                                   destroyed_by = std::this_thread::get_id();
                               })] {
            running.open();
            release.wait();
            return 7;
        }};
        std::jthread runner{[&] { t.run(); }};
        const std::thread::id runner_id = runner.get_id();
        const test::open_at_end guard{release};
        running.wait();
        EXPECT_TRUE(t.cancel(mode));
        EXPECT_EQ(destroyed, 0);  // the body still uses it
        release.open();
        runner.join();
        EXPECT_EQ(destroyed, 1);
        EXPECT_EQ(destroyed_by, runner_id);
    }
}

TEST(future_cancel_running, works_from_within_the_body_itself) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        future<int> self;
        bool answer = false;
        bool second_answer = true;
        bool done_at_once = false;
        bool stopped = false;
        future_task<int> t{[&](std::stop_token stop) {
            answer = self.cancel(mode);
            second_answer = self.cancel(mode);
            done_at_once = self.is_done();
            stopped = stop.stop_requested();
            return 7;
        }};
        self = t;
        t.run();
        EXPECT_TRUE(answer);
        EXPECT_FALSE(second_answer);
        EXPECT_TRUE(done_at_once);
        EXPECT_EQ(stopped, mode == cancel_mode::interrupt);
        EXPECT_TRUE(t.is_cancelled());
    }
}

TEST(future_cancel_running, from_a_stop_callback_of_the_same_cancel_answers_false) {
    future<void> self;
    bool answer = true;
    future_task<void> t{[&](std::stop_token stop) {
        const std::stop_callback on_stop{stop, [&] { answer = self.cancel(); }};
        EXPECT_TRUE(self.cancel());
    }};
    self = t;
    t.run();
    EXPECT_FALSE(answer);
    EXPECT_TRUE(t.is_cancelled());
}

TEST(future_cancel_running, answers_false_the_second_time_and_it_is_done) {
    gate running;
    gate release;
    future_task<int> t{[&] {
        running.open();
        release.wait();
        return 7;
    }};
    const std::jthread runner{[&] { t.run(); }};
    const test::open_at_end guard{release};
    running.wait();
    EXPECT_TRUE(t.cancel());
    EXPECT_FALSE(t.cancel());
    EXPECT_FALSE(t.cancel(cancel_mode::let_run));
    EXPECT_TRUE(t.is_done());
}

TEST(future_cancel_running, of_run_and_reset_ends_the_repetition_and_its_callable) {
    gate running;
    std::atomic<int> destroyed{0};
    std::atomic<bool> answer{true};
    future_task<void> t{[&, last = test::at_end([&] { ++destroyed; })](std::stop_token stop) {
        running.open();
        wait_for_stop(stop);
    }};
    std::jthread runner{[&] { answer = t.run_and_reset(); }};
    running.wait();
    EXPECT_TRUE(t.cancel());
    runner.join();
    EXPECT_FALSE(answer);
    EXPECT_EQ(destroyed, 1);
    EXPECT_FALSE(t.run_and_reset());
}
