// What happens with every task, in one place: the usual way in, out of the queue, and through a worker. Whatever is not usual goes the
// long way, which makes the same decisions (submission.cpp, worker_loop.cpp, worker_run.cpp).
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "pool/pool_core.hpp"

namespace spool::inline v1 {

// For a task that nobody has to be told of. None: not that simple, and nothing was done.
inline std::optional<admission_result> thread_pool_executor::core::admit_quickly(
    task& work, std::exception_ptr& start_error) {
    return work.is_plain() && !task_times_ ? steps().admit_quickly(work, start_error) : std::nullopt;
}

// The short way, or else the long one.
inline admission_result thread_pool_executor::core::let_in(task& work, std::exception_ptr& start_error) {
    const std::optional<admission_result> quick = admit_quickly(work, start_error);
    return quick.has_value() ? *quick : try_execute(work, start_error);
}

// The next task, if nothing has changed and there is one.
inline bool thread_pool_executor::core::fetch_quickly(task& next) {
    const pool_control now = control();
    if (!accepts_tasks(now.state) || now.workers > maximum_size_.load() || !queue_->poll_into(next)) {
        return false;
    }
    forget_poll_failures();
    return true;
}

// Decides only how long to back off. Written only if it changes: all workers come by here.
inline void thread_pool_executor::core::forget_poll_failures() noexcept {
    if (poll_failures_.load(std::memory_order_relaxed) != 0) {  // relaxed, hint
        poll_failures_.store(0, std::memory_order_relaxed);     // relaxed, hint
    }
}

// Nobody looks on, nothing is measured, and what the task throws is reported at most.
inline bool thread_pool_executor::core::run_quickly(worker& w, task_scope& scope, task& work) {
    scope.reset(work);
    w.current.store(work.id(), std::memory_order_relaxed);  // relaxed, statistic: describe()
    if (!std::exchange(w.holds_first, false)) {             // else it is counted since it was enrolled
        count_start(w, 1);
    }
    if (!runs_queue(control().state)) [[unlikely]] {
        stop_if_stopping(scope);
    }
    bool fine = true;
    try {
        work();
    } catch (...) {
        fine = forgiven(w, scope, std::current_exception());
    }
    if (w.stage == worker_stage::let_go) {
        return true;
    }
    work.clear();  // before it counts as completed
    count_end(w, 0);
    scope.reset_for(false);  // nothing that comes now may reach what the task left behind
    return fine;
}

// Only the worker itself writes these.
inline void thread_pool_executor::core::count_start(worker& w, std::uint32_t depth) noexcept {
    // relaxed, owner
    w.started.store(w.started.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    w.depth.store(depth, std::memory_order_release);  // release: who sees it busy sees it started
}
inline void thread_pool_executor::core::count_end(worker& w, std::uint32_t depth) noexcept {
    // relaxed, owner
    w.completed.store(w.completed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    w.depth.store(depth, std::memory_order_release);  // release: who sees it idle sees it completed
}

}  // namespace spool::inline v1
