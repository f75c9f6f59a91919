// Simulates one scenario with hundreds of settings.
#pragma once

#include <cstddef>
#include <vector>

#include "scenario.hpp"
#include "simulator.hpp"
#include "statistics.hpp"

namespace spool::lab {

struct trial {
    settings with{};
    run_summary figures{};
};

/// How many workers the load could use.
struct demand {
    double mean = 0;  ///< on average over the scenario, by Little's law
    double peak = 0;  ///< at the worst moment, if no task ever waited
};
[[nodiscard]] demand demand_of(const scenario& s);

/// Returns at least 200 settings worth trying: sizes from below the mean demand to its peak, each
/// with queues from none to long. Keep-alive and rejection policy stay the scenario's.
[[nodiscard]] std::vector<settings> candidates(const scenario& s);

/// Simulates each of the settings, on as many threads as there are CPUs. Ignores the scenario's own
/// changes of sizes and capacity. The figures include total times only if `with_totals`, because
/// these take time.
[[nodiscard]] std::vector<trial> sweep(const scenario& s, const std::vector<settings>& all,
                                       const simulation& how = {}, bool with_totals = false);
/// Returns the scenario with these settings, and without its own changes of sizes and capacity.
[[nodiscard]] scenario with_settings(scenario s, const settings& pool);

/// Returns the Pareto frontier: the trials that no other beats in p99 wait, rejections and peak
/// threads at once. Ordered by threads.
[[nodiscard]] std::vector<trial> frontier(const std::vector<trial>& all);

}  // namespace spool::lab
