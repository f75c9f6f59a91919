// What happened in a run, real or simulated: one outcome per planned task, and samples of the pool.
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
    waiting,    ///< not there yet, or queued
    completed,  ///< ran to its end
    refused,    ///< turned away for good, or pushed out of the queue
    abandoned,  ///< the run ended before it did
};

/// Times count from the beginning of the run.
struct outcome {
    nanoseconds submitted{0};  ///< when it was really given to the pool, the last time
    nanoseconds start{0};
    nanoseconds end{0};
    fate how = fate::waiting;
    std::uint8_t refusals = 0;  ///< how often the pool would not have it
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

/// And until when at most: an overload may take very long to drain.
[[nodiscard]] inline nanoseconds sampled_until(const scenario& what) {
    return what.duration * 2;
}

struct run_record {
    scenario what;
    std::shared_ptr<const std::vector<planned_task>> plan;
    std::vector<outcome> outcomes;  ///< beside the plan
    std::vector<sample> samples;
    std::vector<nanoseconds> refusal_times;  ///< each time that the pool refused or discarded something
    std::vector<nanoseconds> lateness;  ///< of arrivals that the generator alone is to blame for; real runs
    std::size_t largest_pool = 0;
    nanoseconds length{0};  ///< until the last task had ended
    bool simulated = false;
    bool interrupted = false;
};

}  // namespace spool::lab
