// worker_wait_context: lets a worker that waits for a task of its own pool run it (see future_link).
#pragma once

#include "pool/pool.hpp"
#include "pool/worker/kept_tasks.hpp"
#include "pool/worker/task_runner.hpp"

namespace spool::inline v1 {

class worker_wait_context final : public nested_waiter {
public:
    worker_wait_context(detail::pool& pool, worker& w) noexcept
        : nested_waiter(&pool), pool_(pool), worker_(w) {
        set_current(this);
    }
    ~worker_wait_context() { set_current(nested_waiter::outer()); }

    /// A wait without stack room sleeps like that of any other thread. Exception: a task that this
    /// worker keeps, since no other thread would run the task while the worker waits.
    [[nodiscard]] bool may_run_here(task_id id) const noexcept override {
        const bool has_room =
            worker_.has_stack_room() || (worker_.has_kept(id) && !worker_.stack.is_exhausted());
        return has_room && worker_.stage == worker_stage::working;
    }
    void run_here(future_link body, const std::stop_token& stop) override {
        task_runner{pool_}.run_claimed(worker_, body, stop);
    }
    void run_here(task body, const std::stop_token& stop) override {
        task_runner{pool_}.run_nested(worker_, body, stop);
    }

    /// The worker of `pool` that the calling thread is, or null. If a factory has put several
    /// workers on one thread, the innermost.
    [[nodiscard]] static worker* of(const void* pool) noexcept {
        nested_waiter* at = current();
        while (at != nullptr && at->home() != pool) {
            at = at->outer();
        }
        return at != nullptr ? &static_cast<worker_wait_context*>(at)->worker_ : nullptr;
    }
    /// Calls `f` for each worker of `pool` that the calling thread is, the innermost first.
    template <class F>
    static void for_each_of(const void* pool, F&& f) {
        for (nested_waiter* at = current(); at != nullptr; at = at->outer()) {
            if (at->home() == pool) {
                f(static_cast<worker_wait_context*>(at)->worker_);
            }
        }
    }

    void body_failed() noexcept override { pool_.meter.count_failure(); }
    /// See deadlock_watch.
    wait_result wait_for(std::span<const future_link> any, const std::stop_token& stop,
                         sleeper sleep) override;
    [[nodiscard]] detail::pool& pool() const noexcept { return pool_; }
    [[nodiscard]] const worker& self() const noexcept { return worker_; }

    /// In a forked child: the running task has lost its pool, as if the task had destroyed it.
    void detach() noexcept {
        worker_.stage = worker_stage::detached;
        worker_.needs_attention = true;
    }
    /// For a wait that may last: offers the tasks that this thread's workers keep to other workers.
    /// Returns true if a worker still keeps tasks, because a queue is full.
    bool give_away_all_kept() noexcept {
        bool keeps_tasks = false;
        for (worker_wait_context* at = this; at != nullptr; at = at->outer()) {
            kept_tasks{at->pool_}.give_away(at->worker_);
            keeps_tasks = keeps_tasks || !at->worker_.kept.empty();
        }
        return keeps_tasks;
    }
    [[nodiscard]] worker_wait_context* outer() const noexcept {
        return dynamic_cast<worker_wait_context*>(nested_waiter::outer());
    }

private:
    detail::pool& pool_;
    worker& worker_;
};

}  // namespace spool::inline v1
