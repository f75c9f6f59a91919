// Recommends settings for a goal, with an explanation in words.
#pragma once

#include <string>
#include <vector>

#include "goal.hpp"
#include "sweep.hpp"

namespace spool::lab {

struct advice {
    trial own;          ///< the scenario's settings
    trial recommended;  ///< the cheapest that meets the goal, else the nearest to the goal
    bool meets_goal = false;
    std::vector<std::string> why;  ///< sentences
};

/// Recommends the cheapest trial that meets the goal: fewest threads at the peak, then the lowest
/// maximum size, then fewest threads on average, then the shortest queue. The trial must also meet
/// the goal with other random draws of the load, so that no lucky draw decides.
[[nodiscard]] advice advise(const scenario& s, const goal& g, const std::vector<trial>& trials,
                            const simulation& how = {});

}  // namespace spool::lab
