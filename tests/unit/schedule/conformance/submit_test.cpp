// Tasks without a delay, and their futures.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_thread_pool_executor;

TEST(scheduled_thread_pool_executor, STPE_001_a_worker_runs_the_task) {
    test::gate ran;
    std::atomic<std::thread::id> ran_in{};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    pool.execute([&] {
        ran_in = std::this_thread::get_id();
        ran.open();
    });
    ASSERT_TRUE(ran.opens());
    EXPECT_NE(ran_in.load(), std::this_thread::get_id());
}

TEST(scheduled_thread_pool_executor, STPE_029_a_function_brings_its_value) {
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const auto result = pool.submit([] { return std::string{"a test string"}; });
    EXPECT_EQ(result.get_for(test::long_delay()), "a test string");
}

TEST(scheduled_thread_pool_executor, STPE_030_an_action_brings_its_end) {
    std::atomic<bool> ran{false};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const auto result = pool.submit([&] { ran = true; });
    EXPECT_NO_THROW(result.get_for(test::long_delay()));
    EXPECT_TRUE(result.is_done());
    EXPECT_TRUE(ran);
}

TEST(scheduled_thread_pool_executor, STPE_031_an_action_with_a_value_brings_that_value) {
    std::atomic<bool> ran{false};
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const auto result = pool.submit([&] { ran = true; }, std::string{"a test string"});
    EXPECT_EQ(result.get_for(test::long_delay()), "a test string");
    EXPECT_TRUE(result.is_done());
    EXPECT_TRUE(ran);
}

TEST(scheduled_thread_pool_executor, STPE_055_the_largest_delay_there_is_comes_after_every_other_task) {
    test::gate immediate_ran;
    const auto clock = standing_clock();
    scheduled_thread_pool_executor pool{scheduler_of(1, clock)};
    const ended_at_last end{pool};
    const auto never_again = pool.schedule_with_fixed_delay(
        [&] { pool.execute([&] { immediate_ran.open(); }); }, 0s, std::chrono::seconds::max());
    ASSERT_TRUE(immediate_ran.opens());

    // The only worker has requeued the periodic task before it ran the immediate one.
    EXPECT_EQ(never_again.run_count(), 1U);
    EXPECT_TRUE(is_queued(pool, never_again));
    EXPECT_GT(never_again.delay(), std::chrono::years{100});
    EXPECT_NO_THROW(pool.submit([] {}).get_for(test::long_delay())) << "nor does it stand in anybody's way";
}

}  // namespace
}  // namespace conformance
