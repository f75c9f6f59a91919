// Tasks and their futures.
#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>
#include <string>
#include <thread>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_001_a_worker_runs_the_task) {
    test::gate ran;
    std::atomic<std::thread::id> ran_in{};
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    pool.execute([&] {
        ran_in = std::this_thread::get_id();
        ran.open();
    });
    ASSERT_TRUE(ran.opens());
    EXPECT_NE(ran_in.load(), std::this_thread::get_id());
}

TEST(thread_pool_executor, TPE_055_who_waits_for_a_running_task_can_be_interrupted) {
    blocker held;
    test::gate waiting;
    std::atomic<bool> was_interrupted{false};
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool, held};
    const auto result = pool.submit(held.body(), 7);
    ASSERT_TRUE(held.holds(1));
    std::jthread waiter{[&](std::stop_token stop) {
        waiting.open();
        try {
            result.get(stop);
        } catch (const spool::interrupted&) {
            was_interrupted = true;
        }
    }};
    EXPECT_TRUE(waiting.opens());
    waiter.request_stop();
    waiter.join();
    EXPECT_TRUE(was_interrupted);
    EXPECT_FALSE(result.is_done()) << "the task goes on";

    held.release();
    EXPECT_EQ(result.get_for(test::long_delay()), 7);
}

TEST(thread_pool_executor, TPE_067_a_function_brings_its_value) {
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    const auto result = pool.submit([] { return std::string{"a test string"}; });
    EXPECT_EQ(result.get_for(test::long_delay()), "a test string");
}

TEST(thread_pool_executor, TPE_068_an_action_brings_its_end) {
    std::atomic<bool> ran{false};
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    const auto result = pool.submit([&] { ran = true; });
    EXPECT_NO_THROW(result.get_for(test::long_delay()));
    EXPECT_TRUE(result.is_done());
    EXPECT_TRUE(ran);
}

TEST(thread_pool_executor, TPE_069_an_action_with_a_value_brings_that_value) {
    std::atomic<bool> ran{false};
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    const auto result = pool.submit([&] { ran = true; }, std::string{"a test string"});
    EXPECT_EQ(result.get_for(test::long_delay()), "a test string");
    EXPECT_TRUE(result.is_done());
    EXPECT_TRUE(ran);
}

TEST(thread_pool_executor, TPE_098_cancelled_futures_answer_at_once_running_or_queued) {
    blocker held;
    thread_pool_executor pool{sized(1, 1, 1)};
    const ended_at_last end{pool, held};
    const auto running = pool.submit(held.body());
    const auto queued = pool.submit(held.body());
    ASSERT_TRUE(held.holds(1));
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
    EXPECT_EQ(held.left(), 0) << "the running one still does";

    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(held.left(), 1) << "the queued one never did";
}

}  // namespace
}  // namespace conformance
