// The cost of spinning: CPU time of idle workers for each setting. Also, a pool that spins loses no
// wake-up.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

#include "support/eventually.hpp"
#include "support/others_sleep.hpp"

namespace {

using namespace std::chrono_literals;
using spool::idle_spin;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
// A sanitizer's own threads use CPU time, and everything takes longer.
constexpr bool has_helpers = true;
#else
constexpr bool has_helpers = false;
#endif

std::chrono::nanoseconds time_on(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

// CPU time of the whole process while this thread sleeps.
std::chrono::nanoseconds cpu_time_of(std::chrono::milliseconds rest) {
    const auto before = time_on(CLOCK_PROCESS_CPUTIME_ID);
    std::this_thread::sleep_for(rest);
    return time_on(CLOCK_PROCESS_CPUTIME_ID) - before;
}

void run_one(spool::thread_pool_executor& pool) {
    std::atomic<bool> ran{false};
    pool.execute([&] { ran = true; });
    ASSERT_TRUE(test::eventually([&] { return ran.load(); }));
}

class spinning_pool : public testing::TestWithParam<idle_spin> {};
INSTANTIATE_TEST_SUITE_P(settings, spinning_pool,
                         testing::Values(idle_spin::off(), idle_spin::adaptive(), idle_spin::low_latency()),
                         [](const auto& i) {
                             return i.param.is_adaptive()      ? "adaptive"
                                    : i.param.is_low_latency() ? "low_latency"
                                                               : "off";
                         });

TEST_P(spinning_pool, at_rest_uses_well_under_a_millisecond_of_cpu_time_in_a_second) {
    spool::thread_pool_executor pool({.core_size = 4, .maximum_size = 4, .idle_spin = GetParam()});
    pool.prestart_all_core_threads();
    for (int i = 0; i < 100; ++i) {  // close together, so spinning is worthwhile
        run_one(pool);
    }
    std::this_thread::sleep_for(100ms);
    const auto used = cpu_time_of(1s);
    if (!has_helpers) {
        EXPECT_LT(used, 1ms);
    }
}

constexpr int tasks_far_apart = 300;

// Each task comes two milliseconds after the previous one, so the only worker runs out of work each
// time.
std::chrono::nanoseconds cpu_time_of_tasks_far_apart(idle_spin how) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .idle_spin = how});
    const auto run_some = [&](int n) {
        for (int i = 0; i < n; ++i) {
            pool.execute([&] { ++ran; });
            std::this_thread::sleep_for(2ms);
        }
    };
    run_some(10);  // the adaptive setting learns
    const auto before = time_on(CLOCK_PROCESS_CPUTIME_ID);
    run_some(tasks_far_apart);
    return time_on(CLOCK_PROCESS_CPUTIME_ID) - before;
}

TEST(spinning_setting, adaptive_and_low_latency_stop_spinning_when_tasks_come_far_apart) {
    const auto adaptive = cpu_time_of_tasks_far_apart(idle_spin::adaptive());
    const auto off = cpu_time_of_tasks_far_apart(idle_spin::off());
    const auto low_latency = cpu_time_of_tasks_far_apart(idle_spin::low_latency());
    RecordProperty("adaptive_microseconds", std::to_string(adaptive / 1us));
    RecordProperty("off_microseconds", std::to_string(off / 1us));
    if (!has_helpers) {
        EXPECT_LT(adaptive, off + tasks_far_apart * spool::spin_budget / 2);
        EXPECT_LT(low_latency, off + tasks_far_apart * spool::spin_budget / 2);
    }
}

constexpr int tasks_near = 3000;

// Each task comes some 30 us after the previous one, so the only worker runs out of work each time.
std::chrono::nanoseconds cpu_time_of_tasks_near(idle_spin how) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .idle_spin = how});
    pool.prestart_all_core_threads();  // before this thread's timers become precise
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    const auto before = time_on(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < tasks_near; ++i) {
        pool.execute([&] { ++ran; });
        std::this_thread::sleep_for(25us);
    }
    const auto used = time_on(CLOCK_PROCESS_CPUTIME_ID) - before;
    prctl(PR_SET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);  // back to the default
    return used;
}

TEST(spinning_setting, adaptive_spins_no_longer_than_a_sleep_and_a_wake_cost) {
    const auto adaptive = cpu_time_of_tasks_near(idle_spin::adaptive());
    const auto off = cpu_time_of_tasks_near(idle_spin::off());
    const auto low_latency = cpu_time_of_tasks_near(idle_spin::low_latency());
    RecordProperty("adaptive_microseconds", std::to_string(adaptive / 1us));
    RecordProperty("off_microseconds", std::to_string(off / 1us));
    RecordProperty("low_latency_microseconds", std::to_string(low_latency / 1us));
    if (!has_helpers) {
        EXPECT_LT(adaptive, off + tasks_near * spool::break_even);
    }
}

// A taker waits at a linked queue, which frees memory 50 ms later. Returns whether the taker sleeps
// soon after that. Before, it may spin for nearly all of these 50 ms.
bool sleeps_after_tidying_up() {
    spool::linked_blocking_queue<int> queue;
    for (int i = 0; i < 100000; ++i) {
        queue.put(int{i});
    }
    while (queue.poll().has_value()) {}
    std::stop_source enough;
    std::promise<std::pair<pid_t, std::chrono::steady_clock::time_point>> begins;
    const std::jthread taker{[&] {
        std::optional<int> x;
        begins.set_value({gettid(), std::chrono::steady_clock::now()});
        static_cast<void>(queue.pop_until(x, {.stop = enough.get_token(), .spin = 49ms}));
    }};
    const auto [id, begin] = begins.get_future().get();
    bool sleeps = false;
    std::this_thread::sleep_until(begin + 55ms);
    while (!sleeps && std::chrono::steady_clock::now() < begin + 90ms) {
        sleeps = test::is_asleep(std::to_string(id));
    }
    enough.request_stop();
    return sleeps;
}

// Repeats the attempt, because on a busy machine the taker may get no CPU to fall asleep. A taker
// that spins a second time never sleeps in time.
TEST(spinning_setting, taker_spins_once_though_its_queue_tidies_up_meanwhile) {
    EXPECT_TRUE(test::eventually(sleeps_after_tidying_up));
}

TEST(spinning_setting, longest_spin_ends_with_the_pool) {
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .idle_spin = idle_spin::always(std::chrono::hours::max())});
    run_one(pool);
    pool.shutdown();
    EXPECT_TRUE(pool.await_termination(test::long_delay()));
}

// Two tasks that wait for each other, submitted while one worker spins and the other sleeps or
// spins. Both must get a worker.
TEST(spinning_setting, tasks_that_need_each_other_both_run_with_any_spinning_worker) {
    for (const idle_spin how : {idle_spin::off(), idle_spin::adaptive(), idle_spin::low_latency(),
                                idle_spin::always(50us), idle_spin::always(5ms)}) {
        spool::thread_pool_executor pool({.core_size = 2, .maximum_size = 2, .idle_spin = how});
        pool.prestart_all_core_threads();
        for (int round = 0; round < 2000; ++round) {
            std::atomic<int> here{0};
            std::atomic<int> gone{0};
            std::atomic<bool> given_up{false};
            const auto meet = [&] {
                ++here;
                while (here < 2 && !given_up) {
                    std::this_thread::yield();
                }
                ++gone;
            };
            if (round % 2 == 0) {
                std::vector<spool::task> two;
                two.emplace_back(meet);
                two.emplace_back(meet);
                pool.execute_all(two);
            } else {
                pool.execute(meet);
                pool.execute(meet);
            }
            const bool met = test::eventually([&] { return gone == 2; });
            given_up = true;
            ASSERT_TRUE(test::eventually([&] { return gone == 2; }));
            ASSERT_TRUE(met) << "round " << round;
        }
    }
}

}  // namespace
