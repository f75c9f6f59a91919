// A scenario: the arriving tasks, their service times, the pool, and changes during the run.
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

/// Retries of a rejected task, as an impatient client makes them.
struct retry_rule {
    std::size_t attempts = 1;  ///< in total; 1: no retry
    nanoseconds after{0};      ///< pause after each rejection
};

/// A class of tasks.
struct task_class {
    std::string name;
    std::vector<arrival_source> arrivals{};  ///< its own; empty: a share of the scenario's
    double share = 0;
    bool cpu = false;  ///< computes; else it blocks, as on a disk or another service
    service_time service{};
    nanoseconds deadline{0};  ///< from the arrival to the end; 0: none
    retry_rule retry{};
};

/// A change at a given time: of the pool's settings, or of how long tasks run.
struct change {
    nanoseconds at{0};
    std::optional<std::size_t> core{};
    std::optional<std::size_t> maximum{};
    std::optional<nanoseconds> keep_alive{};
    std::optional<std::size_t> capacity{};
    std::optional<double> service_factor{};  ///< scales the service time of tasks that start later
    std::string of_class{};                  ///< whose service_factor; empty: all classes
};

struct scenario {
    std::string name;
    std::string story;
    std::string look_for;
    nanoseconds duration{0};
    std::uint64_t seed = 1;
    settings pool{};
    std::vector<arrival_source> arrivals{};  ///< shared by the classes without their own
    std::vector<task_class> classes{};
    std::vector<change> changes{};  ///< ordered by time
    std::string goal{};             ///< what the pool should achieve; empty: no goal

    [[nodiscard]] bool cpu_bound() const;
};

/// Reads a scenario. \throws input_error that names file, line and field
[[nodiscard]] scenario read_scenario(const std::string& file);
/// The same from a text; `folder` is the folder of trace files.
[[nodiscard]] scenario parse_scenario(const std::string& name, std::string text, const std::string& folder);

/// Returns the same scenario compressed in time: divides every duration and multiplies every rate.
[[nodiscard]] scenario sped_up(scenario s, double factor);

/// Returns the scenario with another duration. Sources that lasted to the end still do; the
/// others are cut off at the new end, or removed if they begin after it.
[[nodiscard]] scenario lasting(scenario s, nanoseconds duration);

/// Rejects a scenario that is too long or too large for memory. \throws input_error
void check_size(const scenario& s);

/// Returns the factor on the drawn service time for a task of this class that starts at `t`.
[[nodiscard]] double service_factor(const scenario& s, std::size_t of_class, nanoseconds t);

}  // namespace spool::lab
