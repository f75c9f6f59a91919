// A scenario: what comes, how long it runs, the pool it comes to, and what changes on the way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arrivals.hpp"
#include "service_time.hpp"
#include "settings.hpp"

namespace spool::lab {

/// A refused task comes again, as an impatient client does.
struct retry_rule {
    std::size_t attempts = 1;  ///< in all; 1: it does not come again
    nanoseconds after{0};      ///< after each refusal
};

/// Tasks of one kind.
struct task_class {
    std::string name;
    std::vector<arrival_source> arrivals{};  ///< its own; empty if it has a share of the scenario's
    double share = 0;
    bool cpu = false;  ///< computes; else it waits, as for a disk or another service
    service_time service{};
    nanoseconds deadline{0};  ///< from arrival to answer; 0: none
    retry_rule retry{};
};

/// What becomes different at a given time: settings of the pool, or how long tasks run.
struct change {
    nanoseconds at{0};
    std::optional<std::size_t> core{};
    std::optional<std::size_t> maximum{};
    std::optional<nanoseconds> keep_alive{};
    std::optional<std::size_t> capacity{};
    std::optional<double> service_factor{};  ///< tasks that start from now on run so many times as long
    std::string of_class{};                  ///< whose; empty: all
};

struct scenario {
    std::string name;
    std::string story;
    std::string look_for;
    nanoseconds duration{0};
    std::uint64_t seed = 1;
    settings pool{};
    std::vector<arrival_source> arrivals{};  ///< shared by classes that have none of their own
    std::vector<task_class> classes{};
    std::vector<change> changes{};  ///< by time
    std::string goal{};             ///< what the pool should achieve; empty: nothing is stated

    [[nodiscard]] bool cpu_bound() const;
};

/// \throws input_error, naming file, line and field
[[nodiscard]] scenario read_scenario(const std::string& file);
/// The same from a text; traces lie in `folder`.
[[nodiscard]] scenario parse_scenario(const std::string& name, std::string text, const std::string& folder);

/// The same story in less time: everything that is a duration shrinks, every rate grows.
[[nodiscard]] scenario sped_up(scenario s, double factor);

/// The same for another time: what went on to the end does so still, what would come later is left out.
[[nodiscard]] scenario lasting(scenario s, nanoseconds duration);

/// Refuses a scenario that is too long or too large to hold in memory. \throws input_error
void check_size(const scenario& s);

/// How many times as long as drawn a task of this class runs that starts at `t`.
[[nodiscard]] double service_factor(const scenario& s, std::size_t of_class, nanoseconds t);

}  // namespace spool::lab
