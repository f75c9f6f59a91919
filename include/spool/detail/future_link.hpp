// future_link: what a pool may do with the future behind a task. For pool implementations.
//
// NESTED WAITS
//
// A worker that waits (without limit) for an unstarted task in its own pool's queue runs the task
// itself. So two workers may want to start one body: the worker that polls the task, and the
// worker that waits. One compare-exchange decides (see future_word.hpp). If the waiter wins, the
// poller holds a stale entry: a queue entry whose body a waiter runs. The poller drops a stale
// entry without counting it.
//
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/base/task.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

namespace detail {
class future_core;
enum class claim;
}

/// Refers to the future whose body a task is. Valid as long as the task or a handle lives.
class SPOOL_API future_link {
public:
    /// Refers to no future if the task is not the body of one.
    explicit future_link(const task& work) noexcept
        : core_(static_cast<detail::future_core*>(work.shared_state())) {}
    explicit future_link(detail::future_core& core) noexcept : core_(&core) {}

    explicit operator bool() const noexcept { return core_ != nullptr; }

    /// What a step of the thread that has the task found: see detail::claim.
    using claim = detail::claim;
    /// Before the task enters the queue of `pool`: lets waiting workers of `pool` claim the body.
    void publish(const void* pool) const noexcept;
    /// The same for a task that no waiter may claim.
    void publish_closed(const void* pool) const noexcept;
    /// Ends the publication of a task that the pool refuses.
    [[nodiscard]] claim withdraw() const noexcept;
    /// The submission time, for the hooks.
    void set_submitted(std::chrono::steady_clock::time_point when) const noexcept;
    [[nodiscard]] std::chrono::steady_clock::time_point submitted() const noexcept;
    [[nodiscard]] int priority() const noexcept;
    /// For a pool that has taken the task out: afterwards no waiter can claim the body.
    [[nodiscard]] claim try_hold() const noexcept;
    /// The same for a task that leaves the pool.
    [[nodiscard]] claim hand_back() const noexcept;
    /// The same for a worker of `pool`, and starts the body in `scope`. If it returns `mine`, the
    /// caller calls run_started() next.
    [[nodiscard]] claim try_start(const void* pool, task_scope& scope) const noexcept;
    void run_started(task_scope& scope) const;
    /// True if a waiter has claimed the body, so that its task is a stale entry.
    [[nodiscard]] bool is_stale() const noexcept;
    [[nodiscard]] bool is_cancelled() const noexcept;
    /// How many runs of a periodic task have begun; 0 for any other task.
    [[nodiscard]] std::uint64_t runs() const noexcept;
    [[nodiscard]] task_id id() const noexcept;

    /// Where the task is, and so which pool or worker can complete it. `unknown` also if the future
    /// is done, or between two states.
    enum class whereabout {
        unknown,
        queued,   ///< in the queue of `pool`
        running,  ///< a worker runs the body in `scope`
    };
    /// Whether a queued task may run now; `unknown`: only its queue can tell.
    enum class readiness { due, not_due, unknown };
    struct place {
        whereabout where = whereabout::unknown;
        const void* pool = nullptr;
        const task_scope* scope = nullptr;
        readiness ready = readiness::due;
        bool operator==(const place&) const = default;
    };
    [[nodiscard]] place whereabouts() const;

    /// Runs the body in the current scope. For the waiter that claimed it.
    void run() const;
    /// Cancels the future. For a waiter that claimed the body and cannot run it.
    void cancel() const;

private:
    detail::future_core* core_;
};

/// For a task that waits for room in the queue of a pool, and that waiters may claim only once it
/// is there. Keeps the state of its future alive.
class SPOOL_API late_publication {
public:
    late_publication(const task& work, const void* pool) noexcept;
    late_publication(const late_publication&) = delete;
    late_publication& operator=(const late_publication&) = delete;
    ~late_publication();
    /// The task is in the queue. No effect if a worker has polled it, or the pool has handed it
    /// back, meanwhile.
    void publish() const noexcept;
    /// The task is not in the queue, and the caller still has it.
    void withdraw() const noexcept;

private:
    detail::future_core* core_;  // null: no waiter may ever claim the task
    const void* pool_;
};

/// A worker thread that can run the task it waits for. Its pool registers it on the thread, for as
/// long as the thread works. A thread may be a worker of several pools, one inside the other: a
/// thread factory may run a worker as a task of another pool. To find out whether this thread is a
/// worker of a pool, walk from current() through outer().
class SPOOL_API nested_waiter {
public:
    /// Called on the worker's own thread. The waiter that is current() now becomes the outer one.
    explicit nested_waiter(const void* pool) noexcept : pool_(pool), outer_(current_) {}
    nested_waiter(const nested_waiter&) = delete;
    nested_waiter& operator=(const nested_waiter&) = delete;

    [[nodiscard]] static nested_waiter* current() noexcept { return current_; }
    static void set_current(nested_waiter* waiter) noexcept { current_ = waiter; }

    /// The waiter around this one on the same thread, or null.
    [[nodiscard]] nested_waiter* outer() const noexcept { return outer_; }
    /// The pool that the worker belongs to.
    [[nodiscard]] const void* pool_id() const noexcept { return pool_; }
    /// Asked before the waiter claims task `id`: true if enough stack is left and the worker is not
    /// about to stop.
    [[nodiscard]] virtual bool may_run_here(task_id id) const noexcept = 0;
    /// Runs the body as if the worker had polled its task. Precondition: this waiter has claimed
    /// the body. A request on `stop`, which would end the wait, also stops the body.
    virtual void run_here(future_link body, const std::stop_token& stop) = 0;
    /// The same for a task that the claim has removed from the queue.
    virtual void run_here(task body, const std::stop_token& stop) = 0;
    /// Does the waiting, until a time and a stop. The limits of each call replace those of the
    /// whole wait.
    using sleeper = function_ref<wait_result(const wait_limits&)>;
    /// The rest of a wait without limit for any of these futures, after the first `patience`.
    /// Sleeps again when one sleep has timed out, or when the pool has called the waiter; returns
    /// any other result of `sleep`. May throw what the pool's deadlock policy throws.
    virtual wait_result wait_for(std::span<const future_link> any, const std::stop_token& stop,
                                 sleeper sleep);
    static constexpr std::chrono::milliseconds patience{100};

    /// A whole wait of this thread, without limit, for any of these futures.
    static wait_result wait_here(std::span<const future_link> any, const std::stop_token& stop,
                                 sleeper sleep);

protected:
    ~nested_waiter() = default;

private:
    static constinit thread_local nested_waiter* current_;

    const void* const pool_;
    nested_waiter* const outer_;
};

}  // namespace spool::inline v1
