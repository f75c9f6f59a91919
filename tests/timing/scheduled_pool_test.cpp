// The cost of a scheduled pool: CPU time while its timers are far away, and memory while timers are
// added and cancelled. Also timers in real time.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <spool/spool.hpp>

#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "timing/resident_memory.hpp"

namespace {

using namespace std::chrono_literals;
using test::resident_kilobytes;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;  // a sanitizer runs its own threads and keeps freed memory
#else
constexpr bool sanitized = false;
#endif

std::chrono::microseconds cpu_time() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& t) {
        return std::chrono::seconds{t.tv_sec} + std::chrono::microseconds{t.tv_usec};
    };
    return of(used.ru_utime) + of(used.ru_stime);
}

TEST(scheduled_cpu_time, with_timers_an_hour_away_is_next_to_nothing) {
    spool::scheduled_thread_pool_executor kept({.core_size = 2});
    spool::scheduled_thread_pool_executor none({.core_size = 0, .keep_alive = 1ms});
    spool::scheduled_thread_pool_executor coming(
        {.core_size = 1, .keep_alive = 1ms, .core_threads_may_time_out = true});
    std::vector<spool::scheduled_future<void>> timers;
    for (auto* pool : {&kept, &none, &coming}) {
        timers.push_back(pool->schedule([] {}, 1h));
        timers.push_back(pool->schedule_at_fixed_rate([] {}, 1h, 1h));
    }
    std::this_thread::sleep_for(50ms);  // until the workers sleep
    const auto before = cpu_time();
    std::this_thread::sleep_for(400ms);
    const auto used = cpu_time() - before;
    if (!sanitized) {
        EXPECT_LT(used, 2ms);
    }
    EXPECT_EQ(none.pool_size(), 1U) << "somebody has to wait for it";
}

TEST(scheduled_memory, half_a_million_timers_inserted_cancelled_and_inserted_again_leave_nothing_behind) {
    const int count = sanitized ? 20'000 : 120'000;
    spool::scheduled_thread_pool_executor pool({.core_size = 1});
    const auto cycle = [&] {
        for (int i = 0; i < count; ++i) {
            pool.schedule([i] { static_cast<void>(i); }, std::chrono::milliseconds{3'600'000 + i}).cancel();
        }
    };
    cycle();
    const long before = resident_kilobytes();
    for (int round = 0; round < 3; ++round) {
        cycle();
    }
    EXPECT_EQ(pool.queue().size(), 0U);
    if (!sanitized) {
        EXPECT_LT(resident_kilobytes() - before, 1024);
    }
}

TEST(scheduled_memory, of_many_timers_is_reused_by_the_same_number_of_later_timers) {
    const int count = sanitized ? 10'000 : 100'000;
    spool::scheduled_thread_pool_executor pool({.core_size = 1});
    std::vector<spool::scheduled_future<void>> timers(static_cast<std::size_t>(count));
    const auto cycle = [&] {
        for (int i = 0; i < count; ++i) {
            timers[static_cast<std::size_t>(i)] =
                pool.schedule([] {}, std::chrono::milliseconds{3'600'000 + i * 7});
        }
        const long full = resident_kilobytes();
        for (auto& t : timers) {
            t.cancel();
            t = {};
        }
        return full;
    };
    const long first = cycle();
    cycle();
    const long third = cycle();
    EXPECT_EQ(pool.queue().size(), 0U);
    if (!sanitized) {
        EXPECT_LT(third - first, 1024);
    }
}

TEST(scheduled_real_time, a_timer_runs_at_its_due_time_and_not_before) {
    spool::scheduled_thread_pool_executor pool({.core_size = 1});
    for (const auto delay : {1ms, 7ms, 40ms}) {
        const auto start = std::chrono::steady_clock::now();
        const auto ran = pool.schedule([] { return std::chrono::steady_clock::now(); }, delay).get();
        EXPECT_GE(ran - start, delay);
        EXPECT_LT(ran - start, delay + test::medium_delay());
    }
}

TEST(scheduled_real_time, a_task_for_a_time_of_day_runs_then_and_not_before) {
    spool::scheduled_thread_pool_executor pool({.core_size = 1});
    const auto when = std::chrono::system_clock::now() + 30ms;
    const auto ran = pool.schedule_at([] { return std::chrono::system_clock::now(); }, when).get();
    EXPECT_GE(ran, when);
    EXPECT_LT(ran, when + test::medium_delay());
}

TEST(scheduled_real_time, equal_times_of_day_run_in_the_order_of_submission) {
    spool::scheduled_thread_pool_executor pool({.core_size = 1});
    const auto when = std::chrono::system_clock::now() + 30ms;
    std::vector<int> ran;
    std::vector<int> expected;
    std::vector<spool::scheduled_future<void>> timers;
    for (int i = 0; i < 2000; ++i) {
        timers.push_back(pool.schedule_at([&ran, i] { ran.push_back(i); }, when));
        expected.push_back(i);
    }
    for (const auto& t : timers) {
        t.get();
    }
    EXPECT_EQ(ran, expected);
}

}  // namespace
