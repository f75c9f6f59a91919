// The registry of all measurements of this executable. Each contender registers itself from its own
// source file; a contender whose package is missing is simply not compiled.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pools/support/figures.hpp"

namespace bench {

struct measurement {
    std::string workload;
    std::string contender;
    std::string label;  // the contender's display name
    // Every task goes to another thread. Only such a contender can be the "best" of a table.
    bool hands_over;
    std::size_t usual_size;  // the default `size`: a number of tasks, trips or timers, or a depth
    std::function<figures(std::size_t size)> run;
};

/// Returns all measurements in the order of registration.
[[nodiscard]] inline std::vector<measurement>& measurements() {
    static std::vector<measurement> all;
    return all;
}

/// Calls `add_all` during static initialisation. Define one at namespace scope of a contender's
/// source file: `const bench::registration here{[] { ... }};`
struct registration {
    template <class AddAll>
    explicit registration(AddAll add_all) {
        add_all();
    }
};

}  // namespace bench
