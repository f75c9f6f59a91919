// What happens with every task, in one place: the usual way in, out of the queue, and through a worker. Whatever is not usual goes the
// long way, which makes the same decisions (submission.cpp, worker_loop.cpp, worker_run.cpp).
#pragma once

#include <exception>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"

namespace spool::inline v1 {

// Around everything in a call on the pool that looks at the pool once the task may have run.
inline calls_under_way::entry thread_pool_executor::core::enter_call() noexcept {
    return {calls_, [this] { return self_service::of(*this) == nullptr; }};
}

// For a task that nobody has to be told of.
inline auto thread_pool_executor::core::admit_quickly(task& work) -> way_in {
    const task_id id = work.id();
    return {id, work.is_plain() && lets_in_quickly_ ? steps().admit_quickly(work) : quick_result::not_simple};
}

// The short way, or else the long one.
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

// Nobody looks on, nothing is measured, and what the task throws is reported at most. The scope is as new.
inline bool thread_pool_executor::core::run_quickly(worker& w, task_scope& scope, task& work) {
    w.current.store(work.id(), std::memory_order_relaxed);  // relaxed, statistic: describe()
    if (w.holds_first) [[unlikely]] {                       // it is counted since it was enrolled
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
    } catch (...) {  // what was thrown goes before the callable does
        fine = forgiven(w, scope, std::current_exception());
    }
    end_quickly(w, scope, work);
    return fine;
}

// Reaches nothing but what is the worker's own: the pool may have gone with the task.
inline void thread_pool_executor::core::end_quickly(worker& w, task_scope& scope, task& work) noexcept {
    work.clear();  // before it counts as completed
    count_end(w, 0);
    scope.reset_for(false);  // nothing that comes now may reach what the task left behind
}

// It throws nothing and has no scope of its own (see task_group), so without hooks it is only counted.
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
