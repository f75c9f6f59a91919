// Registers the fork-join workload for a contender.
#pragma once

#include <cstddef>
#include <string>

#include "pools/support/registry.hpp"
#include "pools/workloads/w05_fork_join.hpp"

namespace bench {

template <class ForkJoin>
void add_fork_join(const std::string& contender, const std::string& label) {
    // `hands_over` is true for every contender: in fork-join the forking thread is meant to run
    // tasks itself.
    measurements().push_back(
        {"W5", contender, label, true, 30, [](std::size_t n) { return w05_fork_join<ForkJoin>(n); }});
}

}  // namespace bench
