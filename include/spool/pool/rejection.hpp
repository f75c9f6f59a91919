// Rejection policies: what happens to a task that the pool refuses. Each can be called in two
// forms. In the form without a context, for a policy that passes a task on to another one, a task
// counts as rejected already, except by discard_oldest_policy and block_policy.
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
#include "spool/pool/rejection_context.hpp"

namespace spool::inline v1 {

/// Throws rejected_execution to the submitter, with the pool, the reason and the pool's numbers in
/// it. The default.
struct abort_policy {
    SPOOL_API void operator()(task&& work, rejection_context& refusal) const;
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Runs the task on the submitting thread, which slows the submitter down; what the task throws
/// leaves execute(). Once the pool is shut down, the policy drops the task.
///
/// On a worker of the same pool the task runs like any other task of the pool: with hooks and a
/// stop token, and counted as completed (as well as rejected). after_execute gets what the task
/// throws; then execute() throws it, and `uncaught` does not get it.
///
/// Such tasks nest, one inside the other, while a quarter of the worker's stack is free (see
/// worker_thread_options::stack_size). Beyond that execute() returns at once: the worker keeps the
/// task and runs it when its outermost task has ended, and then `uncaught` gets what the task
/// throws. A wait for the task's future runs the task, as if it were queued. Until a kept task
/// runs, it counts as queued, though remove(), purge() and shutdown_now() do not reach it. After
/// shutdown_now() it runs with a stop requested. shutdown(), close() and the destructor let it run.
struct caller_runs_policy {
    SPOOL_API void operator()(task&& work, rejection_context& refusal) const;
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Drops the task, which cancels its future.
struct discard_policy {
    SPOOL_API void operator()(task&& work, rejection_context& refusal) const;
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Drops the head of the queue, which cancels its future, and tries again. The policy drops the
/// task itself if there is nothing to drop, the pool is shut down, or no thread can be started.
struct discard_oldest_policy {
    SPOOL_API void operator()(task&& work, rejection_context& refusal) const;
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Makes the submitter wait up to `limit` for room; then acts as abort_policy. A stop of the
/// current task interrupts the wait. On a worker of the same pool the policy runs the task at once
/// instead: a worker that waited for its own pool might wait for ever.
///
/// On the worker the task runs like any other task of the pool: with hooks, counts and a stop
/// token; `uncaught` gets what the task throws, and execute() returns. If the stack has no room for
/// the task, the worker keeps it for later, as described at caller_runs_policy.
struct block_policy {
    duration_setting limit = std::chrono::nanoseconds::max();

    SPOOL_API void operator()(task&& work, rejection_context& refusal) const;
    SPOOL_API void operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const;
};

/// Any callable void(task&&, rejection_context&), or void(task&&, rejection_reason,
/// thread_pool_executor&). The pool calls it on the submitting thread, with no lock held. The pool
/// then destroys a task that the policy did not move from, which cancels its future. Before a
/// policy of the second form the task counts as rejected. A shared handle: copies are equal.
class rejection_policy {
    template <class F>
    static constexpr bool takes_context = std::invocable<F&, task&&, rejection_context&>;
    template <class F>
    static constexpr bool takes_reason = std::invocable<F&, task&&, rejection_reason, thread_pool_executor&>;
    template <class F>
    struct adapter {
        F f;
        void operator()(task&& work, rejection_context& refusal) {
            refusal.give_up();
            f(std::move(work), refusal.reason(), refusal.pool());
        }
    };

public:
    rejection_policy() noexcept = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, rejection_policy> &&
                 (takes_context<std::decay_t<F>> || takes_reason<std::decay_t<F>>))
    rejection_policy(F&& f) {
        if (detail::is_empty_callable(f)) {
            return;
        }
        if constexpr (takes_context<std::decay_t<F>>) {
            handle_ = std::make_shared<const function>(std::forward<F>(f));
        } else {
            handle_ = std::make_shared<const function>(adapter<std::decay_t<F>>{std::forward<F>(f)});
        }
    }

    void operator()(task&& work, rejection_context& refusal) const { (*handle_)(std::move(work), refusal); }
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    /// The same policy: one is a copy of the other.
    friend bool operator==(const rejection_policy&, const rejection_policy&) noexcept = default;

    /// The policy, if it is an F; else null.
    template <class F>
    [[nodiscard]] const F* target() const noexcept {
        if (handle_ == nullptr) {
            return nullptr;
        }
        if constexpr (takes_context<F>) {
            return handle_->template target<F>();
        } else {
            const auto* adapted = handle_->template target<adapter<F>>();
            return adapted == nullptr ? nullptr : &adapted->f;
        }
    }

private:
    using function = std::function<void(task&&, rejection_context&)>;
    std::shared_ptr<const function> handle_;
};

}  // namespace spool::inline v1
