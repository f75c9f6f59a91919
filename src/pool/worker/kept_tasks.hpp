// kept_tasks: refused tasks that a worker of the pool runs itself: at once, or, without stack room,
// later.
//
// A rejection policy on a worker must not wait for room that only workers make. So the worker runs
// the task inside the task that submits it. Such tasks nest. Where the stack ends, the worker keeps
// the task in a list that only its own thread touches, and runs it when its outermost task has
// ended:
//
//     a task ends on the worker      worker_path::attend() runs the list, in turns with the queue
//     a hook of the worker ends      run_all(); after worker_started the first serve() attends
//     close() on the worker          run_all(), before the queue
//     a wait for the task's future   the waiter claims it, as it claims a queued task; a stale
//                                    entry stays in the list
//     any other wait that lasts      give_away() offers the list to the queue, for other workers
//
// A kept task counts as queued. shutdown_now() does not hand it back, because only the worker's own
// thread may touch the list: the task runs with a stop requested.
#pragma once

#include "pool/pool.hpp"

namespace spool::inline v1 {

class kept_tasks {
public:
    explicit kept_tasks(detail::pool& pool) noexcept : pool_(pool) {}

    /// For rejection policies on a worker of this pool: runs the task at once, as if dequeued, or
    /// keeps it for later. What the task throws goes to the caller or to `uncaught`. Returns false,
    /// and does nothing, on any other thread.
    enum class thrown_to { caller, uncaught };
    bool run_or_keep(task& work, thrown_to whom);
    bool take(worker& w, task& next) noexcept;
    /// Precondition: inside a task or a hook. A kept task may detach the worker from its pool: it
    /// destroys the pool, or returns in a forked child.
    void run_all(worker& w);
    /// Offers the kept tasks to the queue, as execute() does. What the queue refuses stays in the
    /// list.
    void give_away(worker& w) noexcept;

private:
    void keep(worker& w, task& work);

    detail::pool& pool_;
};

}  // namespace spool::inline v1
