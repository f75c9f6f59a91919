// Which settings to take for a goal, and why, in words.
#pragma once

#include <string>
#include <vector>

#include "goal.hpp"
#include "sweep.hpp"

namespace spool::lab {

struct advice {
    trial own;          ///< the scenario's settings
    trial recommended;  ///< the cheapest that meets the goal, or the nearest to it
    bool meets_goal = false;
    std::vector<std::string> why;  ///< sentences
};

/// The cheapest is the one with the fewest threads at its peak, then on average, then the shortest queue. It must meet the goal with
/// other random arrivals too, so that no lucky draw decides.
[[nodiscard]] advice advise(const scenario& s, const goal& g, const std::vector<trial>& trials,
                            const simulation& how = {});

}  // namespace spool::lab
