// pool_reading: what a pool has measured about itself.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "spool/base/error.hpp"
#include "spool/base/task_id.hpp"
#include "spool/pool/duration_histogram.hpp"
#include "spool/pool/pool_snapshot.hpp"
#include "spool/pool/thread_factory.hpp"

namespace spool::inline v1 {

inline constexpr std::size_t rejection_reasons = 4;

/// The tasks of one kind: those whose callable has the same type, or the same name (see named()).
/// Estimates where not every task is timed.
struct kind_reading {
    std::string kind;
    std::uint64_t tasks = 0;
    std::chrono::nanoseconds run{0};
};

/// thread_pool_executor::read(). Every counter and histogram only grows, and no reader resets it:
/// so any number of readers agree, and the difference of two readings is what happened in between.
///
/// Without measuring (see pool_options::measure), `wait`, `run` and `kinds` stay empty. The rest is
/// exact in any case.
struct pool_reading {
    pool_snapshot numbers;
    std::chrono::steady_clock::time_point at{};
    std::uint64_t settings_version = 0;
    std::string rejection;        ///< name_of() the rejection policy
    std::uint64_t started = 0;    ///< tasks whose body has begun, or that a new worker holds
    std::uint64_t taken_out = 0;  ///< accepted, then removed, purged, evicted or handed back
    std::uint64_t failed = 0;     ///< tasks that ended with an exception, also inside a future
    /// Refused tasks, by rejection_reason.
    std::array<std::uint64_t, rejection_reasons> rejected_by{};
    /// Sums over all workers, also those that have left. A worker is idle while it waits for a
    /// task, and busy otherwise. `cpu` is zero where the system does not tell.
    std::chrono::nanoseconds busy{0}, idle{0}, cpu{0};
    /// How long submitters have waited for room, in sum.
    std::chrono::nanoseconds blocked{0};
    /// From acceptance to the start of the body, so without a wait for room; in a scheduled pool
    /// from the due time to the start.
    duration_histogram wait;
    /// From the start of the body to its end. A task that runs other tasks while it waits for them
    /// counts their time too, and they count their own.
    duration_histogram run;
    std::uint32_t period = 1;  ///< one task in so many is timed now
    std::vector<kind_reading> kinds;

    /// Tasks that the pool has accepted. Not counted but derived, so under load it may be a few
    /// off.
    [[nodiscard]] std::uint64_t accepted() const noexcept { return started + numbers.queued + taken_out; }
};

/// What one worker does: thread_pool_executor::workers().
struct worker_reading {
    worker_info info;
    long thread = 0;  ///< the system's id of the thread; 0: not known, or not started yet
    bool starting = false;
    bool busy = false;
    task_id task = 0;  ///< the innermost task that it runs
    /// The kind of that task, if the task is timed; else empty.
    std::string kind;
    /// How long that task has been running: exactly if the task is timed or the pool has
    /// task_times, else since a reader first saw it.
    std::chrono::nanoseconds for_at_least{0};
    bool exact_age = false;
    std::chrono::nanoseconds busy_time{0}, idle_time{0}, cpu{0};
    std::uint64_t completed = 0;
    bool asked_to_stop = false;
};

}  // namespace spool::inline v1
