// Checks of invoke_any on any pool of two workers: the first result wins. Each check also ends the
// pool.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance::checks {

using jobs = std::vector<std::function<std::string()>>;

inline jobs one_that_blocks_and_an_empty_one(blocker& held) {
    return {[block = held.body()] {
                block();
                return "a test string";
            },
            nullptr};
}

// An exception that outlives the pool's work. ThreadSanitizer does not see how libstdc++ counts the
// references to an exception, and would report its destruction on a worker as a race.
inline std::exception_ptr some_failure() {
    return std::make_exception_ptr(std::domain_error("nothing to return"));
}
inline jobs only_failing_with(const std::exception_ptr& error) {
    return {[&error]() -> std::string { std::rethrow_exception(error); }};
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

inline void invoke_any_of_no_tasks_is_refused(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    EXPECT_THROW(pool.invoke_any(jobs{}), std::invalid_argument);
}

inline void invoke_any_refuses_an_empty_task_without_waiting_for_others(spool::thread_pool_executor& pool) {
    blocker held;
    const ended_at_last end{pool, held};
    const jobs given = one_that_blocks_and_an_empty_one(held);
    EXPECT_THROW(pool.invoke_any(given), std::invalid_argument);
    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(held.entered(), 0) << "all are checked before the first is started";
}

inline void invoke_any_throws_what_its_only_task_threw(spool::thread_pool_executor& pool) {
    const std::exception_ptr error = some_failure();
    const ended_at_last end{pool};
    EXPECT_TRUE(thrown_by([&] { pool.invoke_any(only_failing_with(error)); }) == error);
}

inline void invoke_any_returns_one_of_the_values(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    const std::string value = pool.invoke_any(jobs{[] { return "first"; }, [] { return "second"; }});
    EXPECT_TRUE(value == "first" || value == "second") << value;
}

inline void timed_invoke_any_of_no_tasks_is_refused(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    for_any_timeout(
        [&](auto timeout) { EXPECT_THROW(pool.invoke_any(jobs{}, timeout), std::invalid_argument); });
}

inline void timed_invoke_any_refuses_an_empty_task_without_waiting_for_others(
    spool::thread_pool_executor& pool) {
    blocker held;
    const ended_at_last end{pool, held};
    const jobs given = one_that_blocks_and_an_empty_one(held);
    for_any_timeout(
        [&](auto timeout) { EXPECT_THROW(pool.invoke_any(given, timeout), std::invalid_argument); });
    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(held.entered(), 0) << "all are checked before the first is started";
}

inline void timed_invoke_any_throws_what_its_only_task_threw(spool::thread_pool_executor& pool) {
    const std::exception_ptr error = some_failure();
    const ended_at_last end{pool};
    std::exception_ptr thrown;
    const auto time = test::time_of(
        [&] { thrown = thrown_by([&] { pool.invoke_any(only_failing_with(error), test::long_delay()); }); });
    EXPECT_TRUE(thrown == error);
    EXPECT_LT(time, test::long_delay());
}

inline void timed_invoke_any_returns_one_of_the_values(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    const jobs given{[] { return "first"; }, [] { return "second"; }};
    std::string value;
    const auto time = test::time_of([&] { value = pool.invoke_any(given, test::long_delay()); });
    EXPECT_TRUE(value == "first" || value == "second") << value;
    EXPECT_LT(time, test::long_delay());
}

}  // namespace conformance::checks
