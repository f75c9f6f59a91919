// What every executor guarantees for invoke_any and invoke_all.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <string>

#include "contract/executor/kinds.hpp"
#include "support/any_timeout.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

using test::jobs;
using test::results;

class invoking_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, invoking_executor, testing::ValuesIn(test::executor_kinds()),
                         test::name_of_kind{});

class concurrent_invoking_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, concurrent_invoking_executor,
                         testing::ValuesIn(test::executor_kinds(test::is_concurrent)), test::name_of_kind{});

class caller_invoking_executor : public test::executor_test<spool::executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, caller_invoking_executor,
                         testing::ValuesIn(test::executor_kinds([](const auto& kind) {
                             return !test::has_threads(kind);
                         })),
                         test::name_of_kind{});

std::string first() {
    return "first";
}
std::string second() {
    return "second";
}

/// A job that throws an exception which outlives the executor's work. ThreadSanitizer does not see
/// how libstdc++ counts the references to an exception, and would report its destruction on a
/// worker as a race.
struct failing_job {
    std::exception_ptr error = std::make_exception_ptr(std::domain_error("nothing to return"));
    [[nodiscard]] jobs alone() const {
        return {[this]() -> std::string { std::rethrow_exception(error); }};
    }
};

/// A job that fails, and an empty one. The call must report the empty job and start neither.
jobs failing_and_empty(std::atomic<int>& ran) {
    return {[&ran]() -> std::string {
                ++ran;
                throw std::domain_error("started");
            },
            nullptr};
}

template <class F>
std::exception_ptr thrown_by(F f) {
    try {
        f();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

void expect_values(const results& futures) {
    ASSERT_EQ(futures.size(), 2U);
    EXPECT_EQ(futures[0].result_now(), "first");  // already done: result_now() does not wait
    EXPECT_EQ(futures[1].result_now(), "second");
}

void expect_failure(const results& futures, const std::exception_ptr& error) {
    ASSERT_EQ(futures.size(), 1U);
    EXPECT_TRUE(futures[0].is_done());
    EXPECT_EQ(futures[0].state(), spool::future_state::failed);
    EXPECT_EQ(test::what_of<std::domain_error>([&] { futures[0].get(); }), "nothing to return");
    EXPECT_TRUE(futures[0].exception_now() == error);
}

// ---- invoke_any

TEST_P(invoking_executor, AES_012_TPE_071_STPE_033_invoke_any_of_no_tasks_is_refused) {
    auto executor = make();
    const auto before = executor.numbers();
    EXPECT_THROW(executor.invoke_any(jobs{}), std::invalid_argument);
    EXPECT_EQ(executor.numbers(), before);
}

TEST_P(invoking_executor, AES_013_TPE_072_STPE_034_invoke_any_refuses_an_empty_task_before_any_has_started) {
    std::atomic<int> ran{0};
    auto executor = make();
    const auto before = executor.numbers();
    EXPECT_THROW(executor.invoke_any(failing_and_empty(ran)), std::invalid_argument);
    EXPECT_EQ(executor.numbers(), before);
    ASSERT_TRUE(executor.ends());
    EXPECT_EQ(ran, 0);
}

TEST_P(invoking_executor, AES_014_TPE_073_STPE_035_invoke_any_throws_what_its_only_task_threw) {
    const failing_job failing;
    auto executor = make();
    EXPECT_TRUE(thrown_by([&] { executor.invoke_any(failing.alone()); }) == failing.error);
}

TEST_P(invoking_executor, AES_015_TPE_074_STPE_036_invoke_any_returns_one_of_the_values) {
    auto executor = make();
    const std::string value = executor.invoke_any(jobs{first, second});
    EXPECT_TRUE(value == "first" || value == "second") << value;
}

TEST_P(invoking_executor, AES_023_TPE_082_STPE_044_timed_invoke_any_of_no_tasks_is_refused_for_any_timeout) {
    auto executor = make();
    test::for_any_timeout([&](auto timeout) {
        EXPECT_THROW(executor.invoke_any(jobs{}, timeout), std::invalid_argument) << timeout.count();
    });
}

TEST_P(
    invoking_executor,
    AES_024_TPE_083_STPE_045_timed_invoke_any_refuses_an_empty_task_for_any_timeout_before_any_has_started) {
    std::atomic<int> ran{0};
    auto executor = make();
    const auto before = executor.numbers();
    const jobs given = failing_and_empty(ran);
    test::for_any_timeout([&](auto timeout) {
        EXPECT_THROW(executor.invoke_any(given, timeout), std::invalid_argument) << timeout.count();
    });
    EXPECT_EQ(executor.numbers(), before);
    ASSERT_TRUE(executor.ends());
    EXPECT_EQ(ran, 0);
}

TEST_P(invoking_executor, AES_025_TPE_084_STPE_046_timed_invoke_any_throws_what_its_only_task_threw_in_time) {
    const failing_job failing;
    auto executor = make();
    std::exception_ptr thrown;
    const auto took = test::time_of(
        [&] { thrown = thrown_by([&] { executor.invoke_any(failing.alone(), test::long_delay()); }); });
    EXPECT_TRUE(thrown == failing.error);
    EXPECT_LT(took, test::long_delay());
}

TEST_P(invoking_executor, AES_026_TPE_085_STPE_047_timed_invoke_any_returns_one_of_the_values_in_time) {
    auto executor = make();
    std::string value;
    const auto took = test::time_of([&] {
        value = executor.invoke_any(jobs{first, second}, test::long_delay());
    });
    EXPECT_TRUE(value == "first" || value == "second") << value;
    EXPECT_LT(took, test::long_delay());
}

// ---- invoke_all

TEST_P(invoking_executor, AES_017_TPE_076_STPE_038_invoke_all_of_no_tasks_returns_no_futures) {
    auto executor = make();
    EXPECT_TRUE(executor.invoke_all(jobs{}).empty());
}

TEST_P(invoking_executor, AES_018_TPE_077_STPE_039_invoke_all_refuses_an_empty_task_before_any_has_started) {
    std::atomic<int> ran{0};
    auto executor = make();
    const auto before = executor.numbers();
    EXPECT_THROW(static_cast<void>(executor.invoke_all(failing_and_empty(ran))), std::invalid_argument);
    EXPECT_EQ(executor.numbers(), before);
    ASSERT_TRUE(executor.ends());
    EXPECT_EQ(ran, 0);
}

TEST_P(invoking_executor, AES_019_TPE_078_STPE_040_invoke_all_leaves_an_exception_in_its_future) {
    const failing_job failing;
    auto executor = make();
    expect_failure(executor.invoke_all(failing.alone()), failing.error);
}

TEST_P(invoking_executor, AES_020_TPE_079_STPE_041_invoke_all_returns_every_value) {
    auto executor = make();
    expect_values(executor.invoke_all(jobs{first, second}));
}

TEST_P(invoking_executor, AES_029_TPE_088_STPE_050_timed_invoke_all_of_no_tasks_returns_no_futures) {
    auto executor = make();
    test::for_any_timeout(
        [&](auto timeout) { EXPECT_TRUE(executor.invoke_all(jobs{}, timeout).empty()) << timeout.count(); });
}

TEST_P(
    invoking_executor,
    AES_030_TPE_089_STPE_051_timed_invoke_all_refuses_an_empty_task_for_any_timeout_before_any_has_started) {
    std::atomic<int> ran{0};
    auto executor = make();
    const auto before = executor.numbers();
    const jobs given = failing_and_empty(ran);
    test::for_any_timeout([&](auto timeout) {
        EXPECT_THROW(static_cast<void>(executor.invoke_all(given, timeout)), std::invalid_argument)
            << timeout.count();
    });
    EXPECT_EQ(executor.numbers(), before);
    ASSERT_TRUE(executor.ends());
    EXPECT_EQ(ran, 0);
}

TEST_P(invoking_executor, AES_031_TPE_090_STPE_052_timed_invoke_all_leaves_an_exception_in_its_future) {
    const failing_job failing;
    auto executor = make();
    expect_failure(executor.invoke_all(failing.alone(), test::long_delay()), failing.error);
}

TEST_P(invoking_executor, AES_032_TPE_091_STPE_053_timed_invoke_all_returns_every_value) {
    auto executor = make();
    expect_values(executor.invoke_all(jobs{first, second}, test::long_delay()));
}

TEST_P(concurrent_invoking_executor,
       TPE_092_STPE_054_timed_invoke_all_cancels_the_late_task_and_keeps_the_other_results) {
    std::atomic<int> entered{0};
    std::atomic<int> stopped{0};
    auto executor = make();
    const jobs given{first,
                     [&]() -> std::string {
                         ++entered;
                         try {
                             spool::this_task::sleep_for(2 * test::long_delay());
                         } catch (const spool::interrupted&) {
                             ++stopped;
                         }
                         return "too late";
                     },
                     [] { return "third"; }};
    results futures;
    // On a busy machine a quick task may not even start in time. Then the next attempt allows more
    // time.
    for (auto timeout = test::short_delay(); timeout < test::long_delay(); timeout *= 2) {
        EXPECT_GE(test::time_of([&] { futures = executor.invoke_all(given, timeout); }), timeout);
        ASSERT_EQ(futures.size(), 3U);
        for (const auto& f : futures) {
            EXPECT_TRUE(f.is_done());
        }
        EXPECT_TRUE(futures[1].is_cancelled());
        if (!futures[0].is_cancelled() && !futures[2].is_cancelled()) {
            break;
        }
    }
    EXPECT_EQ(futures[0].result_now(), "first");
    EXPECT_EQ(futures[2].result_now(), "third");
    ASSERT_TRUE(executor.ends());
    EXPECT_EQ(stopped, entered) << "invoke_all() stops a late task that has started";
}

// The second task uses up the whole time. On a slow machine the first task may already do so; then
// the test tries again with more time.
TEST_P(caller_invoking_executor,
       AES_033_a_task_that_overruns_the_time_keeps_its_value_and_the_next_is_never_started) {
    for (auto timeout = test::short_delay();; timeout *= 2) {
        bool second_ran = false;
        bool third_ran = false;
        auto executor = make();
        const jobs given{first,
                         [&] {
                             second_ran = true;
                             spool::this_task::sleep_for(timeout);
                             return second();
                         },
                         [&] {
                             third_ran = true;
                             return first();
                         }};
        const results futures = executor.invoke_all(given, timeout);
        ASSERT_EQ(futures.size(), 3U);
        for (const auto& f : futures) {
            ASSERT_TRUE(f.is_done());
        }
        if (!second_ran && timeout < test::long_delay()) {
            continue;
        }
        EXPECT_EQ(futures[0].get(), "first");
        EXPECT_EQ(futures[1].get(), "second");
        EXPECT_TRUE(futures[2].is_cancelled());
        EXPECT_FALSE(third_ran);
        return;
    }
}

}  // namespace
