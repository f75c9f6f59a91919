// What every executor guarantees for a task and its future.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "contract/executor/kinds.hpp"
#include "contract/interruption.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "unit/executor/stderr_of.hpp"

namespace {

using namespace std::chrono_literals;

class any_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, any_executor, testing::ValuesIn(test::executor_kinds()),
                         test::name_of_kind{});

class caller_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, caller_executor, testing::ValuesIn(test::executor_kinds([](const auto& kind) {
                             return !test::has_threads(kind);
                         })),
                         test::name_of_kind{});

class threaded_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, threaded_executor, testing::ValuesIn(test::executor_kinds(test::has_threads)),
                         test::name_of_kind{});

class concurrent_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, concurrent_executor,
                         testing::ValuesIn(test::executor_kinds(test::is_concurrent)), test::name_of_kind{});

class storing_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, storing_executor, testing::ValuesIn(test::executor_kinds(test::has_queue)),
                         test::name_of_kind{});

// ---- Running

TEST_P(caller_executor, AES_001_a_submitted_action_has_run_in_the_caller_when_submit_returns) {
    bool ran = false;
    std::thread::id ran_in;
    auto executor = make();
    const auto result = executor.submit([&] { ran = true; });
    EXPECT_TRUE(ran);
    EXPECT_NO_THROW(result.get());
    EXPECT_NO_THROW(result.get_for(0ns));
    EXPECT_TRUE(result.is_done());
    EXPECT_FALSE(result.is_cancelled());
    executor->execute([&] { ran_in = std::this_thread::get_id(); });
    EXPECT_EQ(ran_in, std::this_thread::get_id());
}

TEST_P(threaded_executor, TPE_001_STPE_001_a_worker_runs_the_task_and_sees_earlier_writes_of_the_submitter) {
    int before = 0;
    int seen = 0;
    std::thread::id ran_in;
    test::gate ran;
    auto executor = make();
    before = 7;
    executor->execute([&] {
        seen = before;
        ran_in = std::this_thread::get_id();
        ran.open();
    });
    ASSERT_TRUE(ran.opens());
    EXPECT_NE(ran_in, std::this_thread::get_id());
    EXPECT_EQ(seen, 7);
}

TEST_P(concurrent_executor, two_tasks_run_at_the_same_time) {
    test::gate first_runs;
    test::gate second_runs;
    std::atomic<int> met{0};
    auto executor = make();
    executor->execute([&] {
        first_runs.open();
        met += second_runs.opens() ? 1 : 0;
    });
    executor->execute([&] {
        second_runs.open();
        met += first_runs.opens() ? 1 : 0;
    });
    ASSERT_TRUE(executor.ends());
    EXPECT_EQ(met, 2);
}

TEST_P(any_executor, AES_008_TPE_059_STPE_008_EX_029_EX_030_an_empty_task_is_refused_and_changes_nothing) {
    const test::action no_action;
    const test::job no_job;
    int (*const no_function)() = nullptr;
    auto executor = make();
    const spool::pool_snapshot before = executor.numbers();
    const auto expect_refused = [](auto call) {
        const std::string refusal = GetParam().label + ": empty callable";
        const std::string text = test::what_of<std::invalid_argument>(call);
        // execute() of a scheduled pool names the thread_pool_executor that it derives from.
        EXPECT_TRUE(text == refusal || "scheduled_" + text == refusal) << text;
    };
    expect_refused([&] { executor->execute(nullptr); });
    expect_refused([&] { executor->execute(no_action); });
    expect_refused([&] { executor->execute(no_function); });
    expect_refused([&] { static_cast<void>(executor.submit(no_action)); });
    expect_refused([&] { static_cast<void>(executor.submit(no_action, "given")); });
    expect_refused([&] { static_cast<void>(executor.submit(no_job)); });
    expect_refused([&] { static_cast<void>(spool::submit(*executor, no_function)); });
    expect_refused([&] { static_cast<void>(spool::submit(*executor, no_function, 7)); });
    EXPECT_EQ(executor.numbers(), before);
    EXPECT_EQ(executor.submit([] { return "value"; }).get_for(test::long_delay()), "value");
    EXPECT_EQ(executor->executor_label(), GetParam().label);
}

// ---- The outcome

TEST_P(any_executor, AES_002_TPE_067_STPE_029_the_future_of_a_function_has_its_value) {
    auto executor = make();
    const auto result = executor.submit([] { return std::string{"a test string"}; });
    EXPECT_EQ(result.get_for(test::long_delay()), "a test string");
    EXPECT_EQ(result.get(), "a test string");
}

TEST_P(any_executor, AES_003_TPE_068_STPE_030_EX_025_the_future_of_an_action_has_no_value) {
    static_assert(std::is_same_v<decltype(std::declval<spool::executor_service&>().submit([] {})),
                                 spool::future<void>>);
    std::atomic<bool> ran{false};
    auto executor = make();
    const spool::future<void> result = executor.submit([&] { ran = true; });
    EXPECT_NO_THROW(result.get_for(test::long_delay()));
    EXPECT_TRUE(result.is_done());
    EXPECT_EQ(result.state(), spool::future_state::succeeded);
    EXPECT_TRUE(ran);
}

TEST_P(any_executor,
       AES_004_TPE_069_STPE_031_EX_026_the_future_of_an_action_with_a_given_value_has_that_value) {
    static_assert(
        std::is_same_v<decltype(std::declval<spool::executor_service&>().submit([] {}, std::string{})),
                       spool::future<std::string>>);
    std::atomic<int> ran{0};
    auto executor = make();
    const auto result = executor.submit([&] { ++ran; }, "a test string");
    EXPECT_EQ(result.get_for(test::long_delay()), "a test string");
    EXPECT_TRUE(result.is_done());
    EXPECT_EQ(ran, 1);
}

TEST_P(any_executor, AES_010_get_throws_the_very_exception_that_the_task_threw_and_nothing_is_reported) {
    const std::exception_ptr error = std::make_exception_ptr(std::domain_error{"division by zero"});
    const std::string text = test::stderr_of([&] {
        auto executor = make();
        const auto result =
            executor.submit(test::job{[&]() -> std::string { std::rethrow_exception(error); }});
        EXPECT_EQ(test::what_of<std::domain_error>([&] { result.get(); }), "division by zero");
        EXPECT_EQ(result.state(), spool::future_state::failed);
        EXPECT_TRUE(result.exception_now() == error);
    });
    EXPECT_EQ(text, "");
}

// ---- Waiting for the future

TEST_P(threaded_executor, AES_009_TPE_055_a_wait_for_a_running_task_can_be_interrupted_and_the_task_goes_on) {
    auto executor = make();
    const auto result = executor.submit(executor.blocked(), "7");
    ASSERT_TRUE(executor.holds(1));
    test::expect_interruptible([&] { result.get(); }, [&](std::stop_token stop) { result.get(stop); });
    EXPECT_FALSE(result.is_done());

    executor.release();
    EXPECT_EQ(result.get_for(test::long_delay()), "7");
}

TEST_P(threaded_executor, EX_018_a_timed_wait_for_a_running_task_times_out_no_sooner_than_asked) {
    auto executor = make();
    const auto result = executor.submit(executor.blocked());
    const auto limit = test::short_delay();
    const auto took = test::time_of([&] { EXPECT_THROW(result.get_for(limit), spool::timed_out); });
    EXPECT_GE(took, limit);
    EXPECT_FALSE(result.is_done());
    executor.release();
    EXPECT_TRUE(result.wait_for(test::long_delay()));
}

// ---- Cancelling

TEST_P(storing_executor, TPE_098_cancelled_futures_answer_at_once_running_or_queued) {
    auto executor = make(1);
    const auto running = executor.submit(executor.blocked());
    ASSERT_TRUE(executor.holds(1));
    const auto queued = executor.submit(executor.blocked());
    for (const auto& result : {running, queued}) {
        EXPECT_FALSE(result.is_done());
        EXPECT_TRUE(result.cancel(spool::cancel_mode::let_run));
        EXPECT_TRUE(result.is_cancelled());
        EXPECT_TRUE(result.is_done());
        const auto time = test::time_of([&] {
            EXPECT_THROW(result.get(), spool::cancelled);
            EXPECT_THROW(result.get_for(test::long_delay()), spool::cancelled);
        });
        EXPECT_LT(time, test::long_delay());
    }
    EXPECT_EQ(executor.left(), 0) << "cancel(let_run) does not end the running task";

    ASSERT_TRUE(executor.ends());
    EXPECT_EQ(executor.left(), 1) << "the queued task never ran";
}

TEST_P(concurrent_executor, cancelling_a_future_stops_its_task_and_no_other) {
    test::gate first_runs;
    test::gate release;
    test::gate stopped;
    std::atomic<bool> other_stopped{true};
    auto executor = make();
    const test::open_at_end at_end{release};
    const auto other = executor.submit([&] {
        release.wait();
        other_stopped = spool::this_task::stop_requested();
    });
    const auto first = executor.submit([&] {
        const std::stop_callback on_stop{spool::this_task::stop_token(), [&] { stopped.open(); }};
        first_runs.open();
        release.wait();
    });
    ASSERT_TRUE(first_runs.opens());
    EXPECT_TRUE(first.cancel());
    EXPECT_TRUE(stopped.is_open());
    release.open();
    EXPECT_NO_THROW(other.get_for(test::long_delay()));
    EXPECT_FALSE(other_stopped);
}

}  // namespace
