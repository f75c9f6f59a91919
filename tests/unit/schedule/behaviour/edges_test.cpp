// Unusual sizes, numbers and input, and threads that cannot be started.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "schedule_helpers.hpp"
#include "support/throws.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// ---- Zero core threads

TEST(scheduled_without_core_threads, a_worker_starts_for_a_task_and_leaves_when_there_is_none) {
    test::timed_pool timed({.core_size = 0, .keep_alive = 1ms});
    EXPECT_EQ(timed.pool.pool_size(), 0U);
    for (int round = 0; round < 3; ++round) {
        const auto timer = timed.pool.schedule([] { return 1; }, 1h);
        EXPECT_EQ(timed.pool.pool_size(), 1U);
        timed.clock->advance(1h);
        EXPECT_EQ(timer.get(), 1);
        EXPECT_TRUE(test::eventually([&] { return timed.pool.pool_size() == 0; }));
    }
    EXPECT_EQ(timed.pool.largest_pool_size(), 1U);
}

TEST(scheduled_without_core_threads, a_series_keeps_its_worker_and_the_end_of_it_lets_it_go) {
    test::timed_pool timed({.core_size = 0, .keep_alive = 1ms});
    const auto series = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    for (unsigned i = 1; i <= 3; ++i) {
        timed.clock->advance(1h);
        ASSERT_TRUE(test::eventually([&] { return series.run_count() == i; }));
    }
    series.cancel();
    EXPECT_TRUE(test::eventually([&] { return timed.pool.pool_size() == 0; }));
}

TEST(scheduled_without_core_threads, shutdown_still_runs_delayed_tasks) {
    test::timed_pool timed({.core_size = 0, .keep_alive = 1ms});
    const auto timer = timed.pool.schedule([] { return 1; }, 1h);
    timed.pool.shutdown();
    timed.clock->advance(1h);
    EXPECT_EQ(timer.get(), 1);
    EXPECT_TRUE(timed.pool.await_termination(test::long_delay()));
}

TEST(scheduled_size, workers_are_started_as_tasks_come_up_to_the_core_size) {
    test::timed_pool timed({.core_size = 3});
    for (std::size_t i = 1; i <= 5; ++i) {
        timed.pool.schedule([] {}, 1h);
        EXPECT_EQ(timed.pool.pool_size(), std::min<std::size_t>(i, 3));
    }
}

TEST(scheduled_size, raised_lowered_and_to_zero_no_timer_is_lost) {
    test::timed_pool timed({.core_size = 3, .keep_alive = 1ms});
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) {
        timed.pool.schedule([&] { ++ran; }, 1h);
    }
    timed.pool.set_core_size(0);
    EXPECT_TRUE(test::eventually([&] { return timed.pool.pool_size() == 1; })) << timed.pool.pool_size();
    timed.pool.set_core_size(2);
    timed.clock->advance(1h);
    EXPECT_TRUE(test::eventually([&] { return ran == 10; })) << ran;
}

TEST(scheduled_size, lowered_lets_surplus_workers_leave_at_once_by_default) {
    spool::scheduled_thread_pool_executor pool({.core_size = 4});
    EXPECT_EQ(pool.keep_alive(), 10ms);
    EXPECT_EQ(pool.prestart_all_core_threads(), 4U);
    pool.set_core_size(1);
    EXPECT_TRUE(test::eventually([&] { return pool.pool_size() == 1; })) << pool.pool_size();
}

// ---- Numbers

TEST(scheduled_delay, one_too_large_to_add_is_never_and_a_negative_one_is_now) {
    test::timed_pool timed;
    const auto never = timed.pool.schedule([] {}, nanoseconds::max());
    const auto hours = timed.pool.schedule([] {}, std::chrono::hours::max());
    const auto endless =
        timed.pool.schedule([] {}, std::chrono::duration<double>{std::numeric_limits<double>::infinity()});
    const auto least = timed.pool.schedule([] {}, nanoseconds::min());
    const auto negative = timed.pool.schedule([] {}, std::chrono::duration<double>{-1e300});
    const auto no_number = timed.pool.schedule([] {}, std::chrono::duration<double>{std::nan("")});
    timed.advance(24h * 365 * 50);
    EXPECT_FALSE(never.is_done() || hours.is_done() || endless.is_done());
    EXPECT_TRUE(least.is_done() && negative.is_done() && no_number.is_done());
    EXPECT_GT(never.delay(), 24h * 365 * 100);
}

TEST(scheduled_delay, is_the_remaining_time_and_negative_for_a_late_task) {
    test::busy_workers busy;
    test::timed_pool timed;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(timed.pool);
    const auto timer = timed.pool.schedule([] {}, 90min);
    EXPECT_EQ(timer.delay(), 90min);
    timed.clock->advance(1h);
    EXPECT_EQ(timer.delay(), 30min);
    timed.clock->advance(1h);
    EXPECT_EQ(timer.delay(), -30min);
    const auto ever = timed.pool.schedule_at([] {}, std::chrono::steady_clock::time_point::min());
    EXPECT_LT(ever.delay(), -24h * 365 * 200) << "and wraps round nowhere";
    busy.release();
    timed.settle();
    EXPECT_EQ(timer.delay(), 0ns);
}

// ---- Input

TEST(scheduled_bad_input, a_period_of_zero_or_less_is_named_with_its_number) {
    test::timed_pool timed({.name = "strict", .core_size = 1});
    const auto what =
        test::what_of<std::invalid_argument>([&] { timed.pool.schedule_at_fixed_rate([] {}, 1s, 0s); });
    EXPECT_TRUE(test::contains(what, "\"strict\"")) << what;
    EXPECT_TRUE(test::contains(what, "schedule_at_fixed_rate")) << what;
    EXPECT_TRUE(test::contains(what, "(0 ns)")) << what;
    const auto other =
        test::what_of<std::invalid_argument>([&] { timed.pool.schedule_with_fixed_delay([] {}, 1s, -2us); });
    EXPECT_TRUE(test::contains(other, "schedule_with_fixed_delay")) << other;
    EXPECT_TRUE(test::contains(other, "(-2000 ns)")) << other;
    EXPECT_EQ(timed.pool.queue().size(), 0U);
}

TEST(scheduled_bad_input, a_negative_jitter_is_named_with_its_number) {
    test::timed_pool timed({.name = "strict", .core_size = 1});
    const auto what = test::what_of<std::invalid_argument>(
        [&] { timed.pool.schedule_at_fixed_rate([] {}, 1s, 1s, {.jitter = -3ns}); });
    EXPECT_TRUE(test::contains(what, "\"strict\"") && test::contains(what, "jitter")) << what;
    EXPECT_TRUE(test::contains(what, "(-3 ns)")) << what;
}

TEST(scheduled_bad_input, an_empty_callable_is_refused_by_every_call) {
    test::timed_pool timed({.name = "strict", .core_size = 1});
    const std::function<void()> empty;
    void (*const null)() = nullptr;
    auto& pool = timed.pool;
    const auto refused = [&](auto call) {
        return test::contains(test::what_of<std::invalid_argument>(call), "\"strict\"");
    };
    EXPECT_TRUE(refused([&] { pool.schedule(empty, 1s); }));
    EXPECT_TRUE(refused([&] { pool.schedule(null, 1s); }));
    EXPECT_TRUE(refused([&] { pool.schedule_at(empty, timed.clock->wall_now()); }));
    EXPECT_TRUE(refused([&] { pool.schedule_at_fixed_rate(null, 1s, 1s); }));
    EXPECT_TRUE(refused([&] { pool.schedule_with_fixed_delay(empty, 1s, 1s); }));
    EXPECT_TRUE(refused([&] { static_cast<void>(pool.submit(null)); }));
    EXPECT_THROW(pool.execute(nullptr), std::invalid_argument);
    EXPECT_EQ(pool.task_count(), 0U);
}

TEST(scheduled_bad_input, the_options_are_checked_as_the_pools_are) {
    const auto make = [](spool::scheduled_pool_options options) {
        options.name = "strict";
        const spool::scheduled_thread_pool_executor pool{std::move(options)};
    };
    EXPECT_THROW(make({.keep_alive = -1s}), std::invalid_argument);
    EXPECT_THROW(make({.keep_alive = 0s, .core_threads_may_time_out = true}), std::invalid_argument);
    EXPECT_THROW(make({.core_size = std::numeric_limits<std::size_t>::max()}), std::invalid_argument);
    EXPECT_THROW(make({.thread_factory = {}}), std::invalid_argument);
    EXPECT_THROW(
        static_cast<void>(spool::unconfigurable(std::unique_ptr<spool::scheduled_thread_pool_executor>{})),
        std::invalid_argument);
}

// ---- A factory that fails

TEST(scheduled_factory_failure, without_any_worker_reaches_the_caller_and_leaves_nothing_queued) {
    test::timed_pool timed({.core_size = 2});
    timed.pool.set_thread_factory([](spool::task, const spool::worker_info&) -> spool::worker_thread {
        throw std::runtime_error("no thread today");
    });
    const std::string told = "thread_pool_executor \"" + timed.pool.name() + "\": no thread: no thread today";
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { timed.pool.schedule([] {}, 1h); }), told);
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h); }),
              told);
    EXPECT_EQ(timed.pool.queue().size(), 0U);
    timed.pool.set_thread_factory(spool::worker_thread_factory());
    EXPECT_EQ(timed.pool.submit([] { return 1; }).get(), 1);
}

TEST(scheduled_factory_failure, with_a_worker_present_reaches_no_caller) {
    test::timed_pool timed({.core_size = 2});
    timed.settle();
    while (timed.pool.pool_size() > 1) {
        timed.pool.set_core_size(1);
        timed.pool.set_maximum_size(1);
    }
    timed.pool.set_maximum_size(4);
    timed.pool.set_core_size(4);
    timed.pool.set_thread_factory([](spool::task, const spool::worker_info&) -> spool::worker_thread {
        throw std::runtime_error("no thread today");
    });
    const auto timer = timed.pool.schedule([] { return 1; }, 1h);
    timed.clock->advance(1h);
    EXPECT_EQ(timer.get(), 1);
}

// ---- The ready-made pools

TEST(scheduled_ready_made, run_scheduled_tasks) {
    auto pool = spool::scheduled_thread_pool(2);
    EXPECT_EQ(pool.core_size(), 2U);
    EXPECT_EQ(pool.schedule([] { return 1; }, 1ms).get(), 1);
    auto single = spool::single_thread_scheduled_executor();
    EXPECT_EQ(single.schedule([] { return 2; }, 1ms).get(), 2);
    EXPECT_EQ(single.schedule_at([] { return 3; }, std::chrono::system_clock::now()).get(), 3);
    EXPECT_EQ(single.submit([] {}, 4).get(), 4);
    const auto series = single.schedule_at_fixed_rate([] {}, 0s, 1ms);
    const auto other = single.schedule_with_fixed_delay([] {}, 0s, 1ms);
    EXPECT_TRUE(test::eventually([&] { return series.run_count() > 2 && other.run_count() > 2; }));
    single.close();
    EXPECT_TRUE(series.is_cancelled() && other.is_cancelled());
    EXPECT_TRUE(single.is_terminated());
}

}  // namespace
