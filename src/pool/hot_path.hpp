// The fast paths of a task: admission and dequeue.
//
// Admission: only a plain task, from execute(), try_execute() or a task_group, and not in a pool
// with task_times or queue_first. A task of submit() is the body of a future, so it is not plain
// and always takes the slow path (task_backlog::publish(), then admit()). So do tasks with a due time.
// Dequeue: every task, while the pool is running and not above its maximum size.
//
// In all other cases the slow path makes the same decisions (submission.cpp, worker_loop.cpp).
#pragma once

#include <exception>
#include <utility>

#include "pool/pool.hpp"
#include "pool/worker_wait_context.hpp"

namespace spool::inline v1 {

// Brackets the part of a call that reads the pool when the task may already have run.
inline calls_under_way::entry detail::pool::enter_call() noexcept {
    return {calls, [this] { return worker_wait_context::of(this) == nullptr; }};
}

// Fast path of admission: needs a plain task, with no future and no due time. Otherwise, and if
// lets_in_quickly is false, returns not_simple and does nothing.
inline auto detail::pool::admit_quickly(task& work) -> way_in {
    const task_id id = work.id();
    return {id, work.is_plain() && lets_in_quickly ? steps().admit_quickly(work) : quick_result::not_simple};
}

// Tries the fast path, then the slow path.
inline admission_result detail::pool::let_in(task& work, std::exception_ptr& start_error) {
    const calls_under_way::entry call = enter_call();
    const way_in way = admit_quickly(work);
    return way.how == quick_result::accepted ? admission_result::accepted : go_on(work, way, start_error);
}

inline bool detail::pool::takes(task& work) {
    const calls_under_way::entry call = enter_call();
    const way_in way = admit_quickly(work);
    return way.how == quick_result::accepted || takes_at_length(work, way);
}

// Fast path of fetch(): dequeues a task without waiting. Returns false if the queue is empty, the
// pool is shut down, or there are too many workers; fetch() then decides.
inline bool detail::pool::fetch_quickly(task& next) {
    const pool_control now = control.load();
    return accepts_tasks(now.state) && now.workers <= settings.maximum_size() && backlog.poll_into(next);
}

}  // namespace spool::inline v1
