// W9: the memory of a queued task. A gate holds the workers while the producer posts tasks that
// capture 24 bytes.
#pragma once

#include <malloc.h>
#include <sys/prctl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>

#include "pools/support/contender.hpp"
#include "pools/support/latches.hpp"
#include "pools/support/process.hpp"
#include "pools/support/tally.hpp"
#include "pools/workloads/w01_one_producer.hpp"

namespace bench {

struct backlog {
    double posting_seconds = 0;
    double drain_seconds = 0;
    double bytes_before = 0;
    double bytes_full = 0;
    double bytes_drained = 0;
    double bytes_trimmed = 0;
};

enum class weigh { yes, no };

/// Queues `tasks` tasks behind a gate, opens it and waits until all have run. The drain time starts
/// when the first worker leaves the gate: the wake-up of that worker is not the pool's cost.
/// \throws inexact unless each task ran once
template <class Pool>
backlog fill_and_drain(std::size_t workers, std::size_t tasks, weigh memory) {
    backlog found;
    const auto measure = [&] {
        gate held;
        Pool pool{{.workers = workers}};
        warm_up(pool, 1'000);
        // For the waiting thread only: the workers exist already and keep their timer slack.
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
        for (std::size_t i = 0; i < workers; ++i) {
            pool.post([&held] { held.pass(); });
        }
        held.await_waiting(workers);
        found.bytes_before = resident_bytes();
        const expected_tasks all{tasks};
        for (std::size_t i = 0; i < tasks; ++i) {
            pool.post(
                [i, padding = std::array<std::size_t, 2>{i, i}] { tally::add(i + padding[0] - padding[1]); });
        }
        found.posting_seconds = all.seconds();
        found.bytes_full = resident_bytes();
        held.open();
        all.wait();
        found.drain_seconds = seconds_since(held.first_out());
        if (memory == weigh::yes) {
            std::this_thread::sleep_for(std::chrono::milliseconds{100});
            found.bytes_drained = resident_bytes();
            malloc_trim(0);
            found.bytes_trimmed = resident_bytes();
        }
        return all;
    };
    measure().check();
    return found;
}

template <class Pool>
figures w09_memory(std::size_t tasks) {
    const backlog found = fill_and_drain<Pool>(2, tasks, weigh::yes);
    const auto count = static_cast<double>(tasks);
    return {{"bytes_per_task", (found.bytes_full - found.bytes_before) / count},
            {"ns_per_post", found.posting_seconds * 1e9 / count},
            {"drain_ns_per_task", found.drain_seconds * 1e9 / count},
            {"before_MB", found.bytes_before / 1e6},
            {"drained_MB", found.bytes_drained / 1e6},
            {"trimmed_MB", found.bytes_trimmed / 1e6}};
}

}  // namespace bench
