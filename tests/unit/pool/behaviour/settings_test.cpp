// Settings that change while the pool runs: they reach workers that already wait, also when a task
// makes the change.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/others_sleep.hpp"

namespace {

using namespace std::chrono_literals;

bool shrinks_to(spool::thread_pool_executor& pool, std::size_t n) {
    return test::eventually([&] { return pool.pool_size() == n; });
}

// Starts `n` workers by giving each a task, and lets them go idle.
void grow_to(spool::thread_pool_executor& pool, std::size_t n) {
    test::busy_workers busy;
    for (std::size_t i = 0; i < n; ++i) {
        busy.hold(pool);
    }
    EXPECT_TRUE(busy.started());
    EXPECT_EQ(pool.pool_size(), n);
    busy.release();
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 0 && test::others_sleep(); }));
}

}  // namespace

TEST(pool_settings, a_lowered_maximum_retires_waiting_workers_at_once) {
    spool::thread_pool_executor pool({.core_size = 0,
                                      .maximum_size = 4,
                                      .keep_alive = 24h,
                                      .queue = test::synchronous(),
                                      .rejection = spool::block_policy{}});
    grow_to(pool, 4);
    pool.set_maximum_size(1);
    EXPECT_TRUE(shrinks_to(pool, 1));
    EXPECT_EQ(pool.submit([] { return 5; }).get(), 5);
    EXPECT_EQ(pool.pool_size(), 1U);
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_lowered_maximum_lets_busy_workers_finish_their_tasks_first) {
    test::busy_workers busy;
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 3, .maximum_size = 3});
    const test::open_at_end guard{busy.release_gate()};
    for (int i = 0; i < 3; ++i) {
        busy.hold(pool);
    }
    ASSERT_TRUE(busy.started());
    for (int i = 0; i < 5; ++i) {
        pool.execute([&ran] { ++ran; });
    }
    pool.set_core_size(1);
    pool.set_maximum_size(1);
    EXPECT_EQ(pool.pool_size(), 3U);
    EXPECT_EQ(pool.active_count(), 3U);
    busy.release();
    EXPECT_TRUE(shrinks_to(pool, 1));
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 5);
    EXPECT_EQ(pool.completed_task_count(), 8U);
}

TEST(pool_settings, a_maximum_lowered_from_inside_a_task_retires_the_others) {
    spool::thread_pool_executor pool({.core_size = 4, .maximum_size = 4, .keep_alive = 24h});
    ASSERT_EQ(pool.prestart_all_core_threads(), 4U);
    pool.submit([&pool] {
            pool.set_core_size(1);
            pool.set_maximum_size(1);
        })
        .get();
    EXPECT_TRUE(shrinks_to(pool, 1));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_raised_core_size_starts_as_many_workers_as_there_is_queued_work_for) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 10});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    test::gate second_started;
    test::gate third_started;
    pool.execute([&] { second_started.open(), busy.release_gate().wait(); });
    pool.execute([&] { third_started.open(), busy.release_gate().wait(); });
    EXPECT_EQ(pool.pool_size(), 1U);
    pool.set_core_size(8);  // room for seven more workers, but tasks for two
    EXPECT_TRUE(second_started.opens());
    EXPECT_TRUE(third_started.opens());
    EXPECT_LE(pool.pool_size(), 3U);
    EXPECT_GE(pool.pool_size(), 3U);
    busy.release();
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_core_size_raised_from_inside_a_task_starts_a_worker_for_what_the_task_waits_for) {
    test::gate helper_ran;
    bool met = false;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 2});
    pool.submit([&] {
            pool.execute([&] { helper_ran.open(); });
            pool.set_core_size(2);
            met = helper_ran.opens();
        })
        .get();
    EXPECT_TRUE(met);
    EXPECT_EQ(pool.pool_size(), 2U);
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_raised_core_size_without_queued_work_starts_nobody) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 8});
    pool.submit([] {}).get();
    pool.set_core_size(8);
    EXPECT_EQ(pool.pool_size(), 1U);
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, waiting_workers_notice_a_shorter_keep_alive_at_once) {
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 4,
                                      .keep_alive = 24h,
                                      .queue = test::synchronous(),
                                      .rejection = spool::block_policy{}});
    grow_to(pool, 4);
    EXPECT_EQ(pool.pool_size(), 4U);
    pool.set_keep_alive(1ms);
    EXPECT_TRUE(shrinks_to(pool, 1));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, waiting_workers_notice_a_keep_alive_set_from_inside_a_task) {
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 4,
                                      .keep_alive = std::chrono::nanoseconds::max(),
                                      .queue = test::synchronous(),
                                      .rejection = spool::block_policy{}});
    grow_to(pool, 4);
    pool.submit([&pool] { pool.set_keep_alive(1ms); }).get();
    EXPECT_TRUE(shrinks_to(pool, 1));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_keep_alive_of_zero_keeps_no_extra_worker) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 4,
                                      .keep_alive = 0s,
                                      .queue = test::synchronous(),
                                      .rejection = spool::block_policy{}});
    const test::open_at_end guard{busy.release_gate()};
    for (int i = 0; i < 4; ++i) {
        busy.hold(pool);
    }
    ASSERT_TRUE(busy.started());
    busy.release();
    EXPECT_TRUE(shrinks_to(pool, 1));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, core_time_out_switched_on_reaches_workers_that_wait) {
    spool::thread_pool_executor pool({.core_size = 3, .maximum_size = 3, .keep_alive = 1ms});
    ASSERT_EQ(pool.prestart_all_core_threads(), 3U);
    pool.allow_core_threads_to_time_out(true);
    EXPECT_TRUE(shrinks_to(pool, 0));
    EXPECT_EQ(pool.submit([] { return 9; }).get(), 9);
    EXPECT_TRUE(shrinks_to(pool, 0));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, core_time_out_switched_on_inside_a_task_reaches_the_others_and_itself) {
    spool::thread_pool_executor pool({.core_size = 3, .maximum_size = 3, .keep_alive = 1ms});
    ASSERT_EQ(pool.prestart_all_core_threads(), 3U);
    pool.submit([&pool] { pool.allow_core_threads_to_time_out(true); }).get();
    EXPECT_TRUE(shrinks_to(pool, 0));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, core_time_out_switched_off_keeps_the_core_workers) {
    spool::thread_pool_executor pool(
        {.core_size = 2, .maximum_size = 2, .keep_alive = 24h, .core_threads_may_time_out = true});
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    pool.allow_core_threads_to_time_out(false);
    pool.set_keep_alive(1ms);
    pool.submit([] {}).get();
    pool.submit([] {}).get();
    EXPECT_EQ(pool.pool_size(), 2U);
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, extra_idle_workers_leave_after_the_keep_alive_when_the_core_size_is_lowered) {
    spool::thread_pool_executor pool({.core_size = 4, .maximum_size = 4, .keep_alive = 1ms});
    ASSERT_EQ(pool.prestart_all_core_threads(), 4U);
    pool.set_core_size(1);
    EXPECT_TRUE(shrinks_to(pool, 1));
    pool.set_core_size(0);
    EXPECT_TRUE(shrinks_to(pool, 0));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_lowered_core_size_takes_nobody_away_before_the_keep_alive) {
    spool::thread_pool_executor pool({.core_size = 4, .maximum_size = 4, .keep_alive = 24h});
    ASSERT_EQ(pool.prestart_all_core_threads(), 4U);
    pool.set_core_size(1);
    for (int i = 0; i < 8; ++i) {
        pool.submit([] {}).get();
    }
    EXPECT_EQ(pool.pool_size(), 4U);
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_replaced_factory_makes_the_next_worker) {
    test::record<std::string> names;
    spool::thread_pool_executor pool({.name = "swap", .core_size = 2});
    pool.submit([&names] { names.add(test::own_thread_name()); }).get();
    spool::worker_thread_options other_names;
    other_names.name_pattern = "new-{number}";
    pool.set_thread_factory(spool::worker_thread_factory(other_names));
    pool.submit([&names] { names.add(test::own_thread_name()); }).get();
    EXPECT_EQ(names.all(), (std::vector<std::string>{"swap-1", "new-2"}));
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, a_replaced_policy_decides_about_the_next_refusal) {
    test::busy_workers busy;
    std::atomic<int> handled{0};
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::synchronous()});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    EXPECT_THROW(pool.execute([] {}), spool::rejected_execution);
    pool.set_rejection(
        [&](spool::task&&, spool::rejection_reason, spool::thread_pool_executor&) { ++handled; });
    pool.execute([] {});
    EXPECT_EQ(handled, 1);
    busy.release();
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_settings, setters_after_shutdown_are_harmless) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 2});
    pool.close();
    pool.set_core_size(2);
    pool.set_maximum_size(5);
    pool.set_keep_alive(1ms);
    pool.allow_core_threads_to_time_out(true);
    EXPECT_FALSE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_TRUE(pool.is_terminated());
}
