// An extra thread for a pool whose workers all wait: it runs one task and leaves. See
// deadlock_policy.
#include <algorithm>
#include <utility>

#include "pool/pool.hpp"
#include "pool/task_runner.hpp"

namespace spool::inline v1 {

// How many workers the pool can have. While the queue takes every task, the pool does not grow past
// the core size.
std::size_t detail::pool::growth_limit() const noexcept {
    const admission::sizes now = settings.sizes();
    const bool queue_takes_all = config.queue_first || backlog.was_unbounded();
    return queue_takes_all ? std::max<std::size_t>(now.core, 1) : now.maximum;
}

// Whether the task is queued and due. Returns true if the queue throws: the extra thread asks the
// queue again, and reports what it throws.
bool detail::pool::queue_has_due(task_id wanted) const noexcept {
    try {
        return backlog.contains_due(wanted, config.now());
    } catch (...) {
        return true;
    }
}

// Starts an extra worker for the task `wanted` (0: for any). Returns false if the start failed.
bool detail::pool::lend_thread(task_id wanted) noexcept {
    for (pool_control seen = control.load();;) {
        if (!runs_queue(seen.state) || seen.workers >= largest_pool) {
            return false;
        }
        if (control.try_add_worker(seen)) {
            break;
        }
    }
    std::exception_ptr error;
    if (launch(nullptr, error, wanted) == start_result::started) {
        return true;
    }
    control.release_worker();
    tell_of_free_place();
    config.guarded(config.pool_info, [this] { try_terminate(); });
    if (error != nullptr) {
        config.uncaught(config.pool_info, error);
    }
    return false;
}

// serve() for an extra worker: runs the task that it was started for, if the task is still queued,
// and counts the worker out.
auto detail::pool::serve_lent(worker& w, task_scope& scope) -> served {
    const task_id wanted = *std::exchange(w.lent_for, std::nullopt);
    task next;
    try {
        if (wanted == 0) {
            static_cast<void>(backlog.poll_into(next));
        } else {
            next = backlog.take_if_due(wanted, config.now());
        }
    } catch (...) {  // from the queue, or no memory
        config.uncaught(w.info, std::current_exception());
    }
    if (backlog.try_claim(next) && !next.empty()) {
        scope.reset(next);
        static_cast<void>(task_runner{*this}.run(w, scope, next));  // no successor, whatever the task throws
        if (w.needs_attention && attend(w, scope, true) == served::let_go) {
            return served::let_go;
        }
    }
    control.leave();
    return served::leave;
}

}  // namespace spool::inline v1
