// The ready-made schedulers: of several threads, of one, and a handle that cannot be reconfigured.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "spool/schedule/executors.hpp"
#include "unit/schedule/conformance/conformance_scheduler.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_thread_pool_executor;

template <class Service>
concept can_be_resized = requires(Service& s) {
    s.set_core_size(2);
};

// On the real clock: runs a delayed function, then shuts the scheduler down.
template <class Scheduler>
void runs_a_delayed_function_in_time(Scheduler& scheduler) {
    using clock = std::chrono::steady_clock;
    const auto delay = test::short_delay();
    clock::time_point ran_at{};
    const auto start = clock::now();
    const auto result = scheduler.schedule(
        [&ran_at] {
            ran_at = clock::now();
            return std::string{"a test string"};
        },
        delay);
    EXPECT_EQ(result.get_for(test::long_delay()), "a test string");
    EXPECT_EQ(result.get(), "a test string");
    EXPECT_GE(ran_at - start, delay);
    EXPECT_TRUE(result.is_done());
    EXPECT_FALSE(result.is_cancelled());
    scheduler.shutdown();
    EXPECT_TRUE(scheduler.await_termination(test::long_delay()));
}

TEST(executors, EX_014_locking_down_no_scheduler_is_refused) {
    const std::string what = test::what_of<std::invalid_argument>(
        [] { const auto locked = spool::unconfigurable(std::unique_ptr<scheduled_thread_pool_executor>{}); });
    EXPECT_NE(what.find("null"), std::string::npos) << what;
}

TEST(executors, EX_015_a_single_thread_scheduler_runs_a_function_no_sooner_than_its_delay) {
    auto single = spool::single_thread_scheduled_executor();
    runs_a_delayed_function_in_time(single);
}

TEST(executors, EX_015_a_single_thread_scheduler_cannot_be_cast_to_a_pool_or_resized) {
    auto single = spool::single_thread_scheduled_executor();
    spool::executor_service& service = single;
    EXPECT_EQ(dynamic_cast<spool::thread_pool_executor*>(&service), nullptr);
    static_assert(can_be_resized<scheduled_thread_pool_executor>);
    static_assert(!can_be_resized<decltype(single)>);
}

TEST(executors, EX_016_a_scheduler_of_two_runs_a_function_no_sooner_than_its_delay) {
    auto pool = spool::scheduled_thread_pool(2);
    static_assert(std::is_same_v<decltype(pool), scheduled_thread_pool_executor>);
    EXPECT_EQ(pool.core_size(), 2U);
    runs_a_delayed_function_in_time(pool);
}

TEST(executors, EX_017_a_locked_down_scheduler_runs_a_function_no_sooner_than_its_delay) {
    const auto clock = standing_clock();
    auto locked =
        spool::unconfigurable(std::make_unique<scheduled_thread_pool_executor>(scheduler_of(2, clock)));
    static_assert(!can_be_resized<decltype(locked)>);
    const auto due = clock->now() + 1h;
    const auto ran_at = locked.schedule([&clock] { return clock->now(); }, 1h);
    clock->advance(1h - 1ns);
    EXPECT_NO_THROW(locked.submit([] {}).get_for(test::long_delay())) << "the workers have looked";
    EXPECT_FALSE(ran_at.is_done());
    EXPECT_EQ(ran_at.delay(), 1ns);

    clock->advance(1ns);
    EXPECT_EQ(ran_at.get_for(test::long_delay()), due);
    EXPECT_FALSE(ran_at.is_cancelled());
    locked.shutdown();
    EXPECT_TRUE(locked.await_termination(test::long_delay()));
}

}  // namespace
}  // namespace conformance
