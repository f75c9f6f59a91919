// What AbstractExecutorService guarantees for submit, on a service that provides only execute().
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "spool/executor/thread_per_task_executor.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "unit/executor/direct_service.hpp"

namespace {

using namespace std::chrono_literals;
using test::direct_service;

TEST(executor_service, AES_001_a_submitted_action_has_run_when_submit_returns) {
    direct_service here;
    bool ran = false;
    const spool::future<void> f = here.submit([&] { ran = true; });
    EXPECT_TRUE(ran);
    EXPECT_NO_THROW(f.get());
    EXPECT_NO_THROW(f.get_for(0ns));
    EXPECT_TRUE(f.is_done());
    EXPECT_FALSE(f.is_cancelled());
}

TEST(executor_service, AES_002_the_value_of_a_submitted_function_comes_back_from_get) {
    direct_service here;
    EXPECT_EQ(here.submit([] { return std::string{"value"}; }).get(), "value");
}

TEST(executor_service, AES_003_the_future_of_a_submitted_action_completes) {
    direct_service here;
    const spool::future<void> f = here.submit([] {});
    EXPECT_NO_THROW(f.get());
    EXPECT_TRUE(f.is_done());
    EXPECT_EQ(f.state(), spool::future_state::succeeded);
}

TEST(executor_service, AES_004_an_action_submitted_with_a_value_brings_that_value) {
    direct_service here;
    bool ran = false;
    const spool::future<std::string> f = here.submit([&] { ran = true; }, std::string{"given"});
    EXPECT_EQ(f.get(), "given");
    EXPECT_TRUE(ran);
}

TEST(executor_service, AES_008_an_empty_task_is_refused_and_changes_nothing) {
    direct_service here;
    const std::function<void()> no_action;
    int (*const no_function)() = nullptr;
    EXPECT_THROW(here.execute(no_action), std::invalid_argument);
    EXPECT_THROW(here.execute(no_function), std::invalid_argument);
    EXPECT_THROW(here.execute(nullptr), std::invalid_argument);
    EXPECT_THROW((void)here.submit(no_action), std::invalid_argument);
    EXPECT_THROW((void)here.submit(no_action, 7), std::invalid_argument);
    EXPECT_THROW((void)here.submit(no_function), std::invalid_argument);
    EXPECT_THROW((void)here.submit(no_function, 7), std::invalid_argument);
    EXPECT_THROW((void)here.submit(std::function<int()>{}), std::invalid_argument);
    EXPECT_EQ(here.executed(), 0);
    EXPECT_EQ(here.submit([] { return 1; }).get(), 1);
}

TEST(executor_service, AES_009_a_wait_in_get_for_a_blocked_task_ends_when_the_waiter_is_interrupted) {
    test::gate release;
    test::gate waiter_started;
    test::gate was_interrupted;
    spool::thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    const spool::future<void> blocked = threads.submit([&] { release.wait(); });

    const spool::future<void> waiter = threads.submit([&] {
        waiter_started.open();
        try {
            blocked.get();
        } catch (const spool::interrupted&) {
            was_interrupted.open();
        }
    });
    ASSERT_TRUE(waiter_started.opens());
    EXPECT_TRUE(waiter.cancel());

    EXPECT_TRUE(was_interrupted.opens());
    EXPECT_FALSE(blocked.is_done());
}

TEST(executor_service, AES_009_a_wait_in_get_ends_when_the_token_given_is_stopped) {
    test::gate release;
    spool::thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    const spool::future<void> blocked = threads.submit([&] { release.wait(); });
    std::stop_source stop;
    std::jthread stopper{[&] { stop.request_stop(); }};
    EXPECT_THROW(blocked.get(stop.get_token()), spool::interrupted);
}

TEST(executor_service, AES_010_get_throws_the_very_exception_that_the_function_threw) {
    direct_service here;
    const spool::future<int> f = here.submit([]() -> int { throw std::domain_error{"division by zero"}; });
    EXPECT_EQ(test::what_of<std::domain_error>([&] { f.get(); }), "division by zero");
    EXPECT_EQ(f.state(), spool::future_state::failed);
}

}  // namespace
