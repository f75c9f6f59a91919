// Detects whether other load on the machine stretched the tasks of a real run: they ran longer than
// the scenario says, and the pool is not the cause.
#pragma once

#include <chrono>
#include <optional>

#include "run_record.hpp"

namespace spool::lab {

/// How long completed tasks ran on average, and how long they should have run.
struct stretch {
    nanoseconds took{0};
    nanoseconds expected{0};

    /// Whether it is worth a warning: by more than half, and by more than the cost of a wake-up.
    [[nodiscard]] bool is_notable() const noexcept {
        return took > expected * 3 / 2 && took - expected > std::chrono::microseconds{100};
    }
};

/// Returns the stretch of CPU-bound tasks. The simulator computes how long they should have run. It
/// lets the pool's own tasks share the CPUs, so only other load on the machine counts. Returns
/// nothing for a simulated run, and for a run without such tasks.
[[nodiscard]] std::optional<stretch> cpu_stretch(const run_record& run);

/// The same for tasks that block: a busy machine wakes them late.
[[nodiscard]] std::optional<stretch> blocking_stretch(const run_record& run);

}  // namespace spool::lab
