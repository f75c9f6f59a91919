// Every measurement that this executable can make. Each contender is a source file of its own that adds itself here, so
// one whose package is missing is left out by not being compiled.
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
    std::string label;       // the contender, for people
    bool hands_over;         // each task goes to another thread: the condition for being somebody's "best"
    std::size_t usual_size;  // what `size` is when nobody says otherwise: tasks, trips, timers, a depth
    std::function<figures(std::size_t size)> run;
};

/// In the order of registration.
[[nodiscard]] inline std::vector<measurement>& measurements() {
    static std::vector<measurement> all;
    return all;
}

/// At namespace scope of a contender's source file: `const bench::registration here{[] { ... }};`
struct registration {
    template <class AddAll>
    explicit registration(AddAll add_all) {
        add_all();
    }
};

}  // namespace bench
