// task_runner: runs one task on a worker: the scope, the counts, the hooks, the times, and what the
// task throws.
//
// A task counts as started before its body begins, and as completed after its callable is destroyed.
//
// A task may destroy the pool. The worker's stage is then let_go, and the runner touches only the
// worker's own state any more.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>

#include "pool/pool.hpp"

namespace spool::inline v1 {

class task_runner {
public:
    explicit task_runner(detail::pool& pool) noexcept : pool_(pool) {}

    /// Runs a task of the worker's loop. Precondition: `scope` was reset for the task, and the task
    /// is claimed. Returns false if something threw and the worker must be replaced.
    bool run(worker& w, task_scope& scope, task& work) {
        // The second runner leaves pool_ of the first one in a register.
        return pool_.is_bare ? run_bare(w, scope, work) : task_runner{pool_}.run_observed(w, scope, work);
    }
    /// run() for a pool that measures: times the task if it is a sample.
    bool run_timed(worker& w, task_scope& scope, task& work);
    /// Runs a task inside another one on the same thread. What leaves its body goes to `*thrown` if
    /// `thrown` is not null, else to `uncaught`.
    void run_nested(worker& w, task& work, std::exception_ptr* thrown = nullptr);
    /// The same, and passes a stop of the task that waits for this one on to it.
    void run_nested(worker& w, task& work, const std::stop_token& stop);
    /// Runs the body of a future that the worker has claimed in a wait.
    void run_claimed(worker& w, future_link body, const std::stop_token& stop);
    /// Runs a child that a task_group dequeued.
    void run_child(worker& w, task& child);
    /// Runs a child that a task_group has claimed. The child's queue entry is then stale.
    void run_claimed_child(worker& w, future_link entry, task& child);

private:
    bool run_bare(worker& w, task_scope& scope, task& work);
    bool run_observed(worker& w, task_scope& scope, task& work);
    bool report_unless_normal(const worker& w, const task_scope& scope,
                              const std::exception_ptr& thrown) const noexcept;
    // `claimed`: the body that a waiter runs without its task.
    bool run_counted(worker& w, task_scope& scope, task& work, function_ref<void()> body, task_info& info,
                     std::exception_ptr* thrown = nullptr, const std::optional<future_link>& claimed = {});
    bool run_hooked(worker& w, task_scope& scope, task& work, function_ref<void()> body, task_info& info,
                    std::exception_ptr* to_caller);
    std::exception_ptr call(const task_scope& scope, function_ref<void()> body) const;
    void count_stale_entry() noexcept;
    [[nodiscard]] task_info info_of(const worker& w, const task& work) const;
    [[nodiscard]] task_info info_of(const worker& w, future_link body) const;
    static void end_bare(worker& w, task_scope& scope, task& work) noexcept;
    static void count_start(worker& w, std::uint32_t depth) noexcept;
    static void count_end(worker& w, std::uint32_t depth) noexcept;
    void stop_if_stopping(task_scope& scope) const;

    detail::pool& pool_;
};

// Exceptions are reported, not rethrown.
inline bool task_runner::run_bare(worker& w, task_scope& scope, task& work) {
    w.current.store(work.id(), std::memory_order_relaxed);  // relaxed, statistic: describe()
    if (w.holds_first) [[unlikely]] {                       // already counted by enlist()
        w.holds_first = false;
    } else {
        count_start(w, 1);
    }
    if (!runs_queue(pool_.control.load().state)) [[unlikely]] {
        task_runner{pool_}.stop_if_stopping(scope);
    }
    bool fine = false;
    try {
        work();
        end_bare(w, scope, work);
        return true;
    } catch (...) {  // destroys the exception before the callable
        fine = task_runner{pool_}.report_unless_normal(w, scope, std::current_exception());
    }
    end_bare(w, scope, work);
    return fine;
}

inline void task_runner::end_bare(worker& w, task_scope& scope, task& work) noexcept {
    work.clear();  // before it counts as completed
    count_end(w, 0);
    scope.reset();  // nothing that comes now may reach what the task left behind
}

// A child throws nothing and needs no scope of its own, so without hooks and times it is only
// counted.
inline void task_runner::run_child(worker& w, task& child) {
    // A child that is not plain is timed.
    if (pool_.config.hooks != nullptr || pool_.config.task_times || !child.is_plain()) [[unlikely]] {
        task_runner{pool_}.run_nested(w, child);
        return;
    }
    const std::uint32_t depth = w.depth.load(std::memory_order_relaxed);  // relaxed, owner
    count_start(w, depth);
    child();
    child.clear();
    count_end(w, depth);
}

// Only the worker itself writes these counters.
inline void task_runner::count_start(worker& w, std::uint32_t depth) noexcept {
    // relaxed, owner
    w.started.store(w.started.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // release: a reader that sees the worker busy sees the task in `started`
    w.depth.store(depth, std::memory_order_release);
}
inline void task_runner::count_end(worker& w, std::uint32_t depth) noexcept {
    // relaxed, owner
    w.completed.store(w.completed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // release: a reader that sees the worker idle sees the task in `completed`
    w.depth.store(depth, std::memory_order_release);
}

}  // namespace spool::inline v1
