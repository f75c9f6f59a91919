// W10: the cost of a pool that has worked and is now idle. The size is the idle time in ms.
#pragma once

#include <chrono>
#include <cstddef>
#include <thread>

#include "pools/support/contender.hpp"
#include "pools/support/process.hpp"
#include "pools/workloads/w01_one_producer.hpp"
#include "pools/workloads/w04_round_trip.hpp"

namespace bench {

template <class Pool>
figures w10_idle(std::size_t rest_ms) {
    Pool pool{{.workers = 2}};
    if constexpr (Pool::about.queues) {
        warm_up(pool, 100'000);
    } else {
        round_trips(pool, 10'000, nanoseconds{0});
    }
    const usage before = usage_now();
    std::this_thread::sleep_for(std::chrono::milliseconds{rest_ms});
    const usage used = usage_now() - before;
    return {{"cpu_ms", used.cpu_seconds * 1e3}, {"context_switches", used.context_switches}};
}

}  // namespace bench
