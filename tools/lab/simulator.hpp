// Simulates a pool without threads. The functions of spool/pool/admission.hpp make every decision,
// as in the real pool; the clock, the queue and the workers are simulated.
//
// The simulation ignores the time to start or wake a thread, and other load on the machine. It
// picks an idle worker as the real queues do: for a synchronous queue the worker that became idle
// last, else the worker that has waited longest.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "plan.hpp"
#include "run_record.hpp"
#include "scenario.hpp"

namespace spool::lab {

struct simulation {
    std::size_t cpus = default_parallelism();  ///< for CPU-bound classes
};

/// Runs the scenario's plan to the end of its last task. Deterministic.
[[nodiscard]] run_record simulate(const scenario& what, std::shared_ptr<const std::vector<planned_task>> plan,
                                  const simulation& how = {});
[[nodiscard]] run_record simulate(const scenario& what, const simulation& how = {});

}  // namespace spool::lab
