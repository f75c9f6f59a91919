// scheduled_pool_options: every setting of a scheduled pool, and of a periodic task.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "spool/base/clock_source.hpp"
#include "spool/base/deadline.hpp"
#include "spool/pool/pool_options.hpp"

namespace spool::inline v1 {

/// For designated initialisers:
///
///     spool::scheduled_thread_pool_executor timers({.name = "timers", .core_size = 2});
///
/// What is named as in pool_options means the same. There is no queue to choose and no maximum: the queue is the pool's own, without a
/// bound, and a pool with such a queue does not grow beyond its core size.
struct scheduled_pool_options {
    std::string name = "scheduled";
    /// So many workers are started as tasks come, and kept when idle. With zero, one comes when there is something scheduled, and
    /// goes when there is nothing for the keep-alive.
    std::size_t core_size = default_parallelism();
    /// How long a worker above the core size stays without a task: short, because such a worker is left over from a core
    /// size that was lowered, or from a core size of zero.
    duration_setting keep_alive = std::chrono::milliseconds{10};
    bool core_threads_may_time_out = false;
    spool::thread_factory thread_factory = worker_thread_factory();
    rejection_policy rejection = abort_policy{};
    std::shared_ptr<pool_hooks> hooks = nullptr;
    task_decorator decorate = nullptr;
    uncaught_policy uncaught = uncaught_policy::report();
    bool task_times = false;
    fork_policy on_fork = fork_policy::abort;
    deadlock_policy on_deadlock = deadlock_policy::report();

    /// What is scheduled, not periodic and not due at shutdown() still runs at its time; else it is cancelled then.
    bool run_delayed_after_shutdown = true;
    /// Periodic tasks go on after shutdown(), until they are cancelled; else they are cancelled then.
    bool run_periodic_after_shutdown = false;
    /// A cancelled task leaves the queue at once; else at its time, or by purge().
    bool remove_on_cancel = true;
    /// Where the pool reads the time; null: the real clocks.
    std::shared_ptr<clock_source> clock = nullptr;
};

/// What becomes of the runs that a fixed-rate task has missed, because a run took longer than the period or no worker was free.
enum class missed_runs {
    catch_up,  ///< all are made up for, one right after the other
    skip,      ///< none is; the next comes when the next is due
    coalesce,  ///< one run, at once, for all of them
};

/// What an exception does to a periodic task.
enum class on_exception {
    go_on,  ///< it goes to the pool's `uncaught` and is counted in the future; the series goes on
    stop,   ///< it ends the series, and the future brings it
};

/// Choices for a periodic task:
///
///     timers.schedule_at_fixed_rate(sample, 0s, 100ms, {.missed = spool::missed_runs::skip, .jitter = 5ms});
struct periodic_options {
    missed_runs missed = missed_runs::catch_up;  ///< has no meaning with a fixed delay
    spool::on_exception on_exception = spool::on_exception::go_on;
    /// Each run comes later by a random time up to this, so that many do not come at once; the period is kept on average.
    duration_setting jitter = std::chrono::nanoseconds{0};
};

}  // namespace spool::inline v1
