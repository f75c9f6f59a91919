// The plan: every task of a scenario with the time it comes and the time it takes, drawn before anything runs. So a real pool and
// the simulator get exactly the same load, and arrivals never wait for answers.
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

/// In the order of arrival; the same for the same scenario and seed.
/// \throws input_error if the tasks together run longer than `longest_duration`
[[nodiscard]] std::vector<planned_task> make_plan(const scenario& s);

/// How many workers it keeps busy on average over the scenario, by Little's law: arrivals times service time.
[[nodiscard]] double mean_concurrency(const scenario& s, const std::vector<planned_task>& plan);

}  // namespace spool::lab
