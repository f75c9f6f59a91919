// Hundreds of settings tried on one scenario, in simulated time.
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
    double peak = 0;  ///< at the worst moment, if nobody ever had to wait
};
[[nodiscard]] demand demand_of(const scenario& s);

/// Settings worth trying: sizes between less than the mean demand and its peak, each with queues from none to long. At
/// least 200. The keep-alive and the rejection policy stay the scenario's.
[[nodiscard]] std::vector<settings> candidates(const scenario& s);

/// Each of them, on as many threads as there are CPUs. What the scenario changes of the sizes on the way is left out.
/// The figures have total times only if they are wanted: they cost time.
[[nodiscard]] std::vector<trial> sweep(const scenario& s, const std::vector<settings>& all,
                                       const simulation& how = {}, bool with_totals = false);
/// The scenario with these settings from beginning to end.
[[nodiscard]] scenario with_settings(scenario s, const settings& pool);

/// Those that no other beats in p99 wait, rejections and threads at once; by threads.
[[nodiscard]] std::vector<trial> frontier(const std::vector<trial>& all);

}  // namespace spool::lab
