// lint: predicts what a pool's settings will lead to.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "spool/base/export.hpp"
#include "spool/pool/pool_options.hpp"

namespace spool::inline v1 {

enum class lint_severity {
    note,     ///< a setting without effect: harmless, but hardly intended
    warning,  ///< the pool will do something that few people want
    error,    ///< the pool's constructor throws
};

/// "note", "warning", "error"
[[nodiscard]] SPOOL_API std::string_view to_string(lint_severity s) noexcept;

struct lint_finding {
    lint_severity severity = lint_severity::note;
    std::string id;            ///< stable, for programs: "maximum-never-reached"
    std::string what_happens;  ///< with the values
    std::string what_to_do;
};

/// What is known about the load. Zero means unknown: the rules that need the value then do nothing.
struct workload_hint {
    double arrivals_per_second = 0;
    std::chrono::nanoseconds mean_service{0};  ///< how long a task runs
    std::chrono::nanoseconds deadline{0};      ///< how long a task may wait and still be of use
    bool cpu_bound = false;                    ///< tasks compute rather than wait
    std::size_t cpus = default_parallelism();  ///< by affinity mask and container quota
};

/// Returns what will happen with these settings under this load, the worst first; empty if no rule
/// applies. Starts no thread.
///
///     for (const spool::lint_finding& f : spool::lint(options, {.cpu_bound = true})) {
///         log(f.id, f.what_happens, f.what_to_do);
///     }
///
/// The ids:
///
///     error    no-queue, no-thread-factory, no-rejection-policy, maximum-zero, maximum-below-core,
///              size-out-of-range, negative-keep-alive, zero-keep-alive-with-core-time-out
///     warning  maximum-never-reached       an unbounded queue never refuses, so the pool never
///                                          grows past its core
///              one-worker-only             core zero: one worker until the queue is full
///              hand-off-small-maximum      core zero, no queue, few workers: tasks are refused as
///                                          soon as all workers are busy
///              keep-alive-too-short        threads come and go with every task
///              overload                    more work arrives than the workers can do
///              core-below-load             the core cannot do the mean load, so the queue is
///                                          always full
///              queue-outlasts-deadline     the last task in a full queue waits past its deadline
///              more-threads-than-cpus      for work that computes
///              discard-oldest-without-queue   a hand-off queue has nothing to discard: the new
///                                             task is dropped
///     note     keep-alive-without-effect   no worker is ever above the core size
///              rejection-without-effect    an unbounded queue refuses nothing
///              threads-without-limit       hand-off and a huge maximum: a thread per waiting task
[[nodiscard]] SPOOL_API std::vector<lint_finding> lint(const pool_options& options,
                                                       const workload_hint& load = {});

}  // namespace spool::inline v1
