// Whether the machine stretched the tasks of a real run: it was busy with something else, so that tasks
// ran longer than the scenario says, and the pool is not to blame.
#pragma once

#include <chrono>
#include <optional>

#include "run_record.hpp"

namespace spool::lab {

/// How long completed tasks ran on average, and how long they should have run.
struct stretch {
    nanoseconds took{0};
    nanoseconds expected{0};

    /// Worth a warning: half as long again, and by more than a wake-up costs.
    [[nodiscard]] bool is_notable() const noexcept {
        return took > expected * 3 / 2 && took - expected > std::chrono::microseconds{100};
    }
};

/// Of the tasks that compute. The simulator says how long they should have run: it lets the pool's own
/// tasks share the CPUs, so only what else the machine does counts. Nothing for a simulated run, and for
/// one without such tasks.
[[nodiscard]] std::optional<stretch> cpu_stretch(const run_record& run);

/// The same for the tasks that wait: a busy machine wakes them late.
[[nodiscard]] std::optional<stretch> blocking_stretch(const run_record& run);

}  // namespace spool::lab
