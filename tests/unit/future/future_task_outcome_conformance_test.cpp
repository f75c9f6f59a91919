// The rows of the conformance table on constructing, running and completing a future_task, and on
// its text form.
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>

#include "observed_task.hpp"
#include "support/throws.hpp"

namespace {

using spool::cancel_mode;
using spool::future_state;
using spool::future_task;
using test::observed_task;

struct named_body {
    int operator()() const { return 1; }
};

std::string streamed(const spool::future<int>& f) {
    std::ostringstream out;
    out << f;
    return out.str();
}

}  // namespace

TEST(future_task, FT_001_built_from_an_empty_function_throws_at_the_call) {
    EXPECT_EQ(test::what_of<std::invalid_argument>([] { future_task<int>{std::function<int()>{}}; }),
              "future_task: empty callable");
    EXPECT_THROW(future_task<int>{static_cast<int (*)()>(nullptr)}, std::invalid_argument);
    EXPECT_THROW(future_task<void>{spool::task{}}, std::invalid_argument);
}

TEST(future_task, FT_002_built_from_an_empty_action_and_a_result_throws_at_the_call) {
    EXPECT_EQ(test::what_of<std::invalid_argument>([] { future_task<int>(std::function<void()>{}, 1); }),
              "future_task: empty callable");
    EXPECT_THROW(future_task<int>(static_cast<void (*)()>(nullptr), 1), std::invalid_argument);
}

TEST(future_task, FT_003_is_not_done_before_run_and_done_after) {
    observed_task t;
    EXPECT_FALSE(t.work.is_done());
    EXPECT_EQ(t.done_calls, 0);

    t.work.run();

    EXPECT_EQ(t.body_calls, 1);
    test::expect_done_with_value(t, 7);
}

TEST(future_task, FT_004_run_and_reset_runs_each_time_and_leaves_the_task_not_done) {
    observed_task t;
    for (int i = 1; i <= 3; ++i) {
        EXPECT_TRUE(t.work.run_and_reset());
        EXPECT_EQ(t.body_calls, i);
        EXPECT_FALSE(t.work.is_done());
        EXPECT_EQ(t.work.state(), future_state::pending);
    }
    EXPECT_EQ(t.done_calls, 0);
    EXPECT_THROW(t.work.get_for(std::chrono::seconds{0}), spool::timed_out);
}

TEST(future_task, FT_005_run_and_reset_after_cancel_never_runs_and_stays_cancelled) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        observed_task t;
        EXPECT_TRUE(t.work.cancel(mode));
        for (int i = 0; i < 3; ++i) {
            EXPECT_FALSE(t.work.run_and_reset());
            EXPECT_EQ(t.body_calls, 0);
            test::expect_done_cancelled(t);
        }
        test::try_to_confuse(t);
        test::expect_done_cancelled(t);
    }
}

TEST(future_task, FT_006_a_value_set_by_hand_is_the_result_and_the_body_never_runs) {
    observed_task t;
    EXPECT_TRUE(t.work.set_value(42));
    test::expect_done_with_value(t, 42);
    test::try_to_confuse(t);
    test::expect_done_with_value(t, 42);
    EXPECT_EQ(t.body_calls, 0);
}

TEST(future_task, FT_007_an_exception_set_by_hand_is_reported_and_the_body_never_runs) {
    const std::exception_ptr error = std::make_exception_ptr(std::out_of_range("by hand"));
    observed_task t;
    EXPECT_TRUE(t.work.set_exception(error));
    test::expect_done_with_error(t, error);
    test::try_to_confuse(t);
    test::expect_done_with_error(t, error);
    EXPECT_EQ(t.body_calls, 0);
}

TEST(future_task, FT_020_a_body_that_throws_makes_get_report_that_very_exception) {
    const std::exception_ptr error = std::make_exception_ptr(std::out_of_range("thrown by the body"));
    observed_task t{[&]() -> int { std::rethrow_exception(error); }};

    t.work.run();

    EXPECT_EQ(t.body_calls, 1);
    EXPECT_EQ(test::thrown_by([&] { t.work.get(); }), error);
    EXPECT_EQ(t.work.exception_now(), error);
    EXPECT_THROW(t.work.get(), std::out_of_range);
    test::expect_done_with_error(t, error);
    test::try_to_confuse(t);
    test::expect_done_with_error(t, error);
}

TEST(future_task, FT_021_a_body_that_throws_makes_a_timed_get_report_that_very_exception) {
    const std::exception_ptr error = std::make_exception_ptr(std::out_of_range("thrown by the body"));
    observed_task t{[&]() -> int { std::rethrow_exception(error); }};

    t.work.run();

    EXPECT_EQ(t.body_calls, 1);
    EXPECT_EQ(test::thrown_by([&] { t.work.get_for(test::long_delay()); }), error);
    EXPECT_THROW(t.work.get_for(test::long_delay()), std::out_of_range);
    test::expect_done_with_error(t, error);
}

TEST(future_task, FT_027_text_of_an_unrun_task_says_not_completed_and_names_the_body) {
    const future_task<int> t{named_body{}};
    for (const std::string& text : {t.describe(), streamed(t)}) {
        EXPECT_NE(text.find("not completed"), std::string::npos) << text;
        EXPECT_NE(text.find("named_body"), std::string::npos) << text;
        EXPECT_NE(text.find("task " + std::to_string(t.id())), std::string::npos) << text;
    }
}

TEST(future_task, FT_028_text_of_a_finished_task_says_completed_normally) {
    future_task<int> t{named_body{}};
    t.run();
    EXPECT_NE(t.describe().find("completed normally"), std::string::npos) << t;
    EXPECT_EQ(t.describe().find("not completed"), std::string::npos) << t;
    EXPECT_EQ(streamed(t), t.describe());
}

TEST(future_task, FT_029_text_of_a_failed_task_says_completed_exceptionally_and_names_the_error) {
    future_task<int> t{[]() -> int { throw std::runtime_error("disk full"); }};
    t.run();
    EXPECT_NE(t.describe().find("completed exceptionally"), std::string::npos) << t;
    EXPECT_NE(t.describe().find("disk full"), std::string::npos) << t;
    EXPECT_EQ(streamed(t), t.describe());
}

TEST(future_task, FT_030_text_of_a_cancelled_task_says_cancelled_either_way) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        const future_task<int> t{named_body{}};
        t.cancel(mode);
        EXPECT_NE(t.describe().find("cancelled"), std::string::npos) << t;
        EXPECT_EQ(t.describe().find("completed"), std::string::npos) << t;
        EXPECT_EQ(streamed(t), t.describe());
    }
}
