// this_task: what a task may ask about itself, inside and outside of a task.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <stop_token>

#include "spool/base/error.hpp"
#include "spool/base/task.hpp"
#include "spool/sync/this_task.hpp"
#include "support/throws.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::deadline;
using spool::task_scope;
namespace this_task = spool::this_task;
using namespace std::chrono_literals;

void stop(task_scope& scope) {
    scope.interrupt().request_stop();
}

// ---- Outside of any task

TEST(outside_of_a_task, token_never_stops) {
    EXPECT_FALSE(this_task::stop_token().stop_possible());
    EXPECT_FALSE(this_task::stop_requested());
    EXPECT_NO_THROW(this_task::interruption_point());
}

TEST(outside_of_a_task, sleep_ends_by_itself) {
    this_task::sleep_for(1us);
    this_task::sleep_for(0s);
    this_task::sleep_for(-1h);
    this_task::sleep_for(std::chrono::nanoseconds::min());
    this_task::sleep_for(std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()});
    this_task::sleep_until(deadline::at(deadline::clock::now() + 1us));
    this_task::sleep_until(deadline::at(deadline::time_point::min()));
}

// ---- Inside a task

TEST(inside_of_a_task, stop_is_noticed_in_every_way) {
    task_scope scope;
    const std::stop_token token = this_task::stop_token();
    EXPECT_TRUE(token.stop_possible());
    EXPECT_FALSE(token.stop_requested());
    EXPECT_FALSE(this_task::stop_requested());
    EXPECT_NO_THROW(this_task::interruption_point());

    stop(scope);

    EXPECT_TRUE(token.stop_requested());
    EXPECT_TRUE(this_task::stop_requested());
    EXPECT_EQ(test::what_of<spool::interrupted>([] { this_task::interruption_point(); }),
              "this_task::interruption_point: stop requested");
}

TEST(inside_of_a_task, token_asked_for_after_the_stop_is_stopped) {
    task_scope scope;
    stop(scope);
    EXPECT_TRUE(this_task::stop_requested());
    EXPECT_TRUE(this_task::stop_token().stop_requested());
}

TEST(inside_of_a_task, stop_of_the_task_around_is_noticed) {
    task_scope outer;
    task_scope inner;
    stop(outer);
    EXPECT_TRUE(this_task::stop_requested());
    EXPECT_THROW(this_task::interruption_point(), spool::interrupted);
    EXPECT_TRUE(this_task::stop_token().stop_requested());
}

TEST(inside_of_a_task, stop_is_forgotten_when_the_task_has_ended) {
    task_scope outer;
    {
        task_scope inner;
        stop(inner);
        EXPECT_TRUE(this_task::stop_requested());
    }
    EXPECT_FALSE(this_task::stop_requested());
    EXPECT_NO_THROW(this_task::interruption_point());
}

// ---- Sleeping

TEST(sleep_in_a_task, ends_by_itself_without_a_stop) {
    const task_scope scope;
    EXPECT_NO_THROW(this_task::sleep_for(1us));
    EXPECT_NO_THROW(this_task::sleep_for(0s));
    EXPECT_NO_THROW(this_task::sleep_for(-1h));
}

TEST(sleep_in_a_task, stop_before_the_call_interrupts_whatever_the_time) {
    task_scope scope;
    stop(scope);
    EXPECT_THROW(this_task::sleep_for(0s), spool::interrupted);
    EXPECT_THROW(this_task::sleep_for(-1h), spool::interrupted);
    EXPECT_THROW(this_task::sleep_for(1ns), spool::interrupted);
    EXPECT_THROW(this_task::sleep_for(std::chrono::hours::max()), spool::interrupted);
    EXPECT_THROW(this_task::sleep_until(deadline::never()), spool::interrupted);
    EXPECT_THROW(this_task::sleep_until(deadline::at(deadline::time_point::min())), spool::interrupted);
    EXPECT_EQ(test::what_of<spool::interrupted>([] { this_task::sleep_for(0s); }),
              "this_task::sleep: stop requested");
}

TEST(sleep_in_a_task, stop_wakes_the_sleeper) {
    test::in_background sleeper{[] { this_task::sleep_for(std::chrono::hours::max()); }};
    ASSERT_TRUE(sleeper.falls_asleep());
    EXPECT_FALSE(sleeper.has_ended());
    sleeper.interrupt();
    ASSERT_TRUE(sleeper.ends());
    EXPECT_TRUE(sleeper.was_interrupted());
}

TEST(sleep_in_a_task, stop_wakes_a_sleeper_with_a_time_limit) {
    test::in_background sleeper{[] { this_task::sleep_for(1h); }};
    ASSERT_TRUE(sleeper.falls_asleep());
    sleeper.interrupt();
    ASSERT_TRUE(sleeper.ends());
    EXPECT_TRUE(sleeper.was_interrupted());
}

TEST(sleep_in_a_task, stop_of_the_task_around_wakes_the_sleeper) {
    test::in_background sleeper{[] {
        const task_scope middle;
        const task_scope inner;
        this_task::sleep_for(std::chrono::hours::max());
    }};
    ASSERT_TRUE(sleeper.falls_asleep());
    sleeper.interrupt();
    ASSERT_TRUE(sleeper.ends());
    EXPECT_TRUE(sleeper.was_interrupted());
}

}  // namespace
