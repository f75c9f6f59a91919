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
/// Members named as in pool_options mean the same. There is no queue to choose and no maximum size:
/// the pool has its own unbounded queue, and a pool with such a queue does not grow beyond its core
/// size.
struct scheduled_pool_options {
    std::string name = "scheduled";
    /// The number of workers. The pool starts them as tasks come, and keeps them when idle. With
    /// zero, a worker starts when a task is scheduled, and leaves when there was none for the
    /// keep-alive.
    std::size_t core_size = default_parallelism();
    /// How long a worker above the core size stays without a task. Short, because such a worker is
    /// left over from a larger core size, or runs in a pool of core size zero.
    duration_setting keep_alive = std::chrono::milliseconds{10};
    bool core_threads_may_time_out = false;
    spool::thread_factory thread_factory = worker_thread_factory();
    rejection_policy rejection = abort_policy{};
    std::shared_ptr<pool_hooks> hooks = nullptr;
    task_decorator decorate = nullptr;
    uncaught_policy uncaught = uncaught_policy::report();
    bool task_times = false;
    measuring measure = measuring::off();
    fork_policy on_fork = fork_policy::abort;
    deadlock_policy on_deadlock = deadlock_policy::report();

    /// True: delayed tasks that are not due at shutdown() still run at their time. False:
    /// shutdown() cancels them.
    bool run_delayed_after_shutdown = true;
    /// True: periodic tasks continue after shutdown(), until they are cancelled. False: shutdown()
    /// cancels them.
    bool run_periodic_after_shutdown = false;
    /// True: a cancelled task leaves the queue at once. False: it leaves at its time, or by
    /// purge().
    bool remove_on_cancel = true;
    /// Where the pool reads the time; null: the real clocks.
    std::shared_ptr<clock_source> clock = nullptr;
};

/// What happens to the runs that a fixed-rate task has missed, because a run took longer than the
/// period or because no worker was free.
enum class missed_runs {
    catch_up,  ///< runs all of them, one right after the other
    skip,      ///< runs none of them; the next run comes when it is due
    coalesce,  ///< one run, at once, for all of them
};

/// What an exception does to a periodic task.
enum class on_exception {
    go_on,  ///< reports it to the pool's `uncaught`, counts it in the future, and continues
    stop,   ///< ends the series; the future fails with the exception
};

/// Choices for a periodic task:
///
///     timers.schedule_at_fixed_rate(sample, 0s, 100ms,
///                                   {.missed = spool::missed_runs::skip, .jitter = 5ms});
struct periodic_options {
    missed_runs missed = missed_runs::catch_up;  ///< no effect with a fixed delay
    spool::on_exception on_exception = spool::on_exception::go_on;
    /// Delays each run by a random time up to this, so that many tasks do not run at the same
    /// instant. The period is kept on average.
    duration_setting jitter = std::chrono::nanoseconds{0};
};

}  // namespace spool::inline v1
