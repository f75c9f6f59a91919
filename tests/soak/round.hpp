// A round of the soak: random pools, driven from several threads with random operations, and brought to their ends. The seed decides
// everything but how the threads meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plants.hpp"

namespace soak {

struct round_report {
    std::uint64_t seed = 0;
    std::string settings;               // a line per pool
    std::vector<std::string> problems;  // none if all is well
    std::size_t pools = 0;
    std::uint64_t operations = 0;
    std::uint64_t tasks = 0;
};

[[nodiscard]] round_report run_round(std::uint64_t seed, plant planted = plant::none);

/// For people: the seed, the settings and the problems of a round that has failed.
[[nodiscard]] std::string to_string(const round_report& report);

}  // namespace soak
