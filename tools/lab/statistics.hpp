// Statistics of a run: counts and percentiles, in total and over time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "run_record.hpp"

namespace spool::lab {

/// Percentiles of a set of durations; all zero if the set is empty.
struct percentiles {
    nanoseconds p50{0};
    nanoseconds p90{0};
    nanoseconds p95{0};
    nanoseconds p99{0};
    nanoseconds p999{0};
    nanoseconds most{0};
};

/// Computes the percentiles. Reorders the values.
[[nodiscard]] percentiles percentiles_of(std::vector<nanoseconds>& values);
/// Returns the quantile by nearest rank: the smallest value such that this share of the values does
/// not exceed it. Returns `fallback` if there are none. Reorders the values.
template <class T>
[[nodiscard]] T quantile(std::vector<T>& values, double share, T fallback = T{});

/// Summary of all tasks, or of the tasks of one class.
struct task_summary {
    std::string name;
    std::uint64_t arrived = 0;
    std::uint64_t completed = 0;
    std::uint64_t lost = 0;      ///< rejected for good, or evicted from the queue
    std::uint64_t refusals = 0;  ///< rejections and evictions; several for a retried task
    std::uint64_t late = 0;      ///< of those with a deadline: ended after it, or never
    std::uint64_t with_deadline = 0;
    percentiles wait;     ///< from the intended arrival to the start
    percentiles run;      ///< from the start to the end
    percentiles latency;  ///< from the intended arrival to the end

    /// Returns the share of all submissions that the pool refused.
    [[nodiscard]] double refusal_share() const;
    [[nodiscard]] double late_share() const;
};

struct run_summary {
    task_summary all;
    std::vector<task_summary> classes;
    std::size_t peak_threads = 0;
    double mean_threads = 0;  ///< this and the queue's figures: over the scenario's duration
    std::size_t p99_queue = 0;
    std::size_t peak_queue = 0;
    percentiles lateness;   ///< of the load generator itself
    double throughput = 0;  ///< completed per second
};

[[nodiscard]] run_summary summarise(const run_record& run);
/// The same without the percentiles of `run` and, unless `with_latency`, of `latency`: faster.
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
    /// The number of the slot's bin. Percentiles need more tasks than a slot has, so they are
    /// computed per bin.
    std::size_t bin = 0;
    nanoseconds wait_p50{0};  ///< of the tasks that started in the bin
    nanoseconds wait_p99{0};
    nanoseconds run_p50{0};  ///< of the tasks that ended in the bin
    nanoseconds run_p99{0};
    nanoseconds total_p50{0};
    nanoseconds total_p99{0};
};

/// Divides the run into slots of a round length, at most 150 unless the run is long. Adjacent slots
/// share a bin until 200 tasks have started in the bin or it spans an eighth of the run.
[[nodiscard]] std::vector<slot> over_time(const run_record& run);

}  // namespace spool::lab
