// The fast paths of a task: admission, dequeue, and the run on a worker.
//
// Admission: only a plain task, from execute(), try_execute() or a task_group, and not in a pool
// with task_times or queue_first. A task of submit() is the body of a future, so it is not plain
// and always takes the slow path (task_backlog::publish(), then admit()). So do tasks with a due time.
// Dequeue: every task, while the pool is running and not above its maximum size.
// Run: every task that the worker loop takes, in a pool without hooks, without task_times, and
// without a terminating `uncaught` policy.
//
// In all other cases the slow path makes the same decisions (submission.cpp, worker_loop.cpp,
// worker_run.cpp).
#pragma once

#include <exception>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"

namespace spool::inline v1 {

// Brackets the part of a call that reads the pool when the task may already have run.
inline calls_under_way::entry thread_pool_executor::core::enter_call() noexcept {
    return {calls_, [this] { return self_service::of(*this) == nullptr; }};
}

// Fast path of admission: needs a plain task, with no future and no due time. Otherwise, and if
// lets_in_quickly_ is false, returns not_simple and does nothing.
inline auto thread_pool_executor::core::admit_quickly(task& work) -> way_in {
    const task_id id = work.id();
    return {id, work.is_plain() && lets_in_quickly_ ? steps().admit_quickly(work) : quick_result::not_simple};
}

// Tries the fast path, then the slow path.
inline admission_result thread_pool_executor::core::let_in(task& work, std::exception_ptr& start_error) {
    const calls_under_way::entry call = enter_call();
    const way_in way = admit_quickly(work);
    return way.how == quick_result::accepted ? admission_result::accepted : go_on(work, way, start_error);
}

inline bool thread_pool_executor::core::takes(task& work) {
    const calls_under_way::entry call = enter_call();
    const way_in way = admit_quickly(work);
    return way.how == quick_result::accepted || takes_at_length(work, way);
}

// Fast path of fetch(): dequeues a task without waiting. Returns false if the queue is empty, the
// pool is shut down, or there are too many workers; fetch() then decides.
inline bool thread_pool_executor::core::fetch_quickly(task& next) {
    const pool_control now = control();
    return accepts_tasks(now.state) && now.workers <= maximum_size_.load() && backlog_.poll_into(next);
}

// Fast path of run(): no hooks and no timing. Exceptions are reported, not rethrown. Returns false
// if the worker must be replaced. Precondition: `scope` was just reset.
inline bool thread_pool_executor::core::run_quickly(worker& w, task_scope& scope, task& work) {
    w.current.store(work.id(), std::memory_order_relaxed);  // relaxed, statistic: describe()
    if (w.holds_first) [[unlikely]] {                       // already counted by enlist()
        w.holds_first = false;
    } else {
        count_start(w, 1);
    }
    if (!runs_queue(control().state)) [[unlikely]] {
        stop_if_stopping(scope);
    }
    bool fine = false;
    try {
        work();
        end_quickly(w, scope, work);
        return true;
    } catch (...) {  // destroys the exception before the callable
        fine = forgiven(w, scope, std::current_exception());
    }
    end_quickly(w, scope, work);
    return fine;
}

// Touches only the worker's own state: the task may have destroyed the pool.
inline void thread_pool_executor::core::end_quickly(worker& w, task_scope& scope, task& work) noexcept {
    work.clear();  // before it counts as completed
    count_end(w, 0);
    scope.reset_for(false);  // nothing that comes now may reach what the task left behind
}

// Runs a child of a task_group. A child throws nothing and needs no scope of its own, so without
// hooks and times it is only counted.
inline void thread_pool_executor::core::run_child(worker& w, task& child) {
    if (hooks_ != nullptr || task_times_) [[unlikely]] {
        run_inside(w, child);
        return;
    }
    const std::uint32_t depth = w.depth.load(std::memory_order_relaxed);  // relaxed, owner
    count_start(w, depth);
    child();
    child.clear();
    count_end(w, depth);
}

// Only the worker itself writes these counters.
inline void thread_pool_executor::core::count_start(worker& w, std::uint32_t depth) noexcept {
    // relaxed, owner
    w.started.store(w.started.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // release: a reader that sees the worker busy sees the task in `started`
    w.depth.store(depth, std::memory_order_release);
}
inline void thread_pool_executor::core::count_end(worker& w, std::uint32_t depth) noexcept {
    // relaxed, owner
    w.completed.store(w.completed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // release: a reader that sees the worker idle sees the task in `completed`
    w.depth.store(depth, std::memory_order_release);
}

}  // namespace spool::inline v1
