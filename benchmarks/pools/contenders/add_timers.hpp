// Registers the timer workloads for a contender.
#pragma once

#include <string>

#include "pools/support/registry.hpp"
#include "pools/workloads/w11_timers.hpp"

namespace bench {

template <class Timers>
void add_timers(const std::string& contender, const std::string& label) {
    measurements().push_back({"W11", contender, label, true, 1'000'000,
                              [](std::size_t n) { return w11_insert_cancel<Timers>(n); }});
    measurements().push_back(
        {"W11a", contender, label, true, 10'000, [](std::size_t n) { return w11_accuracy<Timers>(n); }});
}

}  // namespace bench
