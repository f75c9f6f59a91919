// thread_pool_executor: the pool.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/clock_source.hpp"
#include "spool/base/export.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/executor/executor_service.hpp"
#include "spool/pool/pool_handle.hpp"
#include "spool/pool/pool_options.hpp"
#include "spool/pool/pool_reading.hpp"
#include "spool/pool/pool_settings.hpp"
#include "spool/pool/pool_snapshot.hpp"
#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {

namespace detail {
struct pool;
class pool_access;
}  // namespace detail

/// The outcome of try_execute() and execute_for(). The task was moved from only if `accepted`.
enum class admission_result {
    accepted,
    full,       ///< no room in the queue, and no further worker allowed
    shut_down,  ///< the pool accepts no tasks any more
    no_thread,  ///< the task needed a new worker, and no thread could be started
    timed_out,  ///< execute_for() and execute_until() only: still full at the deadline
};

/// Runs tasks on a set of threads that grows and shrinks between two sizes.
///
///              shutdown()                  queue empty, no workers
///    running -------------> shutting_down --------------------------+
///       |                         |                                 v
///       |  shutdown_now()         | shutdown_now()               tidying ----> terminated
///       +-----------+-------------+                                 ^    hook returns
///                   v                    no workers                 |
///                stopping ------------------------------------------+
///
///                       | running | shutting_down | stopping    | tidying    | terminated
///    execute(), submit()| accept  | reject        | reject      | reject     | reject
///    queued tasks       | run     | run           | handed back | none       | none
///    running tasks      | run     | run           | stop asked  | none       | none
///    shutdown()         | advances| -             | -           | -          | -
///    shutdown_now()     | advances| advances      | drains again| -          | -
///    setters            | apply   | apply         | kept        | kept       | kept
///    await_termination()| waits   | waits         | waits       | waits      | true
///
///     spool::thread_pool_executor pool(
///         {.name = "decode", .core_size = 4, .maximum_size = 16, .keep_alive = 30s,
///          .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(1000),
///          .rejection = spool::caller_runs_policy{}});
///     auto frame = pool.submit([&](std::stop_token stop) { return decode(packet, stop); });
///     use(frame.get());
///
/// execute() has three steps:
///   1. Below the core size, the pool starts a new worker with this task.
///   2. Otherwise the pool offers the task to the queue.
///   3. If the queue refuses, the pool starts a new worker, up to the maximum; beyond that the
///      rejection policy decides.
/// So the queue decides how the pool grows. With an unbounded queue the pool never grows past the
/// core size, with a bounded one when the queue is full, with a synchronous one whenever no worker
/// is idle.
///
/// A worker runs its first task, then dequeues. Above the core size it leaves when it has been idle
/// for the keep-alive. It never holds a task that it is not about to run: two tasks that wait for
/// each other in a pool of two both run.
///
/// No submitted task is ever lost: it runs, or is handed back, or is rejected, or its future is
/// cancelled.
///
/// Nested waits: get(), wait() and invoke_all() without a time limit, called on a worker of the
/// pool that the task was submitted to, run the task right there if it has not started. So a task
/// may wait for its own sub-tasks in a pool of one. Such waits nest while a quarter of the worker's
/// stack is free (see worker_thread_options::stack_size). Beyond that the wait sleeps and leaves
/// the task to another worker.
///
/// Exceptions: what a task of submit() throws goes to its future. What a task of execute() throws
/// goes to after_execute, then to `uncaught`, and the pool replaces the worker.
///
/// Thread safety: any thread may call every member, also from a task. Setters take effect at once,
/// also on waiting workers.
/// Memory ordering: what a thread did before execute() is visible to the task. What tasks did is
/// visible after get(), after is_done() was true, and after await_termination() returned true.
///
/// Lifetime: the destructor calls close(): shutdown(), then wait for every queued task. Afterwards
/// no thread of the pool exists.
/// A task or a hook may destroy the pool on one of its own workers. The destructor then runs the
/// rest of the queue there, together with the other workers, and joins those. It detaches its own
/// thread, which exits when its task returns.
/// Precondition of the destructor: no thread but the pool's own workers is inside a call on the
/// pool. execute() reads the pool's state once more after the queue has taken the task. So a task
/// that destroys the pool must first know that the execute() or submit() which brought it has
/// returned, say by a latch, unless that call was made on a worker of the pool. A debug build of
/// the library checks this and aborts with a message that names the pool.
/// exit() with a live pool: static destructors run while the workers still do. Close the pool
/// before.
///
/// fork(): see fork_policy. The child may destroy or close the pool, which then waits for no
/// thread. A reference to queue() is not valid in the child. A task that forks must end its child
/// by exec or _exit, or return there, which ends the child's thread. A hook, factory or policy that
/// forks must not return in the child.
class SPOOL_API thread_pool_executor : public executor_service {
public:
    /// \throws std::invalid_argument naming the values (see pool_options); no thread is started
    /// here
    explicit thread_pool_executor(pool_options options = {});
    /// close(). Precondition: no thread but the pool's own workers is inside a call on the pool;
    /// see Lifetime.
    ~thread_pool_executor() override;

    // ---- Submitting

    /// Precondition: the pool outlives the call, also where the task destroys the pool; see
    /// Lifetime. The precondition holds for every way to submit a task.
    /// \throws rejected_execution by the default policy; what another policy throws;
    /// std::invalid_argument if empty
    void execute(task work) override;

    /// Submits many tasks, in order, as execute() does for each. Tasks that the queue takes are
    /// enqueued in batches, with one wake-up per batch. \throws as execute(); then all tasks before
    /// the refused one are accepted, and those after it are untouched
    void execute_all(std::span<task> work) override;
    using executor::execute_all;

    /// execute() without the rejection policy: a refusal is returned, and not counted.
    /// Moves from `work` only if accepted.
    [[nodiscard]] admission_result try_execute(task&& work);
    /// try_execute() that waits up to `d` for room. \throws interrupted, by the current task's stop
    template <class Rep, class Period>
    [[nodiscard]] admission_result execute_for(task&& work, std::chrono::duration<Rep, Period> d) {
        return execute_until(std::move(work), deadline::after(d), this_task::stop_token());
    }
    template <class Rep, class Period>
    [[nodiscard]] admission_result execute_for(task&& work, std::chrono::duration<Rep, Period> d,
                                               std::stop_token stop) {
        return execute_until(std::move(work), deadline::after(d), std::move(stop));
    }
    [[nodiscard]] admission_result execute_until(task&& work, deadline until, std::stop_token stop);

    [[nodiscard]] const task_decorator* decorator() const noexcept override;
    [[nodiscard]] std::string executor_label() const override;

    // ---- Lifecycle

    void shutdown() override;
    /// Hands every unstarted task back, in the queue's order, and requests stop on every running
    /// one. Unstarted children of a task_group are dropped instead, and their group is told.
    /// While the caller keeps the list, the futures of its tasks stay pending and their waiters
    /// wait; destroying the list cancels them. \throws std::bad_alloc if there is no memory for the
    /// list: the pool stops all the same, and a second call hands back the rest.
    std::vector<task> shutdown_now() override;
    [[nodiscard]] bool is_shutdown() const override;
    [[nodiscard]] bool is_terminated() const override;
    [[nodiscard]] bool is_terminating() const override;
    /// If tasks are queued, no worker is left and none could be started, a wait without a limit
    /// runs the tasks in the caller, as close() does. A wait with a limit only waits.
    bool await_termination_until(deadline until, std::stop_token stop) override;
    void close() override;
    [[nodiscard]] run_state state() const noexcept;

    // ---- Settings; the setters may be called while the pool runs

    [[nodiscard]] const std::string& name() const noexcept;
    /// Changes several settings at once, under one version. All or nothing: a refused change alters
    /// no field. Takes effect at once, also on waiting workers. Each setter below is an apply() of
    /// its field. \throws invalid_settings, which names the field and the values; what a user's
    /// queue throws when its capacity changes
    settings_change apply(const pool_settings& next, apply_mode mode = apply_mode::change);
    /// Raised by each change of a setting but the thread factory; 0 in a new pool.
    [[nodiscard]] std::uint64_t settings_version() const noexcept;
    [[nodiscard]] std::size_t core_size() const noexcept;
    /// Lowered: each worker above the new size leaves once it has been idle for the keep-alive, at
    /// once if it already has been. Raised: the pool starts new workers for queued tasks.
    /// \throws std::invalid_argument if above the maximum, or over largest_pool; nothing changed
    void set_core_size(std::size_t n);
    [[nodiscard]] std::size_t maximum_size() const noexcept;
    /// Lowered below the number of workers: excess workers leave when their current task ends.
    /// \throws std::invalid_argument if zero, below the core size or over largest_pool; nothing
    /// changed
    void set_maximum_size(std::size_t n);
    [[nodiscard]] std::chrono::nanoseconds keep_alive() const noexcept;
    /// \throws std::invalid_argument if negative, or zero while core threads may time out; nothing
    /// changed
    void set_keep_alive(duration_setting d);
    [[nodiscard]] bool core_threads_may_time_out() const noexcept;
    /// \throws std::invalid_argument if turned on with a keep-alive of zero; nothing changed
    void allow_core_threads_to_time_out(bool allow);
    [[nodiscard]] rejection_policy rejection() const;
    /// \throws std::invalid_argument if empty; nothing changed
    void set_rejection(rejection_policy policy);
    [[nodiscard]] spool::measuring measuring() const noexcept;
    /// Turned on: tasks submitted from now on are timed. What was measured before stays.
    void set_measuring(spool::measuring how);
    [[nodiscard]] spool::thread_factory thread_factory() const;
    /// \throws std::invalid_argument if empty; nothing changed
    void set_thread_factory(spool::thread_factory factory);

    /// Starts a core worker that waits for work. Returns false if all core workers exist already,
    /// or if none could be started.
    bool prestart_core_thread();
    /// Starts all missing core workers, and returns how many it has started.
    std::size_t prestart_all_core_threads();

    // ---- The queue

    /// The queue itself, for inspection. Adding or removing elements there bypasses the pool's
    /// counts and checks.
    [[nodiscard]] blocking_queue<task>& queue() noexcept;
    /// Removes an unstarted task from the queue and destroys it, which cancels its future. Returns
    /// false if the task is not in the queue.
    bool remove(task_id id);
    template <class T>
    bool remove(const future<T>& f) {
        return remove(f.id());
    }
    /// Whether the task is in the queue. The answer may be stale as soon as it is returned.
    [[nodiscard]] bool contains(task_id id) const;
    template <class T>
    [[nodiscard]] bool contains(const future<T>& f) const {
        return contains(f.id());
    }
    /// Removes every cancelled task from the queue, and returns how many. A task is cancelled if
    /// its future is, or, for a task of execute(), if its callable's is_cancelled() says so (see
    /// task).
    std::size_t purge();

    // ---- Numbers; exact at rest, under load each a value that held at some time during the call

    [[nodiscard]] std::size_t pool_size() const noexcept;
    [[nodiscard]] std::size_t active_count() const;
    [[nodiscard]] std::size_t largest_pool_size() const;
    [[nodiscard]] std::uint64_t task_count() const;
    [[nodiscard]] std::uint64_t completed_task_count() const;
    [[nodiscard]] std::uint64_t rejected_count() const noexcept;
    [[nodiscard]] pool_snapshot snapshot() const;
    /// For people: the snapshot, then a line per worker: idle, or which task it runs and for how
    /// long. Without task_times the age of a task counts from the first describe() that saw the
    /// task. For a pool without workers, describe() adds whether and why its last attempt to start
    /// a thread failed.
    [[nodiscard]] std::string describe() const;
    /// Counters, times and histograms that only grow; see pool_reading. Takes some microseconds.
    [[nodiscard]] pool_reading read() const;
    /// What each worker does, as data.
    [[nodiscard]] std::vector<worker_reading> workers() const;
    /// A reference that does not keep the pool alive; see all_pools().
    [[nodiscard]] pool_handle weak_handle() const;

protected:
    // ---- For derived pools, whose tasks are requeued or wait for their due time

    /// Every task goes through the queue, which knows when the task is due by this clock (null: the
    /// real one). No task is handed to a new worker as its first.
    struct queue_first {
        std::shared_ptr<clock_source> clock;
    };
    thread_pool_executor(pool_options options, queue_first how);

    /// Called by shutdown() after the pool has stopped accepting tasks. A derived pool removes here
    /// the queued tasks that must not run any more. A derived pool must call close() in its own
    /// destructor, while its override can still be called.
    virtual void on_shutdown();

    /// The handle through which a task of the pool requeues itself. The handle may outlive the
    /// pool; requeue() then returns false.
    class SPOOL_API requeue_handle {
    public:
        /// Returns false if `may_run` rejects the pool's state, before or after the task was
        /// enqueued, or if the queue refuses; `work` is then untouched.
        [[nodiscard]] bool requeue(task& work, function_ref<bool(run_state)> may_run) const;
        /// Reports what a task threw that will run again all the same: to the pool's `uncaught`,
        /// as from the current worker.
        void report(const std::exception_ptr& error) const noexcept;
        [[nodiscard]] bool terminates_on_uncaught() const noexcept;

    private:
        friend class thread_pool_executor;
        friend class detail::pool_access;
        explicit requeue_handle(std::weak_ptr<detail::pool> pool) noexcept : pool_(std::move(pool)) {}
        std::weak_ptr<detail::pool> pool_;
    };
    [[nodiscard]] requeue_handle make_requeue_handle() const;

    /// Called in a forked child that has rebuilt the pool (see fork_policy). `queue` is the new
    /// pool's queue, not in use yet. The override prepares it as the derived constructor did.
    virtual void reinitialize_after_fork(blocking_queue<task>& queue, const void* home,
                                         requeue_handle requeue) const;
    /// True in a forked child that has not used the pool. A derived destructor must then leave the
    /// pool alone.
    [[nodiscard]] bool is_forked_child() const noexcept;

    /// Terminates the pool if nothing is left to do. Call it after tasks were removed from the
    /// queue without the pool: one of them may have been the last.
    void try_terminate();

    /// The owner id that nested waits compare (see future_link).
    [[nodiscard]] const void* home() const noexcept;

private:
    friend class detail::pool_access;
    class fork_list;

    [[nodiscard]] detail::pool& use() const noexcept {
        if (here_.load(std::memory_order_acquire) == nullptr) [[unlikely]] {  // (F) see below
            reinitialize();
        }
        return *here_.load(std::memory_order_acquire);  // (F) pairs with put_in_place()
    }
    void reinitialize() const noexcept;

    // pool_.get(), for all threads. Null in a forked child that has not used the pool.
    mutable std::atomic<detail::pool*> here_{nullptr};
    // Shared with the workers: a worker may outlive the handle (see Lifetime).
    mutable std::shared_ptr<detail::pool> pool_;
    mutable detail::pool* lost_ = nullptr;  // in a forked child: the parent's pool
    // Links in the list of all pools, guarded by the lock of the list:
    thread_pool_executor* next_ = nullptr;
    thread_pool_executor** link_here_ = nullptr;  // the pointer that points at this pool
};

}  // namespace spool::inline v1
