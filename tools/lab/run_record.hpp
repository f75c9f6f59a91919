// The record of a run, real or simulated: one outcome per planned task, and samples of the pool.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan.hpp"
#include "scenario.hpp"

namespace spool::lab {

enum class fate : std::uint8_t {
    waiting,    ///< not yet submitted, queued, or running
    completed,  ///< ran to its end
    refused,    ///< rejected for good, or evicted from the queue
    abandoned,  ///< the run ended before the task did
};

/// Times count from the beginning of the run.
struct outcome {
    nanoseconds submitted{0};  ///< when it was last submitted to the pool
    nanoseconds start{0};
    nanoseconds end{0};
    fate how = fate::waiting;
    std::uint8_t refusals = 0;  ///< how often the pool rejected or evicted it
};

/// The pool at one moment.
struct sample {
    nanoseconds at{0};
    std::uint32_t workers = 0;
    std::uint32_t active = 0;
    std::uint32_t queued = 0;
};

/// How often a run is sampled.
inline constexpr nanoseconds sample_period = std::chrono::milliseconds{5};

/// Sampling stops at this time at the latest: an overload may take very long to drain.
[[nodiscard]] inline nanoseconds sampled_until(const scenario& what) {
    return what.duration * 2;
}

struct run_record {
    scenario what;
    std::shared_ptr<const std::vector<planned_task>> plan;
    std::vector<outcome> outcomes;  ///< one per task, in the order of the plan
    std::vector<sample> samples;
    std::vector<nanoseconds> refusal_times;  ///< when the pool rejected or discarded a task
    /// How late the generator submitted each task, without the time in which it had to run a task
    /// itself. Real runs only.
    std::vector<nanoseconds> lateness;
    std::size_t largest_pool = 0;
    nanoseconds length{0};  ///< until the end of the last task
    bool simulated = false;
    bool interrupted = false;
};

}  // namespace spool::lab
