// The pool without threads, in simulated time. Every decision is made by the functions of spool/pool/admission.hpp, which the real
// pool uses; what is simulated is the clock, the queue and the workers.
//
// What it leaves out: the time to start a thread and to wake one, and everything else that the machine does. Workers that wait are
// taken as the pool's queues take them: from a hand-off queue the last that came, else the one that waits longest.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "plan.hpp"
#include "run_record.hpp"
#include "scenario.hpp"

namespace spool::lab {

struct simulation {
    std::size_t cpus = default_parallelism();  ///< for classes that compute
};

/// Runs the scenario's plan to the end of its last task. Deterministic.
[[nodiscard]] run_record simulate(const scenario& what, std::shared_ptr<const std::vector<planned_task>> plan,
                                  const simulation& how = {});
[[nodiscard]] run_record simulate(const scenario& what, const simulation& how = {});

}  // namespace spool::lab
