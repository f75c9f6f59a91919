// future_link: what a pool may do with the future behind a task. For those who write pools.
//
// NESTED WAITS
//
// A worker that waits (without limit) for a task which lies unstarted in its own pool's queue runs it right there. So two
// may want to start one body: the worker that polls its task, and the one that waits. claim() decides, once; the
// loser of a poll holds a husk, an entry without a body, and drops it without counting it.
//
// One word in the future says who may start its body:
//
//     null     nobody in particular: not submitted, or still waiting for room in a queue
//     a pool   it lies in that pool's queue (set before it can be polled): its waiters may claim it; with one of three marks:
//       kept     it lies there, and nobody may claim it
//       in hand  somebody has the task in hand: the worker that polled it
//       claimed  a waiting worker has claimed it, from "a pool" only and for good; all else moves freely until then
//     out      it was handed back
//
// FORKS
//
// In a forked child the tasks of the parent's pools are lost: nobody there runs them. So every pool and every timer queue says there that it
// is lost (lost_home), and a future that names such a home, and that is not done, is cancelled for whoever asks. Nothing is written
// for that, nothing of its task is destroyed, and callbacks that the parent had registered are not called.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <stop_token>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/base/task.hpp"
#include "spool/base/task_scope.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

namespace detail {
class future_core;
}

/// The future whose body a task is; refers to it, and is valid as long as the task or a handle lives.
class SPOOL_API future_link {
public:
    /// Without a future, if the task is not the body of one.
    explicit future_link(const task& work) noexcept
        : core_(static_cast<detail::future_core*>(work.shared_state())) {}
    explicit future_link(detail::future_core& core) noexcept : core_(&core) {}

    explicit operator bool() const noexcept { return core_ != nullptr; }

    /// Says that workers of `pool` may claim it while they wait for it; null: nobody may. False: one has claimed it already.
    /// (Pools are named by an address whose two low bits are zero.)
    [[nodiscard]] bool set_home(const void* pool) const noexcept;
    /// It is about to lie in that pool's queue, and nobody may claim it.
    void set_keeper(const void* pool) const noexcept;
    /// When it was submitted, for the hooks.
    void set_submitted(std::chrono::steady_clock::time_point when) const noexcept;
    [[nodiscard]] std::chrono::steady_clock::time_point submitted() const noexcept;
    [[nodiscard]] int priority() const noexcept;
    /// The task is in the hand of `pool` and about to run. False: a waiter has claimed the body, and this is only the husk.
    [[nodiscard]] bool claim(const void* pool) const noexcept;
    /// The same for a task that is handed back: afterwards nobody can claim it. False: it was only a husk.
    [[nodiscard]] bool take_home_away() const noexcept;
    /// A waiter has claimed the body, so its task is a husk.
    [[nodiscard]] bool is_husk() const noexcept;
    [[nodiscard]] bool is_cancelled() const noexcept;
    /// How often it has been run, if it is periodic.
    [[nodiscard]] std::uint64_t runs() const noexcept;
    [[nodiscard]] task_id id() const noexcept;

    /// Who could bring it on; `unknown` also when it is done, or between two states.
    enum class whereabout {
        unknown,
        queued,   ///< it lies in the queue of `home`
        running,  ///< a worker runs it in `scope`
    };
    /// Whether a queued task may run; `unknown`: only its queue can tell.
    enum class readiness { due, not_due, unknown };
    struct place {
        whereabout where = whereabout::unknown;
        const void* home = nullptr;
        const task_scope* scope = nullptr;
        readiness ready = readiness::due;
        bool operator==(const place&) const = default;
    };
    [[nodiscard]] place whereabouts() const;

    /// For the waiter that claimed it: runs the body in the current scope.
    void run() const;
    /// For the waiter that claimed it and cannot run it.
    void cancel() const;

private:
    detail::future_core* core_;
};

/// For a task that waits for room: keeps its future's state alive, so that it can be told its home once it is in.
class SPOOL_API late_home {
public:
    explicit late_home(const task& work) noexcept;
    late_home(const late_home&) = delete;
    late_home& operator=(const late_home&) = delete;
    ~late_home();
    /// It got in. Does nothing if it has been polled or handed back since.
    void set(const void* pool) const noexcept;

private:
    detail::future_core* core_;  // null: not the body of a future
};

/// A home of futures that a forked child has lost; a member of each that can be.
class SPOOL_API lost_home {
public:
    lost_home() = default;
    lost_home(const lost_home&) = delete;
    lost_home& operator=(const lost_home&) = delete;

    /// In a forked child, while it has a single thread. The object stays for as long as the process.
    void lose(const void* home) noexcept;
    [[nodiscard]] static bool is_lost(const void* home) noexcept;

private:
    const void* home_ = nullptr;
    const lost_home* next_ = nullptr;
};

/// In a forked child, on its only thread, before anything else: ids, scopes and futures are told from the parent's.
SPOOL_API void survive_fork() noexcept;

/// A worker thread that can run what it waits for. Its pool makes it known on the thread, for as long as the thread works.
/// A thread may be a worker of several pools, one inside the other: a thread factory may run a worker as a task of another
/// pool. Code that asks whether this thread is a worker of a pool walks from current() through outer().
class SPOOL_API nested_waiter {
public:
    /// On the thread itself; the waiter that is current() now becomes the outer one.
    explicit nested_waiter(const void* home) noexcept : home_(home), outer_(current_) {}
    nested_waiter(const nested_waiter&) = delete;
    nested_waiter& operator=(const nested_waiter&) = delete;

    [[nodiscard]] static nested_waiter* current() noexcept { return current_; }
    static void set_current(nested_waiter* waiter) noexcept { current_ = waiter; }

    /// The waiter around this one on the same thread, or null.
    [[nodiscard]] nested_waiter* outer() const noexcept { return outer_; }
    /// The pool whose worker it is.
    [[nodiscard]] const void* home() const noexcept { return home_; }
    /// Asked before a claim of that task: enough stack is left, and the worker is not about to stop.
    [[nodiscard]] virtual bool may_run_here(task_id id) const noexcept = 0;
    /// Runs the body, as if its task had been polled. The claim is the waiter's; `stop`, which would end its wait, is passed on.
    virtual void run_here(future_link body, const std::stop_token& stop) = 0;
    /// The same for a task that the claim has taken out of the queue.
    virtual void run_here(task body, const std::stop_token& stop) = 0;
    /// The wait itself, up to a time and to a stop. The limits of each call replace those of the whole wait.
    using sleeper = function_ref<wait_result(const wait_limits&)>;
    /// A wait for any of these, without a limit, has lasted for `patience`: the rest of it. The answer is that of `sleep`, unless the
    /// time of one sleep is over or the pool has called the waiter. May throw what a pool does about deadlocks.
    virtual wait_result wait_for(std::span<const future_link> any, const std::stop_token& stop,
                                 sleeper sleep);
    static constexpr std::chrono::milliseconds patience{100};

    /// A whole wait of this thread, without a limit.
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
