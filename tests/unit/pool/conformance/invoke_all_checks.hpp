// Checks of invoke_all on any pool of two workers: all tasks complete, or as many as the time
// allows. Each check also ends the pool.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/sync/this_task.hpp"
#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance::checks {

using jobs = std::vector<std::function<std::string()>>;
using results = std::vector<spool::future<std::string>>;

inline std::string failing_job() {
    throw std::domain_error("nothing to return");
}

inline jobs one_that_runs_and_an_empty_one(std::atomic<int>& ran) {
    return {[&ran] {
                ++ran;
                return "first";
            },
            nullptr};
}

inline void expect_values(const results& futures) {
    ASSERT_EQ(futures.size(), 2U);
    EXPECT_EQ(futures[0].result_now(), "first");  // already done: result_now() does not wait
    EXPECT_EQ(futures[1].result_now(), "second");
}

inline void expect_one_failure(const results& futures) {
    ASSERT_EQ(futures.size(), 1U);
    EXPECT_EQ(futures[0].state(), spool::future_state::failed);
    EXPECT_EQ(test::what_of<std::domain_error>([&] { futures[0].get(); }), "nothing to return");
}

inline void invoke_all_of_no_tasks_brings_no_futures(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    EXPECT_TRUE(pool.invoke_all(jobs{}).empty());
}

inline void invoke_all_refuses_an_empty_task(spool::thread_pool_executor& pool) {
    std::atomic<int> ran{0};
    const ended_at_last end{pool};
    const jobs given = one_that_runs_and_an_empty_one(ran);
    EXPECT_THROW(static_cast<void>(pool.invoke_all(given)), std::invalid_argument);
    ASSERT_TRUE(ends(pool));
    EXPECT_EQ(ran, 0) << "all are checked before the first is started";
}

inline void invoke_all_leaves_an_exception_in_its_future(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    expect_one_failure(pool.invoke_all(jobs{failing_job}));
}

inline void invoke_all_brings_every_value(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    expect_values(pool.invoke_all(jobs{[] { return "first"; }, [] { return "second"; }}));
}

inline void timed_invoke_all_of_no_tasks_brings_no_futures(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    for_any_timeout([&](auto timeout) { EXPECT_TRUE(pool.invoke_all(jobs{}, timeout).empty()); });
}

inline void timed_invoke_all_refuses_an_empty_task(spool::thread_pool_executor& pool) {
    std::atomic<int> ran{0};
    const ended_at_last end{pool};
    const jobs given = one_that_runs_and_an_empty_one(ran);
    for_any_timeout([&](auto timeout) {
        EXPECT_THROW(static_cast<void>(pool.invoke_all(given, timeout)), std::invalid_argument);
    });
    ASSERT_TRUE(ends(pool));
    EXPECT_EQ(ran, 0) << "all are checked before the first is started";
}

inline void timed_invoke_all_leaves_an_exception_in_its_future(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    expect_one_failure(pool.invoke_all(jobs{failing_job}, test::long_delay()));
}

inline void timed_invoke_all_brings_every_value(spool::thread_pool_executor& pool) {
    const ended_at_last end{pool};
    expect_values(pool.invoke_all(jobs{[] { return "first"; }, [] { return "second"; }}, test::long_delay()));
}

inline void timed_invoke_all_cancels_what_is_late_and_keeps_the_rest(spool::thread_pool_executor& pool) {
    std::atomic<int> entered{0};
    std::atomic<int> stopped{0};
    const ended_at_last end{pool};
    const jobs given{[] { return "first"; },
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
        EXPECT_GE(test::time_of([&] { futures = pool.invoke_all(given, timeout); }), timeout);
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
    ASSERT_TRUE(ends(pool));
    EXPECT_EQ(stopped, entered) << "a late one that had begun was asked to stop";
}

}  // namespace conformance::checks
