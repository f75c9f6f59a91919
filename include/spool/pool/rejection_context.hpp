// rejection_context: what a rejection policy may do with a task that the pool refuses.
#pragma once

#include <memory>
#include <stop_token>

#include "spool/base/deadline.hpp"
#include "spool/base/error.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task.hpp"
#include "spool/base/task_id.hpp"

namespace spool::inline v1 {

class thread_pool_executor;
enum class admission_result;

namespace detail {
struct pool;
}

/// One refusal. The pool passes it to its rejection policy together with the task:
///
///     // Waits for room, at most a second.
///     const auto patient = [](spool::task&& work, spool::rejection_context& refusal) {
///         const auto how = refusal.wait_for_room(work, spool::deadline::after(1s));
///         if (how != spool::admission_result::accepted) { throw refusal.error(); }
///     };
///     spool::thread_pool_executor pool({.queue = std::move(bounded), .rejection = patient});
///
/// The pool counts the task as rejected, and calls the `rejected` hook, once at most: when the
/// policy calls give_up() or error(), or when it returns or throws while the task was neither
/// accepted nor run.
///
/// Thread safety: only the thread that the policy was called on may use it, and only during the
/// call.
/// Lifetime: the pool's state outlives the call, also if another thread destroys the pool
/// meanwhile.
class SPOOL_API rejection_context {
public:
    /// The latest reason: retry() and wait_for_room() update it.
    [[nodiscard]] rejection_reason reason() const noexcept { return reason_; }
    /// Must not be used if another thread may destroy the pool meanwhile.
    [[nodiscard]] thread_pool_executor& pool() const noexcept;
    /// Whether the calling thread is a worker of the pool. Such a thread must not wait for room:
    /// only workers make room.
    [[nodiscard]] bool on_worker() const noexcept;

    /// Submits the task again, as try_execute(). Moves from `work` only if accepted.
    admission_result retry(task& work);
    /// Likewise, and waits for room, as execute_until(). \throws interrupted; deadlock
    admission_result wait_for_room(task& work, deadline until, const std::stop_token& stop);
    /// The same with the stop token of the current task.
    admission_result wait_for_room(task& work, deadline until = deadline::never());
    /// Drops the head of the queue, which cancels its future and counts as rejected. Returns false
    /// if the queue is empty.
    bool evict_oldest();

    /// Runs the task on this thread and consumes it. On a worker of the pool it runs like any other
    /// task of the pool; see caller_runs_policy. On another thread it runs in a scope of its own.
    /// What it throws goes to the caller or to `uncaught`.
    enum class thrown_to { caller, uncaught };
    void run_here(task& work, thrown_to whom = thrown_to::caller);

    /// Counts the task as rejected and calls the hook, unless that has happened.
    void give_up();
    /// give_up(), then what abort_policy throws.
    [[nodiscard]] rejected_execution error();

    // ---- For the pool

    /// `pool` has refused `work`. `already`: whether the task counts as rejected.
    enum class counted { no, yes };
    rejection_context(detail::pool& pool, const task& work, rejection_reason reason,
                      counted already = counted::no);
    rejection_context(const rejection_context&) = delete;
    rejection_context& operator=(const rejection_context&) = delete;
    ~rejection_context();
    /// After the policy: gives up unless the task was accepted or run.
    void close();

private:
    admission_result record(admission_result how) noexcept;

    const std::shared_ptr<detail::pool> pool_;
    const task_id id_;
    const int priority_;
    rejection_reason reason_;
    bool counted_;
    bool settled_ = false;  // the task was accepted, or run
};

}  // namespace spool::inline v1
