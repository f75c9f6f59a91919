// Growth: does the cost of a task depend on the number of queued tasks or of workers?
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "pools/support/contender.hpp"
#include "pools/workloads/w01_one_producer.hpp"
#include "pools/workloads/w09_memory.hpp"

namespace bench {

/// Posts and drains 10^4, 10^5 ... up to `most` queued tasks with 2 workers. Returns ns per task,
/// the median of several runs where a run is short.
template <class Pool>
figures growth_of_queue(std::size_t most) {
    figures all;
    for (std::size_t tasks = 10'000; tasks <= most; tasks *= 10) {
        std::vector<double> post_ns;
        std::vector<double> drain_ns;
        for (std::size_t i = 0; i < std::clamp<std::size_t>(500'000 / tasks, 1, 21); ++i) {
            const backlog found = fill_and_drain<Pool>(2, tasks, weigh::no);
            post_ns.push_back(found.posting_seconds * 1e9 / static_cast<double>(tasks));
            drain_ns.push_back(found.drain_seconds * 1e9 / static_cast<double>(tasks));
        }
        all.emplace_back("post_ns@" + std::to_string(tasks), percentile(post_ns, 0.5));
        all.emplace_back("drain_ns@" + std::to_string(tasks), percentile(drain_ns, 0.5));
    }
    return all;
}

/// W1 with 1, 2, 4 ... 64 workers; ns per task.
template <class Pool>
figures growth_of_pool(std::size_t tasks) {
    figures all;
    for (std::size_t workers = 1; workers <= 64; workers *= 2) {
        const double rate = w01_one_producer<Pool>(tasks, workers).front().second;
        all.emplace_back("ns_per_task@" + std::to_string(workers), 1e3 / rate);
    }
    return all;
}

}  // namespace bench
