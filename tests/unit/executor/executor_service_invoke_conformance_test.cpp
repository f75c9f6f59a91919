// What AbstractExecutorService promises of invoke_all and invoke_any, on a service that runs tasks in the caller.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/sync/this_task.hpp"
#include "support/any_timeout.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"
#include "unit/executor/direct_service.hpp"

namespace {

using test::direct_service;
using functions = std::vector<std::function<std::string()>>;

std::string good() {
    return "good";
}
std::string bad() {
    throw std::domain_error{"bad"};
}

TEST(executor_service, AES_012_invoke_any_of_no_tasks_is_an_invalid_argument) {
    direct_service here;
    EXPECT_THROW(here.invoke_any(functions{}), std::invalid_argument);
    EXPECT_EQ(here.executed(), 0);
}

TEST(executor_service, AES_013_invoke_any_reports_an_empty_task_before_any_other_has_run) {
    direct_service here;
    EXPECT_THROW(here.invoke_any(functions{bad, nullptr}), std::invalid_argument);
    EXPECT_EQ(here.executed(), 0);
}

TEST(executor_service, AES_014_invoke_any_throws_what_its_only_task_threw) {
    direct_service here;
    EXPECT_EQ(test::what_of<std::domain_error>([&] { here.invoke_any(functions{bad}); }), "bad");
}

TEST(executor_service, AES_015_invoke_any_of_two_good_tasks_returns_a_value) {
    direct_service here;
    EXPECT_EQ(here.invoke_any(functions{good, good}), "good");
}

TEST(executor_service, AES_017_invoke_all_of_no_tasks_is_an_empty_list) {
    direct_service here;
    EXPECT_TRUE(here.invoke_all(functions{}).empty());
}

TEST(executor_service, AES_018_invoke_all_refuses_an_empty_task_among_good_ones) {
    direct_service here;
    EXPECT_THROW((void)here.invoke_all(functions{good, nullptr}), std::invalid_argument);
    EXPECT_EQ(here.executed(), 0);
}

TEST(executor_service, AES_019_invoke_all_of_a_throwing_task_gives_one_failed_future) {
    direct_service here;
    const auto futures = here.invoke_all(functions{bad});
    ASSERT_EQ(futures.size(), 1U);
    EXPECT_TRUE(futures[0].is_done());
    EXPECT_EQ(test::what_of<std::domain_error>([&] { futures[0].get(); }), "bad");
}

TEST(executor_service, AES_020_invoke_all_of_two_good_tasks_gives_both_values) {
    direct_service here;
    const auto futures = here.invoke_all(functions{good, good});
    ASSERT_EQ(futures.size(), 2U);
    EXPECT_EQ(futures[0].get(), "good");
    EXPECT_EQ(futures[1].get(), "good");
}

TEST(executor_service, AES_023_timed_invoke_any_of_no_tasks_is_an_invalid_argument_for_any_timeout) {
    direct_service here;
    test::for_any_timeout([&](auto timeout) {
        EXPECT_THROW(here.invoke_any(functions{}, timeout), std::invalid_argument) << timeout.count();
    });
}

TEST(executor_service, AES_024_timed_invoke_any_reports_an_empty_task_for_any_timeout) {
    direct_service here;
    test::for_any_timeout([&](auto timeout) {
        EXPECT_THROW(here.invoke_any(functions{bad, nullptr}, timeout), std::invalid_argument)
            << timeout.count();
    });
    EXPECT_EQ(here.executed(), 0);
}

TEST(executor_service, AES_025_timed_invoke_any_throws_what_its_only_task_threw_before_the_limit) {
    direct_service here;
    const auto took = test::time_of(
        [&] { EXPECT_THROW(here.invoke_any(functions{bad}, test::long_delay()), std::domain_error); });
    EXPECT_LT(took, test::long_delay());
}

TEST(executor_service, AES_026_timed_invoke_any_of_two_good_tasks_returns_a_value_before_the_limit) {
    direct_service here;
    const auto took = test::time_of([&] {
        EXPECT_EQ(here.invoke_any(functions{good, good}, test::long_delay()), "good");
    });
    EXPECT_LT(took, test::long_delay());
}

TEST(executor_service, AES_029_timed_invoke_all_of_no_tasks_is_an_empty_list_for_any_timeout) {
    direct_service here;
    test::for_any_timeout(
        [&](auto timeout) { EXPECT_TRUE(here.invoke_all(functions{}, timeout).empty()) << timeout.count(); });
}

TEST(executor_service, AES_030_timed_invoke_all_refuses_an_empty_task_for_any_timeout) {
    direct_service here;
    test::for_any_timeout([&](auto timeout) {
        EXPECT_THROW((void)here.invoke_all(functions{good, nullptr}, timeout), std::invalid_argument)
            << timeout.count();
    });
    EXPECT_EQ(here.executed(), 0);
}

TEST(executor_service, AES_031_timed_invoke_all_of_a_throwing_task_gives_one_failed_future) {
    direct_service here;
    const auto futures = here.invoke_all(functions{bad}, test::long_delay());
    ASSERT_EQ(futures.size(), 1U);
    EXPECT_EQ(test::what_of<std::domain_error>([&] { futures[0].get(); }), "bad");
}

TEST(executor_service, AES_032_timed_invoke_all_of_two_good_tasks_gives_both_values) {
    direct_service here;
    const auto futures = here.invoke_all(functions{good, good}, test::long_delay());
    ASSERT_EQ(futures.size(), 2U);
    EXPECT_EQ(futures[0].get(), "good");
    EXPECT_EQ(futures[1].get(), "good");
}

// The second task uses up the whole time. On a slow machine the first may use it up already, so the time grows until not.
TEST(executor_service, AES_033_a_task_that_overruns_the_time_keeps_its_value_and_the_next_is_never_started) {
    for (auto timeout = test::short_delay();; timeout *= 2) {
        direct_service here;
        bool third_ran = false;
        const functions tasks{good,
                              [&] {
                                  spool::this_task::sleep_for(timeout);
                                  return good();
                              },
                              [&] {
                                  third_ran = true;
                                  return good();
                              }};
        const auto futures = here.invoke_all(tasks, timeout);
        ASSERT_EQ(futures.size(), 3U);
        for (const auto& f : futures) {
            ASSERT_TRUE(f.is_done());
        }
        if (here.executed() < 2 && timeout < test::long_delay()) {
            continue;
        }
        EXPECT_EQ(futures[0].get(), "good");
        EXPECT_EQ(futures[1].get(), "good");
        EXPECT_TRUE(futures[2].is_cancelled());
        EXPECT_FALSE(third_ran);
        return;
    }
}

}  // namespace
