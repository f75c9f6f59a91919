// The rows of the conformance table on cancelling a future_task before, during and after its run.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "observed_task.hpp"
#include "spool/sync/this_task.hpp"

namespace {

using spool::cancel_mode;
using test::gate;
using test::observed_task;

// Sleeps like a body that expects an interruption. True if the sleep was interrupted.
bool woken_by_stop(gate& sleeping) {
    sleeping.open();
    try {
        spool::this_task::sleep_for(test::long_delay());
    } catch (const spool::interrupted&) {
        return true;
    }
    return false;
}

}  // namespace

TEST(future_task, FT_008_cancel_with_let_run_before_run_is_for_good) {
    observed_task t;
    EXPECT_TRUE(t.work.cancel(cancel_mode::let_run));
    t.work.run();
    EXPECT_EQ(t.body_calls, 0);
    test::expect_done_cancelled(t);
}

TEST(future_task, FT_009_cancel_with_interrupt_before_run_is_for_good) {
    observed_task t;
    EXPECT_TRUE(t.work.cancel(cancel_mode::interrupt));
    t.work.run();
    EXPECT_EQ(t.body_calls, 0);
    test::expect_done_cancelled(t);
}

TEST(future_task, FT_010_cancel_with_let_run_after_run_answers_false_and_keeps_the_value) {
    observed_task t;
    t.work.run();
    EXPECT_FALSE(t.work.cancel(cancel_mode::let_run));
    test::expect_done_with_value(t, 7);
    test::try_to_confuse(t);
    test::expect_done_with_value(t, 7);
    EXPECT_EQ(t.body_calls, 1);
}

TEST(future_task, FT_011_cancel_with_interrupt_after_run_answers_false_and_keeps_the_value) {
    observed_task t;
    t.work.run();
    EXPECT_FALSE(t.work.cancel(cancel_mode::interrupt));
    test::expect_done_with_value(t, 7);
    test::try_to_confuse(t);
    test::expect_done_with_value(t, 7);
    EXPECT_EQ(t.body_calls, 1);
}

TEST(future_task, FT_012_cancel_with_interrupt_wakes_the_body_and_ignores_its_late_value) {
    gate sleeping;
    std::atomic<bool> woken{false};
    std::atomic<bool> returned{false};
    observed_task t{[&] {
        woken = woken_by_stop(sleeping);
        returned = true;
        return 7;
    }};
    std::thread runner{[&] { t.work.run(); }};
    sleeping.wait();

    EXPECT_TRUE(t.work.cancel(cancel_mode::interrupt));
    EXPECT_TRUE(t.work.is_done());
    EXPECT_TRUE(t.work.is_cancelled());
    runner.join();

    EXPECT_TRUE(woken);
    EXPECT_TRUE(returned);
    EXPECT_EQ(t.body_calls, 1);
    test::expect_done_cancelled(t);
    test::try_to_confuse(t);
    test::expect_done_cancelled(t);
}

TEST(future_task, FT_014_cancel_with_interrupt_wakes_the_body_and_ignores_its_late_exception) {
    gate sleeping;
    std::atomic<bool> woken{false};
    observed_task t{[&]() -> int {
        woken = woken_by_stop(sleeping);
        throw std::runtime_error("late");
    }};
    std::thread runner{[&] { t.work.run(); }};
    sleeping.wait();

    EXPECT_TRUE(t.work.cancel(cancel_mode::interrupt));
    EXPECT_TRUE(t.work.is_cancelled());
    runner.join();

    EXPECT_TRUE(woken);
    EXPECT_EQ(t.body_calls, 1);
    test::expect_done_cancelled(t);
    test::try_to_confuse(t);
    test::expect_done_cancelled(t);
}

TEST(future_task, FT_015_cancel_with_let_run_is_seen_at_once_and_leaves_the_body_alone) {
    gate running;
    gate release;
    std::atomic<bool> disturbed{false};
    std::atomic<bool> reached_the_end{false};
    observed_task t{[&] {
        const std::stop_token stop = spool::this_task::stop_token();
        running.open();
        release.wait();
        disturbed = stop.stop_requested() || spool::this_task::stop_requested();
        reached_the_end = true;
        return 7;
    }};
    std::thread runner{[&] { t.work.run(); }};
    running.wait();

    EXPECT_TRUE(t.work.cancel(cancel_mode::let_run));
    EXPECT_TRUE(t.work.is_done());
    EXPECT_TRUE(t.work.is_cancelled());
    EXPECT_FALSE(reached_the_end);
    EXPECT_EQ(t.done_calls, 1);
    release.open();
    runner.join();

    EXPECT_TRUE(reached_the_end);
    EXPECT_FALSE(disturbed);
    EXPECT_EQ(t.body_calls, 1);
    test::expect_done_cancelled(t);
    test::try_to_confuse(t);
    test::expect_done_cancelled(t);
}
