// Registers the loop workloads for a contender, as far as it can run them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pools/support/registry.hpp"
#include "pools/workloads/p_loops.hpp"

namespace bench {

template <class Loops>
void add_loops(const std::string& contender, const std::string& label) {
    // `hands_over` is true for every contender: in a loop the caller is meant to take part.
    const auto add = [&](const char* workload, std::size_t milliseconds, auto run) {
        measurements().push_back({workload, contender, label, true, milliseconds, run});
    };
    if constexpr (requires(Loops & l) { l.region(std::size_t{1}); }) {
        add("P1", 100, [](std::size_t ms) { return p01_regions<Loops>(ms, false); });
        add("P1w", 100, [](std::size_t ms) { return p01_regions<Loops>(ms, true); });
    }
    if constexpr (requires(Loops & l) { l.for_blocks(std::size_t{1}, [](std::size_t, std::size_t) {}); }) {
        add("P2", 100, [](std::size_t ms) { return p02_axpy<Loops>(ms); });
        add("P3", 200, [](std::size_t ms) { return p03_uneven<Loops>(ms); });
        if constexpr (requires(Loops & l) { l.in([] {}); }) {
            add("P6", 200, [](std::size_t ms) { return p06_nested<Loops>(ms); });
        }
    }
    if constexpr (requires(Loops & l, const float* p) { l.reduce(p, std::size_t{1}); }) {
        add("P4", 200, [](std::size_t ms) { return p04_reduce<Loops>(ms); });
    }
    if constexpr (requires(Loops & l, std::vector<int> & v) { l.sort(v); }) {
        add("P5", 100, [](std::size_t ms) { return p05_sort<Loops>(ms, false); });
    }
    if constexpr (requires(Loops & l, std::vector<int> & v) { l.stable_sort(v); }) {
        add("P5s", 100, [](std::size_t ms) { return p05_sort<Loops>(ms, true); });
    }
}

}  // namespace bench
