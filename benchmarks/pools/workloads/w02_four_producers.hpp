// W2: four outside threads, released together, post a quarter of the tasks each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <latch>
#include <thread>
#include <vector>

#include "pools/support/contender.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"
#include "pools/workloads/w01_one_producer.hpp"

namespace bench {

template <class Pool>
figures w02_four_producers(std::size_t tasks) {
    constexpr std::size_t producers = 4;
    const std::size_t each = tasks / producers;
    double seconds = 0;
    usage used;
    const auto measure = [&] {
        Pool pool{{.workers = 2}};
        warm_up(pool, std::min<std::size_t>(tasks, 50'000));
        std::latch ready{producers + 1};
        std::vector<std::jthread> threads;
        for (std::size_t p = 0; p < producers; ++p) {
            threads.emplace_back([&, first = p * each] {
                ready.arrive_and_wait();
                for (std::size_t i = first; i < first + each; ++i) {
                    pool.post(bump{i});
                }
            });
        }
        const usage before = usage_now();
        const expected_tasks all{each * producers};  // before a task can run
        ready.arrive_and_wait();
        all.wait();
        seconds = all.seconds();
        used = usage_now() - before;
        return all;
    };
    measure().check();
    const auto count = static_cast<double>(each * producers);
    return {{"Mtasks_s", count / seconds / 1e6},
            {"cpu_ns_per_task", used.cpu_seconds * 1e9 / count},
            {"context_switches", used.context_switches}};
}

}  // namespace bench
