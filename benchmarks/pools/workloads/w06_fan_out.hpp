// W6: rounds of a thousand tasks of 1 us CPU. The producer waits for each round on a latch.
#pragma once

#include <cstddef>

#include "pools/support/contender.hpp"
#include "pools/support/cpu_work.hpp"
#include "pools/support/latches.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"

namespace bench {

inline constexpr std::size_t fan_width = 1000;

template <class Pool>
void fan_out(Pool& pool, std::size_t rounds) {
    countdown all_done;
    for (std::size_t round = 0; round < rounds; ++round) {
        all_done.reset(fan_width);
        for (std::size_t i = 0; i < fan_width; ++i) {
            pool.post([latch = &all_done, number = round * fan_width + i] {
                work_for(iterations_per_us);
                tally::add(number);
                latch->arrive();
            });
        }
        finish(pool);
        all_done.wait();
    }
}

template <class Pool>
figures w06_fan_out(std::size_t rounds) {
    const double iteration_ns = ns_per_iteration();
    double seconds = 0;
    usage used;
    const auto measure = [&] {
        Pool pool{{.workers = 2}};
        fan_out(pool, rounds / 20 + 1);
        const expected_tasks all{rounds * fan_width};
        const usage before = usage_now();
        fan_out(pool, rounds);
        seconds = all.seconds();
        used = usage_now() - before;
        return all;
    };
    measure().check();
    const double cpu_seconds =
        static_cast<double>(rounds * fan_width * iterations_per_us) * iteration_ns / 1e9;
    return {{"time_per_ideal", seconds / (cpu_seconds / 2)},
            {"ms", seconds * 1e3},
            {"cpu_per_ideal", used.cpu_seconds / cpu_seconds}};
}

}  // namespace bench
