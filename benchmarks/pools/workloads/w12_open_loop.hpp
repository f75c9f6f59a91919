// W12: posts a task of 5 us CPU every 50 us, regardless of the pool's progress, and measures the
// time until each starts. The producer spins on the clock between posts; in W12s it sleeps.
#pragma once

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pools/support/contender.hpp"
#include "pools/support/cpu_work.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"
#include "pools/workloads/w01_one_producer.hpp"

namespace bench {

enum class producer { spins, sleeps };

inline void wait_until(clock::time_point due, producer how) {
    if (how == producer::sleeps && clock::now() < due) {
        const nanoseconds t = due.time_since_epoch();  // steady_clock is CLOCK_MONOTONIC
        const timespec at{static_cast<time_t>(t.count() / 1'000'000'000),
                          static_cast<long>(t.count() % 1'000'000'000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    }
    while (clock::now() < due) {}
}

struct open_loop {
    explicit open_loop(std::size_t tasks) : start_ns(tasks), posted_ns(tasks) {}

    std::vector<std::atomic<std::int64_t>> start_ns;  // start of each task; 0: not started
    std::vector<std::int64_t> posted_ns;
    std::atomic<std::size_t> doubles{0};
    clock::time_point first;
    double cores_busy = 0;
};

/// Each task captures 24 bytes: the loop, its number, and its post time.
template <class Pool>
void run_open_loop(open_loop& loop, std::size_t tasks, producer how) {
    constexpr std::chrono::microseconds apart{50};
    const auto measure = [&] {
        Pool pool{{.workers = 2}};
        warm_up(pool, 1'000);
        if (how == producer::sleeps) {
            // For the producer only: the workers exist already and keep their timer slack.
            prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        }
        const usage before = usage_now();
        const expected_tasks all{tasks};
        loop.first = clock::now();
        for (std::size_t i = 0; i < tasks; ++i) {
            wait_until(loop.first + i * apart, how);
            const std::int64_t now = (clock::now() - loop.first).count();
            loop.posted_ns[i] = now;
            pool.post([to = &loop, i, now] {
                const std::int64_t started = (clock::now() - to->first).count();
                to->doubles += to->start_ns[i].exchange(std::max(started, now + 1)) == 0 ? 0U : 1U;
                work_for(5 * iterations_per_us);
                tally::add(i);
            });
        }
        all.wait();
        loop.cores_busy = (usage_now() - before).cpu_seconds / all.seconds();
        return all;
    };
    measure().check();
    require_equal(loop.doubles, 0, "tasks that started twice");
}

template <class Pool>
figures w12_open_loop(std::size_t tasks, producer how) {
    open_loop loop{tasks};
    run_open_loop<Pool>(loop, tasks, how);
    std::vector<double> us(tasks);
    std::vector<double> from_due_us(tasks);
    for (std::size_t i = 0; i < tasks; ++i) {
        const auto started = static_cast<double>(loop.start_ns[i]);
        us[i] = (started - static_cast<double>(loop.posted_ns[i])) / 1e3;
        from_due_us[i] = started / 1e3 - 50.0 * static_cast<double>(i);
    }
    return {{"p50_us", percentile(us, 0.5)},
            {"p99_us", percentile(us, 0.99)},
            {"p999_us", percentile(us, 0.999)},
            {"p99_from_due_us", percentile(from_due_us, 0.99)},
            {"cores_busy", loop.cores_busy}};
}

}  // namespace bench
