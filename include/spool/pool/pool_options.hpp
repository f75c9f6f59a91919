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
#include "spool/pool/pool_hooks.hpp"
#include "spool/pool/rejection.hpp"
#include "spool/pool/thread_factory.hpp"
#include "spool/pool/uncaught_policy.hpp"
#include "spool/queue/blocking_queue.hpp"

namespace spool::inline v1 {

/// How long an idle worker looks for a task before it goes to sleep. One worker of the pool at a time does so.
///
///     spool::thread_pool_executor pool({.idle_spin = spool::idle_spin::off()});
class idle_spin {
public:
    /// Only while it saves CPU time. An idle worker looks for a task for 2 us. It spins for up to 16 us,
    /// about what a sleep and a wake-up cost in CPU time, while the last two tasks came within that time.
    /// Not at all with a single CPU, where the cgroup's quota is less than two CPUs, or for ten seconds
    /// after the process was throttled.
    [[nodiscard]] static constexpr idle_spin adaptive() noexcept { return idle_spin{adaptive_mark}; }
    /// Pays with CPU time for latency: up to spin_budget (100 us) after its last task, while recent tasks came that close. Not at all with
    /// a single CPU. A pool that gets a task every 50 us keeps a CPU busy like this, but starts each within a microsecond.
    [[nodiscard]] static constexpr idle_spin low_latency() noexcept { return idle_spin{low_latency_mark}; }
    /// The worker goes to sleep at once.
    [[nodiscard]] static constexpr idle_spin off() noexcept { return idle_spin{std::chrono::nanoseconds{0}}; }
    /// Always, for so long. A negative time is none.
    [[nodiscard]] static constexpr idle_spin always(duration_setting d) noexcept {
        return idle_spin{std::max(std::chrono::nanoseconds{d}, std::chrono::nanoseconds{0})};
    }

    [[nodiscard]] constexpr bool is_adaptive() const noexcept { return time_ == adaptive_mark; }
    [[nodiscard]] constexpr bool is_low_latency() const noexcept { return time_ == low_latency_mark; }
    /// For how long; negative if it is adaptive() or low_latency().
    [[nodiscard]] constexpr std::chrono::nanoseconds time() const noexcept { return time_; }

private:
    static constexpr std::chrono::nanoseconds adaptive_mark{-1};
    static constexpr std::chrono::nanoseconds low_latency_mark{-2};

    explicit constexpr idle_spin(std::chrono::nanoseconds time) noexcept : time_(time) {}
    std::chrono::nanoseconds time_;
};

/// What a pool is in a child process that was forked while the pool lived. Its threads and its tasks stay the parent's in any case: the parent
/// notices nothing, and in the child no copy of a task that was queued or running is run or destroyed; its future says cancelled there,
/// unless it was the very task that forked.
///
/// Neither choice does anything in a child that never touches the pool, calls exec or _exit, or only destroys or closes it.
enum class fork_policy {
    abort,  ///< at its first use there the process ends, with a message that names the pool
    empty,  ///< at its first use there it is a new pool with the same settings, without threads and tasks; shut down if it was
};

/// An unbounded FIFO queue of tasks: the default.
[[nodiscard]] SPOOL_API std::unique_ptr<blocking_queue<task>> unbounded_fifo();

/// For designated initialisers:
///
///     spool::thread_pool_executor pool({.name = "decode", .core_size = 4, .maximum_size = 16, .keep_alive = 30s});
///
/// The constructor of the pool checks them and throws std::invalid_argument naming the values: a maximum of zero or below the
/// core size, a size over largest_pool, a negative keep-alive, a zero keep-alive with core time-out, an empty queue, factory or
/// policy, a queue that a forked child could not make anew where that is asked for.
struct pool_options {
    /// Prefix of thread names and of messages.
    std::string name = "pool";
    /// So many workers are started as tasks come, and kept when idle.
    std::size_t core_size = default_parallelism();
    /// So many at most. Reached only when the queue refuses a task: with an unbounded queue never.
    std::size_t maximum_size = std::max<std::size_t>(core_size, 1);
    /// How long a worker above the core size waits for a task before it leaves. max() means for ever.
    duration_setting keep_alive = std::chrono::seconds{60};
    /// The keep-alive also applies to core workers, down to none.
    bool core_threads_may_time_out = false;
    /// Where tasks wait. May hold tasks already; prestart_core_thread() runs them.
    std::unique_ptr<blocking_queue<task>> queue = unbounded_fifo();
    /// Starts the threads.
    spool::thread_factory thread_factory = worker_thread_factory();
    /// What happens to a task that cannot be taken.
    rejection_policy rejection = abort_policy{};
    /// Called on the way; none by default.
    std::shared_ptr<pool_hooks> hooks = nullptr;
    /// Wraps the body of every task that becomes a future here, inside the future; none by default.
    task_decorator decorate = nullptr;
    /// What becomes of exceptions that nobody catches.
    uncaught_policy uncaught = uncaught_policy::report();
    /// Measure how long each task waited and ran, for the hooks and describe(): three clock reads per task and one
    /// allocation.
    bool task_times = false;
    /// How long idle workers look for a task before they sleep.
    spool::idle_spin idle_spin = spool::idle_spin::adaptive();
    /// What the pool is in a forked child. `empty` needs a queue with fresh(), which all of the library's have.
    fork_policy on_fork = fork_policy::abort;
    /// What happens when workers wait for each other and none can go on.
    deadlock_policy on_deadlock = deadlock_policy::report();
};

}  // namespace spool::inline v1
