// The keep-alive, the thread factory and the rejection policy: reading, replacing, and refusing bad
// values.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::pool_options;
using spool::rejection_policy;
using spool::thread_factory;
using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_007_the_keep_alive_reads_back_in_any_unit) {
    pool_options options = two_to_six();
    options.keep_alive = 1000ms;
    const thread_pool_executor pool{std::move(options)};
    EXPECT_EQ(std::chrono::duration_cast<std::chrono::seconds>(pool.keep_alive()).count(), 1);
    EXPECT_EQ(pool.keep_alive(), 1000ms);
}

TEST(thread_pool_executor, TPE_008_the_factory_given_is_the_one_in_use) {
    const thread_factory given = plain_factory();
    pool_options options = two_to_six();
    options.thread_factory = given;
    const thread_pool_executor pool{std::move(options)};
    EXPECT_TRUE(pool.thread_factory() == given);
    EXPECT_FALSE(pool.thread_factory() == plain_factory()) << "another of the same kind";
}

TEST(thread_pool_executor, TPE_009_the_factory_can_be_replaced) {
    const thread_factory second = plain_factory();
    thread_pool_executor pool{two_to_six<linked_queue>()};
    const ended_at_last end{pool};
    EXPECT_FALSE(pool.thread_factory() == second);
    pool.set_thread_factory(second);
    EXPECT_TRUE(pool.thread_factory() == second);
}

TEST(thread_pool_executor, TPE_010_an_empty_factory_cannot_be_set) {
    thread_pool_executor pool{two_to_six<linked_queue>()};
    const ended_at_last end{pool};
    const thread_factory before = pool.thread_factory();
    expect_refused([&] { pool.set_thread_factory({}); }, "the thread factory is empty");
    EXPECT_TRUE(pool.thread_factory() == before);
}

TEST(thread_pool_executor, TPE_011_the_default_policy_aborts) {
    thread_pool_executor pool{two_to_six()};
    ASSERT_TRUE(ends(pool));
    EXPECT_NE(pool.rejection().target<spool::abort_policy>(), nullptr);
    EXPECT_THROW(pool.execute([] {}), spool::rejected_execution);
}

TEST(thread_pool_executor, TPE_012_the_policy_given_is_the_one_in_use) {
    const rejection_policy given = silent_policy();
    pool_options options = two_to_six();
    options.rejection = given;
    const thread_pool_executor pool{std::move(options)};
    EXPECT_TRUE(pool.rejection() == given);
    EXPECT_FALSE(pool.rejection() == silent_policy()) << "another of the same kind";
}

TEST(thread_pool_executor, TPE_013_the_policy_can_be_replaced) {
    const rejection_policy second = silent_policy();
    thread_pool_executor pool{two_to_six<linked_queue>()};
    const ended_at_last end{pool};
    EXPECT_FALSE(pool.rejection() == second);
    pool.set_rejection(second);
    EXPECT_TRUE(pool.rejection() == second);
}

TEST(thread_pool_executor, TPE_014_an_empty_policy_cannot_be_set) {
    thread_pool_executor pool{two_to_six<linked_queue>()};
    const ended_at_last end{pool};
    const rejection_policy before = pool.rejection();
    expect_refused([&] { pool.set_rejection({}); }, "the rejection policy is empty");
    EXPECT_TRUE(pool.rejection() == before);
}

TEST(thread_pool_executor, TPE_064_a_negative_keep_alive_cannot_be_set) {
    thread_pool_executor pool{sized(2, 3)};
    const ended_at_last end{pool};
    const std::chrono::nanoseconds before = pool.keep_alive();
    expect_refused([&] { pool.set_keep_alive(-1ns); }, "-1 ns");
    EXPECT_EQ(pool.keep_alive(), before);
}

}  // namespace
}  // namespace conformance
