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
#include "spool/pool/pool_options.hpp"
#include "spool/pool/pool_snapshot.hpp"
#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {

/// How try_execute() and execute_for() ended. The task was moved from only if `accepted`.
enum class admission_result {
    accepted,
    full,       ///< no room in the queue, and no further worker allowed
    shut_down,  ///< the pool accepts no tasks any more
    no_thread,  ///< nobody could run it: the only worker that could have was not to be started
    timed_out,  ///< execute_for() only: still full when the time was over
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
///    shutdown()         | moves on| -             | -           | -          | -
///    shutdown_now()     | moves on| moves on      | the rest    | -          | -
///    setters            | apply   | apply         | kept        | kept       | kept
///    await_termination()| waits   | waits         | waits       | waits      | true
///
///     spool::thread_pool_executor pool({.name = "decode", .core_size = 4, .maximum_size = 16, .keep_alive = 30s,
///                                       .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(1000),
///                                       .rejection = spool::caller_runs_policy{}});
///     auto frame = pool.submit([&](std::stop_token stop) { return decode(packet, stop); });
///     use(frame.get());
///
/// execute() in three steps: (1) fewer workers than the core size: a new one is started with this task; (2) else the queue is
/// offered it; (3) the queue refuses: a new worker is started, up to the maximum; else the rejection policy decides.
/// So the queue decides how the pool grows: an unbounded one never lets it grow past the core size, a bounded one when
/// it is full, a synchronous one whenever nobody is idle.
///
/// A worker runs its first task, then takes from the queue; above the core size it leaves after the keep-alive without a task.
/// It never holds a task that it is not about to run: two tasks that wait for each other in a pool of two both run.
///
/// Nothing submitted is ever lost: a task runs, or is handed back, or is rejected, or its future says cancelled.
///
/// Nested waits: get(), wait() and invoke_all() without a time limit, called on a worker of the pool that the task was
/// submitted to, run the task right there if it has not started. So a task may wait for its own sub-tasks in a pool of one.
/// They nest while a quarter of the worker's stack is free (see worker_thread_options::stack_size); beyond that the
/// wait sleeps, and leaves the task to another worker.
///
/// Exceptions: from submit() into the future; from execute() to after_execute, then to `uncaught`, and the worker is replaced.
///
/// Thread safety: every member from any thread, also from a task; setters take effect at once, on workers that wait too.
/// Memory ordering: what a thread did before execute() is visible to the task; what tasks did is visible after get(), after
/// is_done() was true, and after await_termination() returned true.
/// Lifetime: the destructor is close(): shutdown() and wait for every queued task; afterwards no thread of the pool exists.
/// Destroyed on a worker of its own, in a task or a hook, the pool runs the rest of its queue there, together with the other workers, joins them, and
/// lets go of that one thread, which then only leaves its task. Precondition of the destructor: no thread but the pool's own workers is
/// inside a call on the pool. execute() looks at the pool once more after the queue has taken the task. So a task
/// that destroys the pool must first know that the execute() or submit() which brought it has returned, say by a latch, unless
/// that call was made on a worker of the pool. A debug build of the library checks this and aborts with a
/// message that names the pool. exit() with a live pool: static destructors run while the
/// workers still do; close the pool before.
/// fork(): see fork_policy. The child may destroy or close the pool, which then waits for nobody. A reference to queue() does not follow it
/// there. A task that forks must end its child by exec or _exit, or have it return: that ends the child's thread. A hook, factory
/// or policy that forks must not return in the child.
class SPOOL_API thread_pool_executor : public executor_service {
    class core;

public:
    /// \throws std::invalid_argument naming the values (see pool_options); no thread is started here
    explicit thread_pool_executor(pool_options options = {});
    /// close(). Precondition: no thread but the pool's own workers is inside a call on the pool; see Lifetime.
    ~thread_pool_executor() override;

    // ---- Submitting

    /// Precondition: the pool outlives the call, also where the task destroys the pool; see Lifetime. It holds for every
    /// way to submit a task.
    /// \throws rejected_execution by the default policy; what another policy throws; std::invalid_argument if empty
    void execute(task work) override;

    /// Many at once: as execute() for each, in order, but those that the queue takes are put in with few steps, and idle workers are
    /// told once. \throws as execute(); then those before the one that was refused are in, and those after it untouched
    void execute_all(std::span<task> work) override;
    using executor::execute_all;

    /// The same without the rejection policy, and without counting a refusal. Moves from `work` only if accepted.
    [[nodiscard]] admission_result try_execute(task&& work);
    /// Waits for room at most so long. \throws interrupted, by the current task's stop
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

    // ---- Its life

    void shutdown() override;
    /// Hands every unstarted task back, in the queue's order, and requests stop on every running one. Whoever keeps the list keeps the futures
    /// of its tasks pending, and whoever waits for them waiting; destroying the list cancels them. If memory for the list runs
    /// out, std::bad_alloc: the pool stops all the same, and the rest waits for a second call.
    std::vector<task> shutdown_now() override;
    [[nodiscard]] bool is_shutdown() const override;
    [[nodiscard]] bool is_terminated() const override;
    [[nodiscard]] bool is_terminating() const override;
    /// Where tasks are queued, no worker is left and none could be started, a wait without a limit runs them in the
    /// caller, as close() does. A wait with a limit only waits.
    bool await_termination_until(deadline until, std::stop_token stop) override;
    void close() override;
    [[nodiscard]] run_state state() const noexcept;

    // ---- Settings, all changeable while it runs

    [[nodiscard]] const std::string& name() const noexcept;
    [[nodiscard]] std::size_t core_size() const noexcept;
    /// Lowered: each worker above it leaves once it has been idle for the keep-alive; one that has been idle for longer
    /// leaves at once. Raised: as many are started as there is queued work for.
    /// \throws std::invalid_argument if above the maximum, or over largest_pool; nothing changed
    void set_core_size(std::size_t n);
    [[nodiscard]] std::size_t maximum_size() const noexcept;
    /// Lowered below the number of workers: they leave as they become idle.
    /// \throws std::invalid_argument if zero, below the core size or over largest_pool; nothing changed
    void set_maximum_size(std::size_t n);
    [[nodiscard]] std::chrono::nanoseconds keep_alive() const noexcept;
    /// \throws std::invalid_argument if negative, or zero while core threads may time out; nothing changed
    void set_keep_alive(duration_setting d);
    [[nodiscard]] bool core_threads_may_time_out() const noexcept;
    /// \throws std::invalid_argument if turned on with a keep-alive of zero; nothing changed
    void allow_core_threads_to_time_out(bool allow);
    [[nodiscard]] rejection_policy rejection() const;
    /// \throws std::invalid_argument if empty; nothing changed
    void set_rejection(rejection_policy policy);
    [[nodiscard]] spool::thread_factory thread_factory() const;
    /// \throws std::invalid_argument if empty; nothing changed
    void set_thread_factory(spool::thread_factory factory);

    /// Starts a core worker that waits for work. False if all are there already, or it could not be started.
    bool prestart_core_thread();
    /// Starts all of them, and says how many.
    std::size_t prestart_all_core_threads();

    // ---- The queue

    /// The queue itself, to look at. Taking from it or adding to it goes round the pool's counts and checks.
    [[nodiscard]] blocking_queue<task>& queue() noexcept;
    /// Takes a task out of the queue, unstarted; it is destroyed, its future cancelled. False if it is not there.
    bool remove(task_id id);
    template <class T>
    bool remove(const future<T>& f) {
        return remove(f.id());
    }
    /// Whether the task waits in the queue. It may be gone as soon as this has answered.
    [[nodiscard]] bool contains(task_id id) const;
    template <class T>
    [[nodiscard]] bool contains(const future<T>& f) const {
        return contains(f.id());
    }
    /// Takes every cancelled task out of the queue, and says how many: those whose future is cancelled, and those of execute() whose
    /// callable says is_cancelled() (see task).
    std::size_t purge();

    // ---- Numbers; exact at rest, else a value that each had during the call

    [[nodiscard]] std::size_t pool_size() const noexcept;
    [[nodiscard]] std::size_t active_count() const;
    [[nodiscard]] std::size_t largest_pool_size() const;
    [[nodiscard]] std::uint64_t task_count() const;
    [[nodiscard]] std::uint64_t completed_task_count() const;
    [[nodiscard]] std::uint64_t rejected_count() const noexcept;
    [[nodiscard]] pool_snapshot snapshot() const;
    /// For people: the snapshot, then a line per worker: idle, or which task it runs and for how long. Without task_times the age
    /// of a task counts from the first describe() that saw it. A pool without workers says if its last attempt to
    /// start a thread has failed, and why.
    [[nodiscard]] std::string describe() const;

protected:
    // ---- For pools derived from this one, whose tasks come back or wait for their time

    /// Every task goes through the queue, which says when it is due, by this clock (null: the real one): none is handed to a new
    /// worker as its first.
    struct queue_first {
        std::shared_ptr<clock_source> clock;
    };
    thread_pool_executor(pool_options options, queue_first how);

    /// Called by shutdown(), after the pool has stopped accepting tasks: what is not to run any more is taken out of the queue
    /// here. A derived pool calls close() in its own destructor, while this can still be called.
    virtual void on_shutdown();

    /// How a task of the pool gets back into its queue. It may outlive the pool, and then refuses.
    class SPOOL_API way_back {
    public:
        /// False: `may_run` says no to the state that the pool is in, before or after; `work` is untouched.
        [[nodiscard]] bool requeue(task& work, function_ref<bool(run_state)> may_run) const;
        /// For what a task throws that goes on all the same: to the pool's `uncaught`, as from the current worker.
        void report(const std::exception_ptr& error) const noexcept;
        [[nodiscard]] bool terminates_on_uncaught() const noexcept;

    private:
        friend class thread_pool_executor;
        explicit way_back(std::weak_ptr<core> pool) noexcept : pool_(std::move(pool)) {}
        std::weak_ptr<core> pool_;
    };
    [[nodiscard]] way_back way_back_here() const;

    /// A forked child has made the pool anew (see fork_policy), and this is its queue, not in use yet: to be prepared as the constructor did.
    virtual void made_anew(blocking_queue<task>& queue, const void* home, way_back way) const;
    /// In a forked child that has not used the pool: a derived destructor then leaves it alone.
    [[nodiscard]] bool left_to_parent() const noexcept;

    /// To be called when tasks were taken out of the queue by other ways than through the pool: it may have been the last.
    void settle();

    /// What nested waits compare (see future_link).
    [[nodiscard]] const void* home() const noexcept;

private:
    friend struct abort_policy;
    friend struct discard_oldest_policy;
    friend struct block_policy;
    friend struct caller_runs_policy;
    friend class task_group;
    friend std::size_t detail::look_for_deadlocks();
    friend std::size_t detail::watched_waits();
    static std::size_t look_for_deadlocks();
    static std::size_t watched_waits();

    class fork_list;
    [[nodiscard]] core& use() const noexcept {
        core* const here = here_.load(std::memory_order_acquire);  // (F) pairs with make_anew()
        return here != nullptr ? *here : make_anew();
    }
    core& make_anew() const noexcept;

    mutable std::atomic<core*> here_{
        nullptr};  // core_, to be read by all; null in a forked child that has not used the pool
    mutable std::shared_ptr<core> core_;  // shared with the workers: one may outlive the pool (see Lifetime)
    mutable core* lost_ = nullptr;        // in a forked child: what the pool was in the parent
    // In the list of all pools, under its lock:
    thread_pool_executor* next_ = nullptr;
    thread_pool_executor** link_here_ = nullptr;  // what points at this one
};

}  // namespace spool::inline v1
