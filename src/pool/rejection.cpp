#include "spool/pool/rejection.hpp"

#include <utility>

#include "pool/pool_core.hpp"
#include "spool/base/task_scope.hpp"

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
    if (!pool.is_shutdown()) {
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
    const std::shared_ptr<thread_pool_executor::core> keep =
        pool.use().shared_from_this();  // it may be destroyed meanwhile
    thread_pool_executor::core& core = *keep;
    if (reason == rejection_reason::full) {
        if (core.on_own_worker()) {
            run_here(mine);
            return;
        }
        switch (core.execute_until(mine, deadline::after(std::chrono::nanoseconds{limit}),
                                   task_scope::current_token())) {
            case admission_result::accepted: return;
            case admission_result::shut_down: reason = rejection_reason::shut_down; break;
            case admission_result::no_thread: reason = rejection_reason::no_thread; break;
            case admission_result::full:
            case admission_result::timed_out: break;
        }
    }
    core.count_rejection(mine, reason);
    throw core.rejection_error(reason);
}

}  // namespace spool::inline v1
