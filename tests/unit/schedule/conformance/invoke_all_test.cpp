// invoke_all on a scheduler: all of them, or as many as the time allows.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/sync/this_task.hpp"
#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using spool::scheduled_thread_pool_executor;
using jobs = std::vector<std::function<std::string()>>;
using results = std::vector<spool::future<std::string>>;

std::string failing_job() {
    throw std::domain_error("nothing to return");
}

void expect_values(const results& futures) {
    ASSERT_EQ(futures.size(), 2U);
    EXPECT_EQ(futures[0].result_now(), "first");  // done: nobody waits here
    EXPECT_EQ(futures[1].result_now(), "second");
}

void expect_one_failure(const results& futures) {
    ASSERT_EQ(futures.size(), 1U);
    EXPECT_EQ(futures[0].state(), spool::future_state::failed);
    EXPECT_EQ(test::what_of<std::domain_error>([&] { futures[0].get(); }), "nothing to return");
}

TEST(scheduled_thread_pool_executor, STPE_038_invoke_all_of_no_tasks_brings_no_futures) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    EXPECT_TRUE(pool.invoke_all(jobs{}).empty());
}

TEST(scheduled_thread_pool_executor, STPE_039_invoke_all_refuses_an_empty_task) {
    std::atomic<int> ran{0};
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    const jobs given{[&] {
                         ++ran;
                         return "first";
                     },
                     nullptr};
    EXPECT_THROW(static_cast<void>(pool.invoke_all(given)), std::invalid_argument);
    ASSERT_TRUE(ends(pool));
    EXPECT_EQ(ran, 0) << "all are checked before the first is started";
}

TEST(scheduled_thread_pool_executor, STPE_040_invoke_all_leaves_an_exception_in_its_future) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    expect_one_failure(pool.invoke_all(jobs{failing_job}));
}

TEST(scheduled_thread_pool_executor, STPE_041_invoke_all_brings_every_value) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    expect_values(pool.invoke_all(jobs{[] { return "first"; }, [] { return "second"; }}));
}

TEST(scheduled_thread_pool_executor, STPE_050_timed_invoke_all_of_no_tasks_brings_no_futures) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    for_any_timeout([&](auto timeout) { EXPECT_TRUE(pool.invoke_all(jobs{}, timeout).empty()); });
}

TEST(scheduled_thread_pool_executor, STPE_051_timed_invoke_all_refuses_an_empty_task) {
    std::atomic<int> ran{0};
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    const jobs given{[&] {
                         ++ran;
                         return "first";
                     },
                     nullptr};
    for_any_timeout([&](auto timeout) {
        EXPECT_THROW(static_cast<void>(pool.invoke_all(given, timeout)), std::invalid_argument);
    });
    ASSERT_TRUE(ends(pool));
    EXPECT_EQ(ran, 0) << "all are checked before the first is started";
}

TEST(scheduled_thread_pool_executor, STPE_052_timed_invoke_all_leaves_an_exception_in_its_future) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    expect_one_failure(pool.invoke_all(jobs{failing_job}, test::long_delay()));
}

TEST(scheduled_thread_pool_executor, STPE_053_timed_invoke_all_brings_every_value) {
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    expect_values(pool.invoke_all(jobs{[] { return "first"; }, [] { return "second"; }}, test::long_delay()));
}

TEST(scheduled_thread_pool_executor, STPE_054_timed_invoke_all_cancels_what_is_late_and_keeps_the_rest) {
    std::atomic<int> entered{0};
    std::atomic<int> stopped{0};
    scheduled_thread_pool_executor pool{scheduler_of(2)};
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
    // On a busy machine a quick one may not even start in time; then all get more of it.
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

}  // namespace
}  // namespace conformance
