// What is said about a run: counts, percentiles, and the same over time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "run_record.hpp"

namespace spool::lab {

/// Of a set of durations. All zero if it is empty.
struct percentiles {
    nanoseconds p50{0};
    nanoseconds p90{0};
    nanoseconds p95{0};
    nanoseconds p99{0};
    nanoseconds p999{0};
    nanoseconds most{0};
};

/// Reorders the values.
[[nodiscard]] percentiles percentiles_of(std::vector<nanoseconds>& values);
/// The value below which this share of the others lies (the nearest rank); reorders them. `fallback` if there are none.
template <class T>
[[nodiscard]] T quantile(std::vector<T>& values, double share, T fallback = T{});

/// Of all tasks, or of those of one class.
struct task_summary {
    std::string name;
    std::uint64_t arrived = 0;
    std::uint64_t completed = 0;
    std::uint64_t lost = 0;      ///< turned away for good, or pushed out of the queue
    std::uint64_t refusals = 0;  ///< times that the pool would not have one; a task may come again
    std::uint64_t late = 0;      ///< answered after its deadline, or never, of those that have one
    std::uint64_t with_deadline = 0;
    percentiles wait;     ///< from the intended arrival to the start
    percentiles run;      ///< from the start to the end
    percentiles latency;  ///< from the intended arrival to the end

    /// Of the times that tasks were given to the pool, how many it refused.
    [[nodiscard]] double refusal_share() const;
    [[nodiscard]] double late_share() const;
};

struct run_summary {
    task_summary all;
    std::vector<task_summary> classes;
    std::size_t peak_threads = 0;
    double mean_threads = 0;  ///< this and the queue's: while tasks came
    std::size_t p99_queue = 0;
    std::size_t peak_queue = 0;
    percentiles lateness;   ///< of the load generator itself
    double throughput = 0;  ///< completed per second
};

[[nodiscard]] run_summary summarise(const run_record& run);
/// The same without the percentiles of run and, unless it is wanted, of latency: faster, for a sweep over many.
[[nodiscard]] run_summary summarise_waits(const run_record& run, bool with_latency = false);

/// One slot of time.
struct slot {
    nanoseconds at{0};
    double arrivals = 0;   ///< per second
    double completed = 0;  ///< per second
    double refused = 0;    ///< per second
    double workers = 0;    ///< mean
    double active = 0;     ///< mean
    double queued = 0;     ///< mean
    std::uint32_t most_queued = 0;
    /// Percentiles need more tasks than a slot has: they are those of the bin that the slot belongs to.
    std::size_t bin = 0;
    nanoseconds wait_p50{0};  ///< of the tasks that started in the bin
    nanoseconds wait_p99{0};
    nanoseconds run_p50{0};  ///< of the tasks that ended in the bin
    nanoseconds run_p99{0};
    nanoseconds total_p50{0};
    nanoseconds total_p99{0};
};

/// The run in about 120 slots. Neighbouring slots share a bin until 200 tasks have started in it, or an
/// eighth of the run has passed.
[[nodiscard]] std::vector<slot> over_time(const run_record& run);

}  // namespace spool::lab
