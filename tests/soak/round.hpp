// A round of the soak: several threads drive random pools with random operations, and then the
// pools end. The seed determines everything but how the threads interleave.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plants.hpp"

namespace soak {

struct round_report {
    std::uint64_t seed = 0;
    std::string settings;               // one line per pool
    std::vector<std::string> problems;  // empty if there is none
    std::size_t pools = 0;
    std::uint64_t operations = 0;
    std::uint64_t tasks = 0;
};

[[nodiscard]] round_report run_round(std::uint64_t seed, plant planted = plant::none);

/// A readable report of a failed round: the seed, the settings and the problems.
[[nodiscard]] std::string to_string(const round_report& report);

}  // namespace soak
