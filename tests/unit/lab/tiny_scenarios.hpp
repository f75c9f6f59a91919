// Scenarios small enough to follow by hand.
#pragma once

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "plan.hpp"
#include "scenario.hpp"
#include "simulator.hpp"

namespace test {

using namespace std::chrono_literals;
using spool::lab::nanoseconds;
using spool::lab::planned_task;
using spool::lab::queue_kind;
using spool::lab::refusal;
using spool::lab::run_record;
using spool::lab::scenario;
using spool::lab::settings;

/// A scenario with one class of tasks that do not compute. The test supplies the plan.
inline scenario with_pool(settings pool, nanoseconds duration = 1s) {
    scenario s;
    s.name = "tiny";
    s.duration = duration;
    s.pool = pool;
    s.classes = {{.name = "task"}};
    return s;
}

inline settings sizes(std::size_t core, std::size_t maximum, std::size_t places) {
    return {.core = core,
            .maximum = maximum,
            .keep_alive = 100ms,
            .queue = places == 0 ? queue_kind::synchronous : queue_kind::array,
            .capacity = places};
}

/// `n` tasks of this length, one every `gap`.
inline std::vector<planned_task> tasks(std::size_t n, nanoseconds gap, nanoseconds service) {
    std::vector<planned_task> plan;
    for (std::size_t i = 0; i < n; ++i) {
        plan.push_back({.arrival = gap * static_cast<nanoseconds::rep>(i), .service = service});
    }
    return plan;
}

inline run_record simulated(const scenario& s, std::vector<planned_task> plan, std::size_t cpus = 2) {
    return spool::lab::simulate(s, std::make_shared<const std::vector<planned_task>>(std::move(plan)),
                                {.cpus = cpus});
}

/// The number of workers at this time.
inline std::size_t workers_at(const run_record& run, nanoseconds t) {
    std::size_t workers = 0;
    for (const spool::lab::sample& s : run.samples) {
        if (s.at <= t) {
            workers = s.workers;
        }
    }
    return workers;
}

}  // namespace test
