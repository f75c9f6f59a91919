// pool_options: every setting of a pool, its default and its meaning.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "spool/base/deadline.hpp"
#include "spool/base/default_parallelism.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task.hpp"
#include "spool/executor/executor.hpp"
#include "spool/pool/deadlock_policy.hpp"
#include "spool/pool/measuring.hpp"
#include "spool/pool/pool_hooks.hpp"
#include "spool/pool/rejection.hpp"
#include "spool/pool/thread_factory.hpp"
#include "spool/pool/uncaught_policy.hpp"
#include "spool/queue/blocking_queue.hpp"

namespace spool::inline v1 {

/// How long an idle worker spins before it sleeps. At most one worker of the pool spins at a time.
///
///     spool::thread_pool_executor pool({.idle_spin = spool::idle_spin::off()});
class idle_spin {
public:
    /// Spins only while that saves CPU time. An idle worker spins for at least 2 us. It spins for
    /// up to 16 us, about what a sleep and a wake-up cost in CPU time, while the last two tasks
    /// came within that time. It does not spin at all with a single CPU, with a cgroup quota of
    /// less than two CPUs, or for ten seconds after the process was throttled.
    [[nodiscard]] static constexpr idle_spin adaptive() noexcept { return idle_spin{adaptive_mark}; }
    /// Spends CPU time for latency: spins for up to spin_budget (100 us) after the last task, while
    /// the last two tasks came within that time. Does not spin with a single CPU. A pool that gets
    /// a task every 50 us keeps a CPU busy in this way, but starts each task within a microsecond.
    [[nodiscard]] static constexpr idle_spin low_latency() noexcept { return idle_spin{low_latency_mark}; }
    /// The worker sleeps at once.
    [[nodiscard]] static constexpr idle_spin off() noexcept { return idle_spin{std::chrono::nanoseconds{0}}; }
    /// Always spins for `d`. A negative time means none.
    [[nodiscard]] static constexpr idle_spin always(duration_setting d) noexcept {
        return idle_spin{std::max(std::chrono::nanoseconds{d}, std::chrono::nanoseconds{0})};
    }

    [[nodiscard]] constexpr bool is_adaptive() const noexcept { return time_ == adaptive_mark; }
    [[nodiscard]] constexpr bool is_low_latency() const noexcept { return time_ == low_latency_mark; }
    /// How long a worker spins; negative for adaptive() and low_latency().
    [[nodiscard]] constexpr std::chrono::nanoseconds time() const noexcept { return time_; }

private:
    static constexpr std::chrono::nanoseconds adaptive_mark{-1};
    static constexpr std::chrono::nanoseconds low_latency_mark{-2};

    explicit constexpr idle_spin(std::chrono::nanoseconds time) noexcept : time_(time) {}
    std::chrono::nanoseconds time_;
};

/// What a pool is in a child process that was forked while the pool lived. In any case the pool's
/// threads and tasks stay with the parent, and the parent is not affected. The child neither runs
/// nor destroys its copy of a task that was queued or running. The task's future is cancelled in
/// the child, except for the task that forked.
///
/// Neither choice does anything in a child that never touches the pool, calls exec or _exit, or
/// only destroys or closes the pool.
enum class fork_policy {
    /// At the first use of the pool in the child, the process ends with a message that names the
    /// pool.
    abort,
    /// At its first use in the child, the pool is rebuilt with the same settings, without threads
    /// and tasks. It is terminated if the parent's pool had shut down.
    empty,
};

/// An unbounded FIFO queue of tasks: the default.
[[nodiscard]] SPOOL_API std::unique_ptr<blocking_queue<task>> unbounded_fifo();

/// For designated initialisers:
///
///     spool::thread_pool_executor pool({.name = "decode", .core_size = 4, .maximum_size = 16});
///
/// The pool's constructor throws std::invalid_argument, which names the values, for: a maximum of
/// zero or below the core size, a size over largest_pool, a negative keep-alive, a zero keep-alive
/// with core time-out, an empty queue, factory or policy, and fork_policy::empty with a queue that
/// has no fresh().
struct pool_options {
    /// Prefix of thread names and of messages.
    std::string name = "pool";
    /// The number of workers that are started as tasks arrive, and kept when idle.
    std::size_t core_size = default_parallelism();
    /// The largest number of workers. The pool grows past the core size only when the queue refuses
    /// a task: with an unbounded queue never.
    std::size_t maximum_size = std::max<std::size_t>(core_size, 1);
    /// How long a worker above the core size waits for a task before it leaves. max(): for ever.
    duration_setting keep_alive = std::chrono::seconds{60};
    /// Whether the keep-alive also applies to core workers, down to none.
    bool core_threads_may_time_out = false;
    /// Where tasks wait. The queue may hold tasks already; prestart_core_thread() runs them.
    std::unique_ptr<blocking_queue<task>> queue = unbounded_fifo();
    /// Starts the threads.
    spool::thread_factory thread_factory = worker_thread_factory();
    /// What happens to a task that the pool refuses.
    rejection_policy rejection = abort_policy{};
    /// Called at the events of a pool's life; none by default.
    std::shared_ptr<pool_hooks> hooks = nullptr;
    /// Wraps the body of every task that becomes a future here, inside the future; none by default.
    task_decorator decorate = nullptr;
    /// What happens to exceptions that leave a task of execute(), or a hook.
    uncaught_policy uncaught = uncaught_policy::report();
    /// Measures how long each task waited and ran, for the hooks and describe(). Costs an
    /// allocation and three clock reads per task, four with hooks.
    bool task_times = false;
    /// How many tasks are timed for read(); may change while the pool runs.
    measuring measure = measuring::off();
    /// How long idle workers spin before they sleep.
    spool::idle_spin idle_spin = spool::idle_spin::adaptive();
    /// What the pool is in a forked child. `empty` needs a queue with fresh(), which every queue of
    /// the library has.
    fork_policy on_fork = fork_policy::abort;
    /// What happens when workers wait for each other and none can make progress.
    deadlock_policy on_deadlock = deadlock_policy::report();
};

}  // namespace spool::inline v1
