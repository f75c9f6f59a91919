// W4: submit and get, one task at a time. W4b: the same with a sleep of 1 ms before each task, so
// that the workers are parked.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <thread>
#include <vector>

#include "pools/support/contender.hpp"
#include "pools/support/process.hpp"

namespace bench {

/// Returns the time of each trip in microseconds. \throws inexact unless each task ran once
template <class Pool>
std::vector<double> round_trips(Pool& pool, std::size_t trips, nanoseconds rest) {
    std::atomic<std::size_t> ran{0};
    std::vector<double> us;
    us.reserve(trips);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < trips; ++i) {
        if (rest > nanoseconds{0}) {
            std::this_thread::sleep_for(rest);
        }
        const auto start = clock::now();
        auto answer = submit_to(pool, [counter = &ran] {
            counter->fetch_add(1);
            return 42;
        });
        sum += static_cast<std::size_t>(answer.get());
        us.push_back(seconds_since(start) * 1e6);
    }
    require_equal(sum, 42 * trips, "sum of the answers");
    require_equal(ran, trips, "tasks that ran");
    return us;
}

template <class Pool>
figures w04_round_trip(std::size_t trips, nanoseconds rest) {
    Pool pool{{.workers = 2}};
    round_trips(pool, rest > nanoseconds{0} ? 10 : trips / 20 + 1, nanoseconds{0});
    const usage before = usage_now();
    std::vector<double> us = round_trips(pool, trips, rest);
    const usage used = usage_now() - before;
    const auto count = static_cast<double>(trips);
    return {{"p50_us", percentile(us, 0.5)},
            {"p99_us", percentile(us, 0.99)},
            {"mean_us", std::accumulate(us.begin(), us.end(), 0.0) / count},
            {"p999_us", percentile(us, 0.999)},
            {"cpu_us_per_trip", used.cpu_seconds * 1e6 / count}};
}

}  // namespace bench
