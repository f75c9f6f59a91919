// W8: a burst of tasks that each sleep 20 ms. Cold: on a new pool, including its construction.
// Warm: on the same pool again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "pools/support/contender.hpp"
#include "pools/support/latches.hpp"

namespace bench {

/// Posts the tasks and waits for them. \throws inexact unless each task ran once
template <class Pool>
void burst(Pool& pool, std::size_t tasks) {
    countdown all_done;
    all_done.reset(tasks);
    std::vector<std::atomic<int>> times_run(tasks);
    for (std::atomic<int>& times : times_run) {
        pool.post([latch = &all_done, counter = &times] {
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
            ++*counter;
            latch->arrive();
        });
    }
    all_done.wait();
    for (const std::atomic<int>& times : times_run) {
        require_equal(static_cast<std::size_t>(times), 1, "runs of one task");
    }
}

/// Returns the medians of five bursts.
template <class Pool>
figures w08_burst(std::size_t tasks) {
    std::vector<double> cold_ms;
    std::vector<double> warm_ms;
    for (int i = 0; i < 5; ++i) {
        const auto start = clock::now();
        Pool pool{{.workers = tasks, .may_grow = true}};
        burst(pool, tasks);
        cold_ms.push_back(seconds_since(start) * 1e3);
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        const auto again = clock::now();
        burst(pool, tasks);
        warm_ms.push_back(seconds_since(again) * 1e3);
    }
    return {{"cold_ms", percentile(cold_ms, 0.5)}, {"warm_ms", percentile(warm_ms, 0.5)}};
}

}  // namespace bench
