// Submitting an action returns a future without a value, or with a value given beforehand.
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <gtest/gtest.h>
#include <spool/spool.hpp>

#include "support/throws.hpp"

namespace {

using action = std::function<void()>;

}  // namespace

TEST(executors, EX_025_an_action_submitted_gives_a_future_without_a_value) {
    std::atomic<int> ran{0};
    auto pool = spool::fixed_thread_pool(1);
    auto done = pool.submit([&ran] { ++ran; });
    static_assert(std::is_same_v<decltype(done), spool::future<void>>);
    done.get();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(done.state(), spool::future_state::succeeded);
    pool.close();
}

TEST(executors, EX_026_an_action_submitted_with_a_value_brings_that_value) {
    std::atomic<int> ran{0};
    auto pool = spool::fixed_thread_pool(1);
    auto done = pool.submit([&ran] { ++ran; }, std::string{"seven"});
    static_assert(std::is_same_v<decltype(done), spool::future<std::string>>);
    EXPECT_EQ(done.get(), "seven");
    EXPECT_EQ(ran, 1);
    pool.close();
}

TEST(executors, EX_029_an_empty_action_is_refused_and_changes_nothing) {
    auto pool = spool::fixed_thread_pool(1);
    const std::string what =
        test::what_of<std::invalid_argument>([&] { static_cast<void>(pool.submit(action{})); });
    EXPECT_NE(what.find("empty callable"), std::string::npos) << what;
    EXPECT_EQ(pool.task_count(), 0U);
    EXPECT_EQ(pool.pool_size(), 0U);
    pool.close();
}

TEST(executors, EX_030_an_empty_action_with_a_value_is_refused_and_changes_nothing) {
    auto pool = spool::fixed_thread_pool(1);
    const std::string what =
        test::what_of<std::invalid_argument>([&] { static_cast<void>(pool.submit(action{}, 7)); });
    EXPECT_NE(what.find("empty callable"), std::string::npos) << what;
    EXPECT_EQ(pool.task_count(), 0U);
    EXPECT_EQ(pool.pool_size(), 0U);
    pool.close();
}
