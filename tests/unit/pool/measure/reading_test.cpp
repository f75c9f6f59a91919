// read() and workers(): counters that only grow, and what each worker does.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "measure_helpers.hpp"
#include "support/gate.hpp"

namespace {

using namespace std::chrono_literals;
using spool::rejection_reason;

spool::uncaught_policy quiet() {
    return [](const spool::worker_info&, const std::exception_ptr&) {};
}
std::uint64_t rejected(const spool::pool_reading& r, rejection_reason why) {
    return r.rejected_by[static_cast<std::size_t>(why)];
}

}  // namespace

TEST(pool_reading, counts_without_measuring_and_leaves_the_histograms_empty) {
    spool::thread_pool_executor pool({.name = "p", .core_size = 2, .maximum_size = 2});
    for (int i = 0; i < 10; ++i) {
        pool.submit([] {}).get();
    }
    EXPECT_TRUE(test::eventually([&] { return pool.read().numbers.completed == 10; }));
    const spool::pool_reading r = pool.read();
    EXPECT_EQ(r.numbers.name, "p");
    EXPECT_EQ(r.started, 10U);
    EXPECT_EQ(r.accepted(), 10U);
    EXPECT_EQ(r.rejection, "abort");
    EXPECT_EQ(r.wait.count(), 0U);
    EXPECT_EQ(r.run.count(), 0U);
    EXPECT_EQ(r.period, 0U);
    EXPECT_TRUE(r.kinds.empty());
}

TEST(pool_reading, counts_rejections_by_reason) {
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 1,
                                      .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(1),
                                      .rejection = spool::discard_policy{}});
    pool.execute([&] { release.wait(); });
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 1; }));
    pool.execute([] {});
    pool.execute([] {});  // full
    pool.execute([] {});  // full
    pool.set_rejection(spool::discard_oldest_policy{});
    pool.execute([] {});  // evicts
    spool::pool_reading r = pool.read();
    EXPECT_EQ(rejected(r, rejection_reason::full), 2U);
    EXPECT_EQ(rejected(r, rejection_reason::evicted), 1U);
    EXPECT_EQ(r.taken_out, 1U) << "the evicted task was accepted before";
    EXPECT_EQ(r.accepted(), 3U);
    release.open();
    pool.close();
    pool.set_rejection(spool::discard_policy{});
    pool.execute([] {});
    r = pool.read();
    EXPECT_EQ(rejected(r, rejection_reason::shut_down), 1U);
    EXPECT_EQ(r.numbers.rejected, 4U);
}

TEST(pool_reading, counts_what_was_taken_out_of_the_queue_again) {
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1});
    pool.execute([&] { release.wait(); });
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 1; }));
    auto removed = pool.submit([] {});
    auto cancelled = pool.submit([] {});
    auto back = pool.submit([] {});
    EXPECT_TRUE(pool.remove(removed));
    EXPECT_EQ(pool.read().taken_out, 1U);
    cancelled.cancel();
    EXPECT_EQ(pool.purge(), 1U);
    EXPECT_EQ(pool.read().taken_out, 2U);
    EXPECT_EQ(pool.shutdown_now().size(), 1U);
    EXPECT_EQ(pool.read().taken_out, 3U);
    EXPECT_EQ(pool.read().accepted(), 4U);
    release.open();
}

TEST(pool_reading, counts_failures_of_tasks_and_of_futures) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .uncaught = quiet()});
    pool.execute([] { throw std::runtime_error("task"); });
    auto bad = pool.submit([] { throw std::runtime_error("future"); });
    auto good = pool.submit([] {});
    good.get();
    EXPECT_THROW(bad.get(), std::runtime_error);
    // A waiter that runs the body itself counts it too.
    pool.submit([&pool] {
            auto inner = pool.submit([] { throw std::runtime_error("nested"); });
            EXPECT_THROW(inner.get(), std::runtime_error);
        })
        .get();
    pool.close();
    EXPECT_EQ(pool.read().failed, 3U);
}

TEST(pool_reading, counts_failures_where_hooks_look_on) {
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 1,
                                      .hooks = std::make_shared<spool::pool_hooks>(),
                                      .uncaught = quiet()});
    pool.execute([] { throw std::runtime_error("task"); });
    pool.execute([] {});
    pool.close();
    EXPECT_EQ(pool.read().failed, 1U);
}

TEST(pool_reading, sums_up_how_long_submitters_waited_for_room) {
    test::gate release;
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .maximum_size = 1,
         .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(1)});
    pool.execute([&] { release.wait(); });
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 1; }));
    pool.execute([] {});
    EXPECT_EQ(pool.read().blocked, 0ns);
    EXPECT_EQ(pool.execute_for([] {}, 20ms), spool::admission_result::timed_out);
    EXPECT_GE(pool.read().blocked, 20ms);
    release.open();
}

// No counter goes down while workers come, go and are counted.
TEST(pool_reading, never_goes_down_while_workers_come_and_go) {
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 4,
                                      .keep_alive = 100us,
                                      .queue = std::make_unique<spool::synchronous_queue<spool::task>>(),
                                      .rejection = spool::caller_runs_policy{},
                                      .measure = spool::measuring::every()});
    std::jthread load{[&](const std::stop_token& done) {
        for (int i = 0; !done.stop_requested(); ++i) {
            pool.execute([] {});
            if (i % 64 == 0) {
                std::this_thread::yield();
            }
        }
    }};
    spool::pool_reading before = pool.read();
    for (int i = 0; i < 3'000; ++i) {
        const spool::pool_reading now = pool.read();
        ASSERT_GE(now.started, before.started);
        ASSERT_GE(now.busy, before.busy);
        ASSERT_GE(now.idle, before.idle);
        ASSERT_GE(now.cpu, before.cpu);
        ASSERT_GE(now.wait.count(), before.wait.count());
        ASSERT_GE(now.run.count(), before.run.count());
        ASSERT_GE(now.run.sum(), before.run.sum());
        before = now;
    }
}

TEST(pool_workers, tell_who_is_busy_with_what) {
    test::gate release;
    spool::thread_pool_executor pool(
        {.name = "w", .core_size = 2, .maximum_size = 2, .measure = spool::measuring::every()});
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    auto held = pool.submit(spool::named("held", [&] { release.wait(); }));
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 1; }));
    const auto find_busy = [&] {
        for (const spool::worker_reading& w : pool.workers()) {
            if (w.busy) {
                return w;
            }
        }
        return spool::worker_reading{};
    };
    EXPECT_EQ(pool.workers().size(), 2U);
    EXPECT_TRUE(test::eventually([&] { return find_busy().kind == "held"; }));
    const spool::worker_reading busy = find_busy();
    EXPECT_EQ(busy.task, held.id());
    EXPECT_EQ(busy.info.pool, "w");
    EXPECT_TRUE(busy.exact_age);
    EXPECT_FALSE(busy.asked_to_stop);
#if defined(__linux__)
    EXPECT_GT(busy.thread, 0);
#endif
    EXPECT_TRUE(test::eventually([&] { return find_busy().for_at_least > busy.for_at_least; }));
    static_cast<void>(pool.shutdown_now());
    EXPECT_TRUE(find_busy().asked_to_stop);
    release.open();
    pool.close();
    EXPECT_TRUE(pool.workers().empty());
}
