// Refused tasks that a worker of the pool runs itself: at once, or, without stack room, later.
//
// A rejection policy on a worker must not wait for room that only workers make. So the worker runs
// the task inside the task that submits it. Such tasks nest. Where the stack ends, the worker keeps
// the task in a list that only its own thread touches, and runs it when its outermost task has
// ended:
//
//     a task ends on the worker      attend() runs the list, in turns with the queue
//     a hook of the worker ends      run_kept(); after worker_started the first serve() attends
//     close() on the worker          run_kept(), before the queue
//     a wait for the task's future   the waiter claims it, as it claims a queued task; a stale
//                                    entry stays in the list
//     any other wait that lasts      give_away_kept() offers the list to the queue, for the other
//                                    workers
//
// A kept task counts as queued. shutdown_now() does not hand it back, because only the worker's own
// thread may touch the list: the task runs with a stop requested. In a forked child the list is
// lost, as the queue is.
#include <utility>

#include "pool/pool.hpp"
#include "pool/task_runner.hpp"
#include "pool/worker_wait_context.hpp"

namespace spool::inline v1 {

bool detail::pool::run_on_own_worker(task& work, thrown_to whom) {
    worker* const self = worker_wait_context::of(this);
    if (self == nullptr) {
        return false;
    }
    if (!self->has_stack_room()) {
        keep(*self, work);
        return true;
    }
    std::exception_ptr thrown;
    task_runner{*this}.run_nested(*self, work, whom == thrown_to::caller ? &thrown : nullptr);
    if (thrown != nullptr) {
        std::rethrow_exception(thrown);
    }
    return true;
}

// Throws only for lack of memory, or what the clock throws; then `work` is untouched.
void detail::pool::keep(worker& w, task& work) {
    std::list<task> one(1);
    backlog.publish(work);
    one.front() = std::move(work);
    w.kept.splice(w.kept.end(), one);
    w.needs_attention = true;
    backlog.add_kept();
}

bool detail::pool::take_kept(worker& w, task& next) noexcept {
    if (w.kept.empty()) {
        return false;
    }
    next = std::move(w.kept.front());
    w.kept.pop_front();
    backlog.remove_kept();
    return true;
}

// Precondition: inside a task or a hook. A kept task may detach the worker from its pool: it
// destroys the pool, or returns in a forked child.
void detail::pool::run_kept(worker& w) {
    for (task next; w.stage != worker_stage::let_go && take_kept(w, next);) {
        if (backlog.try_claim(next)) {
            task_runner{*this}.run_nested(w, next);
        }
    }
}

// Offers the kept tasks to the queue, as execute() does. What the queue refuses stays in the list.
void detail::pool::give_away_kept(worker& w) noexcept {
    config.guarded(w.info, [&] {
        while (!w.kept.empty() && accepts_tasks(control.load().state)) {
            task& next = w.kept.front();
            const ticket mine = ticket_of(next);
            std::exception_ptr start_error;
            if (!backlog.offer(next) || recheck(next, mine, start_error) != admission_result::accepted) {
                return;
            }
            w.kept.pop_front();
            backlog.remove_kept();
        }
    });
}

}  // namespace spool::inline v1
