// The rejection policies, and what the pool does with a task that it refuses.
#include "spool/pool/rejection.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "pool/admission_path.hpp"
#include "pool/rejection_path.hpp"
#include "pool/worker/kept_tasks.hpp"
#include "spool/detail/task_scope.hpp"

namespace spool::inline v1 {
namespace {

using detail::pool_access;

rejection_reason reason_of(admission_result how) noexcept {
    switch (how) {
        case admission_result::shut_down: return rejection_reason::shut_down;
        case admission_result::no_thread: return rejection_reason::no_thread;
        default: return rejection_reason::full;
    }
}

}  // namespace

void abort_policy::operator()(task&&, rejection_reason reason, thread_pool_executor& pool) const {
    throw rejection_path{pool_access::of(pool)}.error(reason);
}

void caller_runs_policy::operator()(task&& work, rejection_reason, thread_pool_executor& pool) const {
    task mine = std::move(work);
    if (!pool.is_shutdown() &&
        !kept_tasks{pool_access::of(pool)}.run_or_keep(mine, kept_tasks::thrown_to::caller)) {
        const task_scope scope{mine};
        mine();
    }
}

void discard_policy::operator()(task&& work, rejection_reason, thread_pool_executor&) const {
    const task dropped = std::move(work);
}

void discard_oldest_policy::operator()(task&& work, rejection_reason reason,
                                       thread_pool_executor& pool) const {
    task mine = std::move(work);
    detail::pool& here = pool_access::of(pool);
    std::exception_ptr error;
    while (!pool.is_shutdown() && rejection_path{here}.evict_oldest()) {
        const admission_result how = admission_path{here}.try_admit(mine, error);
        if (how == admission_result::accepted) {
            return;
        }
        reason = reason_of(how);
        if (reason != rejection_reason::full) {
            break;
        }
    }
    rejection_path{here}.count(mine, reason);
}

void block_policy::operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const {
    task mine = std::move(work);
    // The pool may be destroyed meanwhile.
    const std::shared_ptr<detail::pool> keep = pool_access::of(pool).shared_from_this();
    if (reason == rejection_reason::full) {
        if (kept_tasks{*keep}.run_or_keep(mine, kept_tasks::thrown_to::uncaught)) {
            return;
        }
        const admission_result how = admission_path{*keep}.execute_until(
            mine, deadline::after(std::chrono::nanoseconds{limit}), task_scope::current_token());
        if (how == admission_result::accepted) {
            return;
        }
        reason = reason_of(how);
    }
    rejection_path{*keep}.count(mine, reason);
    throw rejection_path{*keep}.error(reason);
}

// ---- What the pool does with a task that it refuses

void rejection_path::refuse(task&& work, admission_result how, const std::exception_ptr& start_error) {
    if (how == admission_result::accepted) {
        return;
    }
    if (how == admission_result::no_thread && start_error != nullptr) {
        const task refused = std::move(work);  // consumed, as a policy would
        count(refused, rejection_reason::no_thread);
        rethrow_start_error(start_error);
    }
    reject(std::move(work), reason_of(how));
}

void rejection_path::reject(task&& work, rejection_reason reason) {
    task doomed = std::move(work);  // destroyed here if the policy does not move from it
    const rejection_policy policy = pool_.settings.rejection();
    // These two may get the task in after all. They count it themselves when they give up.
    if (policy.target<block_policy>() == nullptr && policy.target<discard_oldest_policy>() == nullptr) {
        count(doomed, reason);
    }
    policy(std::move(doomed), reason, pool_.handle);
}

void rejection_path::count(const task& work, rejection_reason reason) {
    pool_.rejections.count();
    if (pool_.config.hooks != nullptr) {
        pool_.config.hooks->rejected({.id = work.id(), .priority = work.priority()}, reason);
    }
}

rejected_execution rejection_path::error(rejection_reason reason) const {
    return {reason, pool_.config.label, rejection_numbers(pool_)};
}

bool rejection_path::evict_oldest() {
    task victim;
    if (!pool_.backlog.evict_oldest(victim)) {
        return false;
    }
    if (!victim.empty()) {
        count(victim, rejection_reason::evicted);
    }
    return true;
}

// Throws what the factory threw, with the pool's name in front of the text where that keeps the
// type: a std::system_error (of std::thread and of our factory) or a std::runtime_error. Throws any
// other exception as it is.
void rejection_path::rethrow_start_error(const std::exception_ptr& error) const {
    const auto named = [this](const char* text) { return pool_.config.label + ": no thread: " + text; };
    try {
        std::rethrow_exception(error);
    } catch (const std::runtime_error& e) {
        std::exception_ptr better = error;
        try {
            if (typeid(e) == typeid(std::runtime_error)) {
                better = std::make_exception_ptr(std::runtime_error(named(e.what())));
            } else if (typeid(e) == typeid(std::system_error)) {
                const std::error_code code = static_cast<const std::system_error&>(e).code();
                std::string text = named(e.what());
                const std::string tail = ": " + code.message();  // the constructor adds it
                if (text.ends_with(tail)) {
                    text.resize(text.size() - tail.size());
                }
                better = std::make_exception_ptr(std::system_error(code, text));
            }
        } catch (const std::bad_alloc&) {  // then without the name
        }
        std::rethrow_exception(better);
    }
}

}  // namespace spool::inline v1
