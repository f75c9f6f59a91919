// The ready-made pools: fixed, cached and single, and handles that cannot be reconfigured.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include <gtest/gtest.h>
#include <spool/spool.hpp>

#include "support/delays.hpp"
#include "support/throws.hpp"

namespace {

using namespace std::chrono_literals;

template <class Service>
concept can_be_resized = requires(Service& s) {
    s.set_core_size(2);
};

// Submits three actions and shuts the service down: all three must have run by its end.
void accepts_three_and_ends(spool::executor_service& service) {
    std::atomic<int> ran{0};
    for (int i = 0; i < 3; ++i) {
        service.execute([&ran] { ++ran; });
    }
    service.shutdown();
    ASSERT_TRUE(service.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 3);
    EXPECT_TRUE(service.is_terminated());
}

}  // namespace

TEST(executors, EX_004_a_single_thread_executor_runs_tasks_in_order_on_one_thread) {
    std::string order;  // no lock: the tasks must run one at a time
    std::thread::id first;
    std::thread::id second;
    auto single = spool::single_thread_executor();
    single.execute([&] { order += 'a', first = std::this_thread::get_id(); });
    single.execute([&] { order += 'b'; });
    single.execute([&] { order += 'c', second = std::this_thread::get_id(); });
    single.close();
    EXPECT_EQ(order, "abc");
    EXPECT_EQ(first, second);
    EXPECT_NE(first, std::this_thread::get_id());
}

TEST(executors, EX_007_a_single_thread_executor_cannot_be_cast_to_a_pool_or_resized) {
    auto single = spool::single_thread_executor();
    spool::executor_service& service = single;
    EXPECT_EQ(dynamic_cast<spool::thread_pool_executor*>(&service), nullptr);
    static_assert(can_be_resized<spool::thread_pool_executor>);
    static_assert(!can_be_resized<decltype(single)>);
    single.close();
}

TEST(executors, EX_008_a_fixed_pool_of_two_has_at_most_two_workers) {
    auto pool = spool::fixed_thread_pool(2);
    EXPECT_EQ(pool.core_size(), 2U);
    EXPECT_EQ(pool.maximum_size(), 2U);
    accepts_three_and_ends(pool);
    EXPECT_LE(pool.largest_pool_size(), 2U);
}

TEST(executors, EX_011_a_fixed_pool_of_no_threads_is_refused) {
    const std::string what =
        test::what_of<std::invalid_argument>([] { const auto pool = spool::fixed_thread_pool(0); });
    EXPECT_NE(what.find("maximum_size 0"), std::string::npos) << what;
}

TEST(executors, EX_012_a_locked_down_reference_only_submits) {
    auto pool = spool::fixed_thread_pool(2);
    auto locked = spool::unconfigurable(pool);
    static_assert(!std::derived_from<decltype(locked), spool::executor_service>);
    static_assert(!can_be_resized<decltype(locked)>);
    static_assert(!can_be_resized<spool::unconfigurable_service>);
    EXPECT_EQ(locked.submit([] { return 7; }).get(), 7);
    EXPECT_FALSE(pool.is_shutdown());
    pool.close();
}

TEST(executors, EX_013_locking_down_nothing_is_refused) {
    const std::string what = test::what_of<std::invalid_argument>(
        [] { const auto locked = spool::unconfigurable(std::unique_ptr<spool::executor_service>{}); });
    EXPECT_NE(what.find("null"), std::string::npos) << what;
}

TEST(executors, EX_019_the_first_worker_of_a_default_pool_has_a_name_that_ends_in_1) {
    char name[64] = {};
    spool::thread_pool_executor pool;
    pool.submit([&name] { pthread_getname_np(pthread_self(), name, sizeof(name)); }).get();
    EXPECT_EQ(std::string(name), "pool-1");
    pool.close();
}

// ---- The pools as types

TEST(executors_types, can_be_members_optionals_and_owned_without_the_options) {
    struct server {
        spool::fixed_thread_pool_executor fixed{2};
        spool::cached_thread_pool_executor cached;
        spool::work_stealing_pool_executor stealing{2};
        spool::single_thread_pool_executor single;
        spool::fixed_scheduled_pool_executor timers{1};
        spool::single_scheduled_pool_executor one_timer;
    };
    server mine;
    accepts_three_and_ends(mine.fixed);
    accepts_three_and_ends(mine.cached);
    accepts_three_and_ends(mine.stealing);
    accepts_three_and_ends(mine.single);
    accepts_three_and_ends(mine.timers);
    accepts_three_and_ends(mine.one_timer);

    std::optional<spool::fixed_thread_pool_executor> later;
    later.emplace(3);
    accepts_three_and_ends(*later);
    accepts_three_and_ends(*std::make_unique<spool::work_stealing_pool_executor>());
    accepts_three_and_ends(*std::make_unique<spool::fixed_scheduled_pool_executor>(2));
}

TEST(executors_types, have_the_settings_of_the_functions) {
    const spool::fixed_thread_pool_executor fixed{3};
    EXPECT_EQ(fixed.core_size(), spool::fixed_thread_pool(3).core_size());
    EXPECT_EQ(fixed.maximum_size(), 3U);
    EXPECT_EQ(fixed.name(), spool::fixed_thread_pool(3).name());
    const spool::cached_thread_pool_executor cached;
    EXPECT_EQ(cached.core_size(), 0U);
    EXPECT_EQ(cached.maximum_size(), spool::cached_thread_pool().maximum_size());
    spool::work_stealing_pool_executor stealing{2};
    EXPECT_NE(dynamic_cast<spool::work_stealing_queue<spool::task>*>(&stealing.queue()), nullptr);
    EXPECT_EQ(spool::fixed_scheduled_pool_executor{2}.core_size(), 2U);
    EXPECT_THROW(spool::fixed_thread_pool_executor{0}, std::invalid_argument);
    EXPECT_THROW(spool::single_thread_pool_executor{spool::thread_factory{}}, std::invalid_argument);
    static_assert(!can_be_resized<spool::single_thread_pool_executor>);
    static_assert(!std::is_convertible_v<std::size_t, spool::fixed_thread_pool_executor>);
}

TEST(executors_types, of_a_scheduled_pool_can_be_locked_up) {
    spool::unconfigurable_scheduler locked =
        spool::unconfigurable(std::make_unique<spool::fixed_scheduled_pool_executor>(1));
    EXPECT_EQ(locked.schedule([] { return 5; }, 0ms).get(), 5);
}
