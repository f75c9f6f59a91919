// The settings that a pool is built with, and how long idle workers stay.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::pool_options;
using spool::rejection_policy;
using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_007_the_keep_alive_reads_back_in_any_unit) {
    pool_options options = two_to_six();
    options.keep_alive = 1000ms;
    const thread_pool_executor pool{std::move(options)};
    EXPECT_EQ(std::chrono::duration_cast<std::chrono::seconds>(pool.keep_alive()).count(), 1);
    EXPECT_EQ(pool.keep_alive(), 1000ms);
}

TEST(thread_pool_executor, TPE_012_the_policy_given_is_the_one_in_use) {
    const rejection_policy given = silent_policy();
    pool_options options = two_to_six();
    options.rejection = given;
    const thread_pool_executor pool{std::move(options)};
    EXPECT_TRUE(pool.rejection() == given);
    EXPECT_FALSE(pool.rejection() == silent_policy()) << "another of the same kind";
}

TEST(thread_pool_executor, TPE_023_the_queue_is_the_one_given) {
    pool_options options = sized(1, 1);
    const spool::blocking_queue<spool::task>* const given = options.queue.get();
    thread_pool_executor pool{std::move(options)};
    EXPECT_EQ(&pool.queue(), given);
}

TEST(thread_pool_executor, TPE_064_a_negative_keep_alive_cannot_be_set) {
    thread_pool_executor pool{sized(2, 3)};
    const ended_at_last end{pool};
    const std::chrono::nanoseconds before = pool.keep_alive();
    expect_refused([&] { pool.set_keep_alive(-1ns); }, "-1 ns");
    EXPECT_EQ(pool.keep_alive(), before);
}

pool_options impatient() {
    pool_options options = sized(2, 10);
    options.keep_alive = test::short_delay();
    return options;
}

TEST(thread_pool_executor, TPE_094_core_workers_may_not_time_out_by_default) {
    const thread_pool_executor pool{sized(2, 2)};
    EXPECT_FALSE(pool.core_threads_may_time_out());
}

TEST(thread_pool_executor, TPE_095_with_core_time_out_an_idle_pool_shrinks_to_nothing) {
    blocker held;
    thread_pool_executor pool{impatient()};
    const ended_at_last end{pool, held};
    pool.allow_core_threads_to_time_out(true);
    EXPECT_TRUE(pool.core_threads_may_time_out());
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    EXPECT_EQ(pool.pool_size(), 1U);

    const auto idle = test::time_of([&] {
        held.release();
        EXPECT_TRUE(test::eventually([&] { return pool.pool_size() == 0; }));
    });
    EXPECT_GE(idle, test::short_delay());
    EXPECT_FALSE(pool.is_shutdown());
    EXPECT_EQ(pool.completed_task_count(), 1U);
}

TEST(thread_pool_executor, TPE_096_without_core_time_out_idle_core_workers_stay) {
    blocker held;
    thread_pool_executor pool{impatient()};
    const ended_at_last end{pool, held};
    pool.allow_core_threads_to_time_out(false);
    EXPECT_FALSE(pool.core_threads_may_time_out());
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    held.release();
    ASSERT_TRUE(test::eventually([&] { return pool.active_count() == 0; }));

    EXPECT_FALSE(pool.await_termination(2 * test::short_delay()));  // lets the time pass
    EXPECT_EQ(pool.pool_size(), 1U);
}

}  // namespace
}  // namespace conformance
