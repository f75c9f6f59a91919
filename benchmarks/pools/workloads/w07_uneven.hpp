// W7: tasks whose CPU time is exponentially distributed with a mean of 10 us, one producer.
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "pools/support/contender.hpp"
#include "pools/support/cpu_work.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"
#include "pools/workloads/w01_one_producer.hpp"

namespace bench {

/// Returns task lengths in iterations; the same sequence for every contender.
[[nodiscard]] inline std::vector<std::uint32_t> uneven_lengths(std::size_t tasks) {
    std::uint64_t x = 88172645463325252U;
    std::vector<std::uint32_t> lengths(tasks);
    for (std::uint32_t& length : lengths) {
        x ^= x << 13;  // xorshift64
        x ^= x >> 7;
        x ^= x << 17;
        const double uniform = (static_cast<double>(x >> 11) + 0.5) / 9007199254740992.0;  // 2^53
        length = static_cast<std::uint32_t>(-std::log(uniform) * 10 * iterations_per_us);
    }
    return lengths;
}

template <class Pool>
figures w07_uneven(std::size_t tasks) {
    const double iteration_ns = ns_per_iteration();
    const std::vector<std::uint32_t> lengths = uneven_lengths(tasks);
    std::vector<std::atomic<std::uint8_t>> times_run(tasks);
    double seconds = 0;
    usage used;
    const auto measure = [&] {
        Pool pool{{.workers = 2}};
        warm_up(pool, 10'000);
        const usage before = usage_now();
        const expected_tasks all{tasks};
        for (std::size_t i = 0; i < tasks; ++i) {
            pool.post([&lengths, &times_run, i] {
                work_for(lengths[i]);
                ++times_run[i];
                tally::add(i);
            });
        }
        finish(pool);
        all.wait();
        seconds = all.seconds();
        used = usage_now() - before;
        return all;
    };
    measure().check();
    for (const auto& times : times_run) {
        require_equal(times, 1, "runs of one task");
    }
    const double cpu_seconds = std::accumulate(lengths.begin(), lengths.end(), 0.0) * iteration_ns / 1e9;
    return {{"time_per_ideal", seconds / (cpu_seconds / 2)},
            {"ms", seconds * 1e3},
            {"cpu_per_ideal", used.cpu_seconds / cpu_seconds}};
}

}  // namespace bench
