// future_link: what a pool may do with the future behind a task. For pool implementations.
//
// NESTED WAITS
//
// A worker that waits (without limit) for an unstarted task in its own pool's queue runs the task
// itself. So two workers may want to start one body: the worker that polls the task, and the worker
// that waits. One compare-exchange decides. If the waiter wins, the poller holds a stale entry: a
// queue entry whose body a waiter runs. The poller drops a stale entry without counting it.
//
// One word in the future, the start word, says which thread may start the body:
//
//     null     no pool has the task: not submitted, or still waiting for room in a queue
//     a pool   the task lies in that pool's queue (set before it can be polled), and waiting
//              workers of that pool may claim it; or, with one of three marks:
//       kept     the task lies there, but no waiter may claim it
//       in hand  a thread has taken the task out of the queue: the worker that polled it
//       claimed  a waiting worker has claimed the body: only from an unmarked pool, and for good
//     out      the pool handed the task back
//
// Until a waiter claims the body, the word may move from any value to any other. While a scheduled
// future lies in a timer queue, the word names that queue's timer_gate instead of a pool.
//
// FORKS
//
// In a forked child the tasks of the parent's pools are lost: no thread runs them. So every pool
// and every timer_gate marks itself as lost there (lost_home). A future that names a lost home, and
// is not done, then reads as cancelled. Nothing is written for that, nothing of the task is
// destroyed, and callbacks that the parent registered are not called.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>
#include <typeinfo>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/base/task.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

namespace detail {
class future_core;
}

/// Refers to the future whose body a task is. Valid as long as the task or a handle lives.
class SPOOL_API future_link {
public:
    /// Refers to no future if the task is not the body of one.
    explicit future_link(const task& work) noexcept
        : core_(static_cast<detail::future_core*>(work.shared_state())) {}
    explicit future_link(detail::future_core& core) noexcept : core_(&core) {}

    explicit operator bool() const noexcept { return core_ != nullptr; }

    /// Lets waiting workers of `pool` claim the body; null: no worker may claim it. False: a waiter
    /// has claimed the body already. The two low bits of a pool's address must be zero.
    [[nodiscard]] bool set_home(const void* pool) const noexcept;
    /// Says that the task is about to enter the queue of `pool`, and that no waiter may claim it.
    void set_keeper(const void* pool) const noexcept;
    /// The submission time, for the hooks.
    void set_submitted(std::chrono::steady_clock::time_point when) const noexcept;
    [[nodiscard]] std::chrono::steady_clock::time_point submitted() const noexcept;
    [[nodiscard]] int priority() const noexcept;
    /// Claims the body for `pool`, which has taken the task out and is about to run it. False: a
    /// waiter has claimed the body, and the task is a stale entry.
    [[nodiscard]] bool claim(const void* pool) const noexcept;
    /// The same for a task that is handed back: afterwards no waiter can claim it. False: the task
    /// is a stale entry.
    [[nodiscard]] bool take_home_away() const noexcept;
    /// True if a waiter has claimed the body, so that its task is a stale entry.
    [[nodiscard]] bool is_stale() const noexcept;
    [[nodiscard]] bool is_cancelled() const noexcept;
    /// How many runs of a periodic task have begun; 0 for any other task.
    [[nodiscard]] std::uint64_t runs() const noexcept;
    [[nodiscard]] task_id id() const noexcept;
    /// What the body is, for measurements: the name that named() gave it, or null; and its type.
    /// Precondition: the body has not begun.
    [[nodiscard]] const char* kind() const noexcept;
    [[nodiscard]] const std::type_info& body_type() const noexcept;

    /// Where the task is, and so which pool or worker can complete it. `unknown` also if the future
    /// is done, or between two states.
    enum class whereabout {
        unknown,
        queued,   ///< in the queue of `home`
        running,  ///< a worker runs the body in `scope`
    };
    /// Whether a queued task may run now; `unknown`: only its queue can tell.
    enum class readiness { due, not_due, unknown };
    struct place {
        whereabout where = whereabout::unknown;
        const void* home = nullptr;
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

/// For a task that waits for room in a queue: keeps the state of its future alive, so that set()
/// can name the pool once the task is in the queue.
class SPOOL_API late_home {
public:
    explicit late_home(const task& work) noexcept;
    late_home(const late_home&) = delete;
    late_home& operator=(const late_home&) = delete;
    ~late_home();
    /// Says that the task is in the queue of `pool`. No effect if a worker has polled the task, or
    /// the pool has handed it back, meanwhile.
    void set(const void* pool) const noexcept;

private:
    detail::future_core* core_;  // null: not the body of a future
};

/// Marks a home of futures (a pool or a timer_gate) as lost in a forked child. A member of each
/// home.
class SPOOL_API lost_home {
public:
    lost_home() = default;
    lost_home(const lost_home&) = delete;
    lost_home& operator=(const lost_home&) = delete;

    /// For a forked child with a single thread. The object must exist until the process ends.
    void lose(const void* home) noexcept;
    [[nodiscard]] static bool is_lost(const void* home) noexcept;

private:
    const void* home_ = nullptr;
    const lost_home* next_ = nullptr;
};

/// A forked child calls this on its only thread, before anything else. Afterwards the library can
/// tell the child's ids, scopes and futures from the parent's.
SPOOL_API void after_fork_in_child() noexcept;

/// A worker thread that can run the task it waits for. Its pool registers it on the thread, for as
/// long as the thread works. A thread may be a worker of several pools, one inside the other: a
/// thread factory may run a worker as a task of another pool. To find out whether this thread is a
/// worker of a pool, walk from current() through outer().
class SPOOL_API nested_waiter {
public:
    /// Called on the worker's own thread. The waiter that is current() now becomes the outer one.
    explicit nested_waiter(const void* home) noexcept : home_(home), outer_(current_) {}
    nested_waiter(const nested_waiter&) = delete;
    nested_waiter& operator=(const nested_waiter&) = delete;

    [[nodiscard]] static nested_waiter* current() noexcept { return current_; }
    static void set_current(nested_waiter* waiter) noexcept { current_ = waiter; }

    /// The waiter around this one on the same thread, or null.
    [[nodiscard]] nested_waiter* outer() const noexcept { return outer_; }
    /// The pool that the worker belongs to.
    [[nodiscard]] const void* home() const noexcept { return home_; }
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
    /// The body of a future has failed on this thread; for the pool's count.
    virtual void body_failed() noexcept {}

    /// A whole wait of this thread, without limit, for any of these futures.
    static wait_result wait_here(std::span<const future_link> any, const std::stop_token& stop,
                                 sleeper sleep);

protected:
    ~nested_waiter() = default;

private:
    static constinit thread_local nested_waiter* current_;

    const void* const home_;
    nested_waiter* const outer_;
};

}  // namespace spool::inline v1
