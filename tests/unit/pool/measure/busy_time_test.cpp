// Busy and idle time: exact without any clock read per task.
#include <chrono>

#include <gtest/gtest.h>

#include "measure_helpers.hpp"
#include "support/gate.hpp"

using namespace std::chrono_literals;

TEST(pool_busy_time, grows_while_a_task_runs_and_idle_time_while_none_does) {
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1});
    pool.execute([&] { release.wait(); });
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 1; }));
    const spool::pool_reading a = pool.read();
    EXPECT_TRUE(test::eventually([&] { return pool.read().busy > a.busy + 1ms; }));
    EXPECT_EQ(pool.read().idle, a.idle);
    release.open();
    EXPECT_TRUE(test::eventually([&] { return pool.read().idle > a.idle; }));
    const spool::pool_reading b = pool.read();
    EXPECT_TRUE(test::eventually([&] { return pool.read().idle > b.idle + 1ms; }));
    EXPECT_EQ(pool.read().busy, b.busy);
}

TEST(pool_busy_time, of_workers_that_left_stays_in_the_sum) {
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .measure = spool::measuring::every()});
    pool.submit([] { test::compute_for(5ms); }).get();
    pool.close();
    const spool::pool_reading r = pool.read();
    EXPECT_EQ(r.numbers.pool_size, 0U);
    EXPECT_GE(r.busy, 5ms);
    EXPECT_EQ(r.run.count(), 1U);
    EXPECT_GE(r.run.sum(), 5ms);
#if defined(__linux__)
    EXPECT_GT(r.cpu, 0ns);  // how much depends on what else runs
#endif
}
