// Rejection policies: what happens to a task that the pool cannot take.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "spool/base/deadline.hpp"
#include "spool/base/error.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

class thread_pool_executor;

/// Throws rejected_execution to the submitter, with the pool, the reason and the numbers in it. The default.
struct abort_policy {
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Runs the task on the submitting thread, which slows the submitter down; what it throws comes out of execute(). Once
/// the pool is shut down, the task is dropped.
///
/// On a worker of the same pool the task runs like any other task of the pool: with hooks and a stop token, and
/// counted as completed (as well as rejected). after_execute gets what it throws; then execute() throws it, and
/// `uncaught` does not get it.
///
/// Such tasks nest, one inside the other, while a quarter of the worker's stack is free (see
/// worker_thread_options::stack_size). Beyond that execute() returns at once: the worker keeps the task and runs it
/// when its outermost task has ended, and then `uncaught` gets what it throws. A wait for its future runs it, as if it
/// were queued. Until it runs, it counts as queued, though remove(), purge() and shutdown_now() do not reach it; after
/// shutdown_now() it runs with a stop requested. shutdown(), close() and the destructor let it run.
struct caller_runs_policy {
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Drops the task. Its future is cancelled.
struct discard_policy {
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Drops the head of the queue (its future is cancelled) and tries again. With nothing to drop, or once the pool is shut
/// down, the task itself is dropped.
struct discard_oldest_policy {
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Makes the submitter wait until there is room, at most so long; then as abort_policy. On a worker of the same pool it runs
/// the task there and then instead: waiting for oneself would never end. The wait is interruptible by the
/// current task's stop.
///
/// On the worker the task runs like any other task of the pool: with hooks, counts and a stop token; `uncaught` gets
/// what it throws, and execute() returns. Where the stack has no room for it, the worker keeps it for later, as
/// caller_runs_policy says.
struct block_policy {
    duration_setting limit = std::chrono::nanoseconds::max();

    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Any callable void(task&&, rejection_reason, thread_pool_executor&). It is called on the submitting thread, with no lock
/// held; a task that it does not move from is destroyed afterwards, which makes its future cancelled. A shared handle:
/// copies are equal.
class rejection_policy {
public:
    rejection_policy() noexcept = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, rejection_policy> &&
                 std::invocable<std::decay_t<F>&, task&&, rejection_reason, thread_pool_executor&>)
    rejection_policy(F&& f) {
        if (!detail::is_empty_callable(f)) {
            handle_ = std::make_shared<const function>(std::forward<F>(f));
        }
    }

    void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const {
        (*handle_)(std::move(work), reason, pool);
    }
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    /// The same policy: one is a copy of the other.
    friend bool operator==(const rejection_policy&, const rejection_policy&) noexcept = default;

    /// The policy, if it is an F; else null.
    template <class F>
    [[nodiscard]] const F* target() const noexcept {
        return handle_ == nullptr ? nullptr : handle_->template target<F>();
    }

private:
    using function = std::function<void(task&&, rejection_reason, thread_pool_executor&)>;
    std::shared_ptr<const function> handle_;
};

}  // namespace spool::inline v1
