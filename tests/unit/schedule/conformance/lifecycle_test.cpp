// The life of a scheduler, from running to terminated, and what shutdown_now() hands back.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include "spool/sync/this_task.hpp"
#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_future;
using spool::scheduled_thread_pool_executor;
using spool::task;

TEST(scheduled_thread_pool_executor, STPE_020_shutdown_is_seen_at_once) {
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    EXPECT_FALSE(pool.is_shutdown());
    pool.shutdown();
    EXPECT_TRUE(pool.is_shutdown());
}

TEST(scheduled_thread_pool_executor, STPE_021_a_scheduler_is_terminated_after_its_last_task) {
    blocker held;
    std::atomic<bool> terminated_inside{true};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool, held};
    EXPECT_FALSE(pool.is_terminated());
    pool.execute([&, block = held.body()] {
        terminated_inside = pool.is_terminated();
        block();
    });
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(terminated_inside);
    EXPECT_FALSE(pool.is_terminated());

    ASSERT_TRUE(ends(pool, held));
    EXPECT_TRUE(pool.is_terminated());
}

TEST(scheduled_thread_pool_executor, STPE_022_a_scheduler_is_terminating_only_between_shutdown_and_end) {
    blocker held;
    std::atomic<bool> terminating_inside{true};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool, held};
    EXPECT_FALSE(pool.is_terminating());
    pool.execute([&, block = held.body()] {
        terminating_inside = pool.is_terminating();
        block();
    });
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(terminating_inside);
    EXPECT_FALSE(pool.is_terminating());

    pool.shutdown();
    EXPECT_TRUE(pool.is_terminating()) << "its task still runs";
    EXPECT_FALSE(pool.is_terminated());

    ASSERT_TRUE(ends(pool, held));
    EXPECT_TRUE(pool.is_terminated());
    EXPECT_FALSE(pool.is_terminating());
}

TEST(scheduled_thread_pool_executor, STPE_026_shutdown_now_stops_the_running_and_hands_back_the_rest) {
    constexpr std::size_t tasks = 5;
    std::atomic<int> entered{0};
    std::atomic<int> interrupted{0};
    scheduled_thread_pool_executor pool{scheduler_of(2)};
    const ended_at_last end{pool};
    std::vector<spool::future<void>> futures;
    for (std::size_t i = 0; i < tasks; ++i) {
        futures.push_back(pool.submit([&] {
            ++entered;
            try {
                spool::this_task::sleep_for(2 * test::long_delay());
            } catch (const spool::interrupted&) {
                ++interrupted;
            }
        }));
    }
    ASSERT_TRUE(test::eventually([&] { return entered == 2; }));
    EXPECT_EQ(pool.queue().size(), 3U);

    std::vector<task> handed_back = pool.shutdown_now();
    ASSERT_EQ(handed_back.size(), 3U);
    for (std::size_t i = 0; i < handed_back.size(); ++i) {
        EXPECT_EQ(handed_back[i].id(), futures[i + 2].id());
    }
    EXPECT_TRUE(pool.is_shutdown());
    EXPECT_TRUE(pool.queue().empty());

    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(entered, 2);
    EXPECT_EQ(interrupted, 2);
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(scheduled_thread_pool_executor,
     STPE_027_shutdown_now_hands_back_what_waits_and_a_dropped_task_is_cancelled) {
    std::atomic<int> runs{0};
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool};
    const auto body = [&runs] { ++runs; };
    std::vector<scheduled_future<void>> futures;
    for (int i = 0; i < 3; ++i) {
        futures.push_back(pool.schedule(body, 9s));
        futures.push_back(pool.schedule_at_fixed_rate(body, 9s, 9s));
        futures.push_back(pool.schedule_with_fixed_delay(body, 9s, 9s));
    }
    EXPECT_EQ(pool.queue().size(), 9U);

    std::vector<task> handed_back = pool.shutdown_now();
    EXPECT_TRUE(pool.is_shutdown());
    EXPECT_TRUE(pool.queue().empty());
    EXPECT_EQ(handed_back.size(), 9U);
    ASSERT_TRUE(pool.await_termination(test::long_delay())) << "it does not wait for their time";
    for (const auto& f : futures) {
        EXPECT_EQ(std::count_if(handed_back.begin(), handed_back.end(),
                                [&f](const task& t) { return t.id() == f.id(); }),
                  1);
        EXPECT_FALSE(f.is_done()) << "the task is here, and could still be run";
        EXPECT_FALSE(f.is_cancelled());
        EXPECT_EQ(f.delay(), 0s) << "it waits for no time any more";
    }

    handed_back.clear();
    for (const auto& f : futures) {
        EXPECT_TRUE(f.is_cancelled()) << "nobody can run it any more";
    }
    EXPECT_EQ(runs, 0);
}

}  // namespace
}  // namespace conformance
