#include "spool/pool/rejection.hpp"

#include <utility>

#include "pool/pool.hpp"
#include "spool/detail/task_scope.hpp"

namespace spool::inline v1 {
namespace {

void run_here(task& work) {
    const task_scope scope{work};
    work();
}

}  // namespace

void abort_policy::operator()(task&&, rejection_reason reason, thread_pool_executor& pool) const {
    throw pool.use().rejection_error(reason);
}

void caller_runs_policy::operator()(task&& work, rejection_reason, thread_pool_executor& pool) const {
    task mine = std::move(work);
    if (!pool.is_shutdown() && !pool.use().run_on_own_worker(mine, detail::pool::thrown_to::caller)) {
        run_here(mine);
    }
}

void discard_policy::operator()(task&& work, rejection_reason, thread_pool_executor&) const {
    const task dropped = std::move(work);
}

void discard_oldest_policy::operator()(task&& work, rejection_reason reason,
                                       thread_pool_executor& pool) const {
    task mine = std::move(work);
    std::exception_ptr error;
    while (!pool.is_shutdown() && pool.use().evict_oldest()) {
        switch (pool.use().try_execute(mine, error)) {
            case admission_result::accepted: return;
            case admission_result::shut_down: reason = rejection_reason::shut_down; break;
            case admission_result::no_thread: reason = rejection_reason::no_thread; break;
            default: reason = rejection_reason::full; break;
        }
        if (reason != rejection_reason::full) {
            break;
        }
    }
    pool.use().count_rejection(mine, reason);
}

void block_policy::operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const {
    task mine = std::move(work);
    // The pool may be destroyed meanwhile.
    const std::shared_ptr<detail::pool> keep = pool.use().shared_from_this();
    if (reason == rejection_reason::full) {
        if (keep->run_on_own_worker(mine, detail::pool::thrown_to::uncaught)) {
            return;
        }
        switch (keep->execute_until(mine, deadline::after(std::chrono::nanoseconds{limit}),
                                    task_scope::current_token())) {
            case admission_result::accepted: return;
            case admission_result::shut_down: reason = rejection_reason::shut_down; break;
            case admission_result::no_thread: reason = rejection_reason::no_thread; break;
            case admission_result::full:
            case admission_result::timed_out: break;
        }
    }
    keep->count_rejection(mine, reason);
    throw keep->rejection_error(reason);
}

// ---- What the pool does with a task that it refuses

void detail::pool::reject(task&& work, rejection_reason reason) {
    task doomed = std::move(work);  // destroyed here if the policy does not move from it
    const rejection_policy policy = settings.rejection();
    // These two may get the task in after all. They count it themselves when they give up.
    if (policy.target<block_policy>() == nullptr && policy.target<discard_oldest_policy>() == nullptr) {
        count_rejection(doomed, reason);
    }
    policy(std::move(doomed), reason, owner_);
}

void detail::pool::count_rejection(const task& work, rejection_reason reason) {
    rejections.count();
    if (config.hooks != nullptr) {
        config.hooks->rejected({.id = work.id(), .priority = work.priority()}, reason);
    }
}

rejected_execution detail::pool::rejection_error(rejection_reason reason) const {
    return {reason, config.label, rejection_numbers()};
}

bool detail::pool::evict_oldest() {
    task victim;
    if (!backlog.evict_oldest(victim)) {
        return false;
    }
    if (!victim.empty()) {
        count_rejection(victim, rejection_reason::evicted);
    }
    return true;
}

}  // namespace spool::inline v1
