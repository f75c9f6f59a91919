// The plan: every task of a scenario with its arrival and service time, drawn before the run. So a
// real pool and the simulator get exactly the same load, and arrivals never wait for completions.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "scenario.hpp"

namespace spool::lab {

struct planned_task {
    nanoseconds arrival{0};
    nanoseconds service{0};  ///< before any service_factor
    std::uint32_t of_class = 0;
};

/// Returns the tasks in order of arrival. Deterministic for a scenario and its seed.
/// \throws input_error if the tasks together run longer than `longest_duration`
[[nodiscard]] std::vector<planned_task> make_plan(const scenario& s);

/// Returns how many workers the plan keeps busy on average over the scenario, by Little's law:
/// arrivals times service time.
[[nodiscard]] double mean_concurrency(const scenario& s, const std::vector<planned_task>& plan);

}  // namespace spool::lab
