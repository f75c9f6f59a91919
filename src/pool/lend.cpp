// An extra thread for a pool whose workers all wait: it runs one task and leaves. See
// deadlock_policy.
#include <algorithm>
#include <utility>

#include "pool/pool_core.hpp"

namespace spool::inline v1 {

// How many workers the pool can have. While the queue takes every task, the pool does not grow past
// the core size.
std::size_t thread_pool_executor::core::growth_limit() const noexcept {
    const admission::sizes now = sizes();
    const bool queue_takes_all = queue_first_ || backlog_.was_unbounded();
    return queue_takes_all ? std::max<std::size_t>(now.core, 1) : now.maximum;
}

// Whether the task is queued and due. Returns true if the queue throws: the extra thread asks the
// queue again, and reports what it throws.
bool thread_pool_executor::core::queue_has_due(task_id wanted) const noexcept {
    try {
        return backlog_.contains_due(wanted, now());
    } catch (...) {
        return true;
    }
}

// Starts an extra worker for the task `wanted` (0: for any). Returns false if the start failed.
bool thread_pool_executor::core::lend_thread(task_id wanted) noexcept {
    for (pool_control seen = control();;) {
        if (!runs_queue(seen.state) || seen.workers >= largest_pool) {
            return false;
        }
        if (control_.try_add_worker(seen)) {
            break;
        }
    }
    std::exception_ptr error;
    if (launch(nullptr, error, wanted) == start_result::started) {
        return true;
    }
    control_.release_worker();
    tell_of_free_place();
    guarded(pool_info_, [this] { try_terminate(); });
    if (error != nullptr) {
        uncaught(pool_info_, error);
    }
    return false;
}

// serve() for an extra worker: runs the task that it was started for, if the task is still queued,
// and counts the worker out.
auto thread_pool_executor::core::serve_lent(worker& w, task_scope& scope) -> served {
    const task_id wanted = *std::exchange(w.lent_for, std::nullopt);
    task next;
    try {
        if (wanted == 0) {
            static_cast<void>(backlog_.poll_into(next));
        } else {
            next = backlog_.take_if_due(wanted, now());
        }
    } catch (...) {  // from the queue, or no memory
        uncaught(w.info, std::current_exception());
    }
    if (backlog_.try_claim(next) && !next.empty()) {
        static_cast<void>(run(w, scope, next));  // no successor, whatever the task throws
        if (w.needs_attention && attend(w, scope, true) == served::let_go) {
            return served::let_go;
        }
    }
    control_.leave();
    return served::leave;
}

}  // namespace spool::inline v1
