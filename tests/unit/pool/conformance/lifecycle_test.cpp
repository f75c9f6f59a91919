// The life of a pool, from running to terminated.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include "spool/sync/this_task.hpp"
#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_019_shutdown_is_seen_at_once) {
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    EXPECT_FALSE(pool.is_shutdown());
    pool.shutdown();
    EXPECT_TRUE(pool.is_shutdown());
}

TEST(thread_pool_executor, TPE_020_waiting_for_the_end_of_a_live_pool_times_out) {
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    for (const auto over : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        EXPECT_FALSE(pool.await_termination(over));
    }
    EXPECT_FALSE(pool.await_termination(std::chrono::hours::min()));

    const std::chrono::nanoseconds short_delay = test::short_delay();
    for (const auto limit : {std::chrono::nanoseconds{999999}, short_delay}) {
        bool ended = true;
        EXPECT_GE(test::time_of([&] { ended = pool.await_termination(limit); }), limit);
        EXPECT_FALSE(ended);
    }

    pool.shutdown();
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(pool.await_termination(0ns));
}

TEST(thread_pool_executor, TPE_021_a_pool_is_terminated_after_its_last_task) {
    blocker held;
    std::atomic<bool> terminating_inside{true};
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool, held};
    EXPECT_FALSE(pool.is_terminating());
    pool.execute([&, block = held.body()] {
        terminating_inside = pool.is_terminating();
        block();
    });
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(terminating_inside);
    EXPECT_FALSE(pool.is_terminating());
    EXPECT_FALSE(pool.is_terminated());

    ASSERT_TRUE(ends(pool, held));
    EXPECT_TRUE(pool.is_terminated());
    EXPECT_FALSE(pool.is_terminating());
}

TEST(thread_pool_executor, TPE_022_a_pool_is_terminating_only_between_shutdown_and_end) {
    blocker held;
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool, held};
    EXPECT_FALSE(pool.is_terminating());
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(pool.is_terminating());

    pool.shutdown();
    EXPECT_TRUE(pool.is_terminating()) << "its task still runs";
    EXPECT_FALSE(pool.is_terminated());

    ASSERT_TRUE(ends(pool, held));
    EXPECT_TRUE(pool.is_terminated());
    EXPECT_FALSE(pool.is_terminating());
}

TEST(thread_pool_executor, TPE_026_shutdown_now_stops_the_running_and_hands_back_the_rest) {
    constexpr std::size_t tasks = 5;
    std::atomic<int> entered{0};
    std::atomic<int> interrupted{0};
    thread_pool_executor pool{sized(2, 2)};
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

    std::vector<spool::task> handed_back = pool.shutdown_now();
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
    EXPECT_FALSE(futures[4].is_done()) << "the task is here, and could still be run";
    handed_back.clear();
    EXPECT_TRUE(futures[4].is_cancelled());
}

}  // namespace
}  // namespace conformance
