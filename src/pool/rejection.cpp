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
#include "pool/worker/worker_wait_context.hpp"
#include "spool/detail/task_scope.hpp"

namespace spool::inline v1 {
namespace {

rejection_reason reason_of(admission_result how) noexcept {
    switch (how) {
        case admission_result::shut_down: return rejection_reason::shut_down;
        case admission_result::no_thread: return rejection_reason::no_thread;
        default: return rejection_reason::full;
    }
}

// For a policy that is called without a context.
template <class Policy>
void call(const Policy& policy, task&& work, rejection_reason reason, thread_pool_executor& pool,
          rejection_context::counted already) {
    rejection_context refusal{detail::pool_access::of(pool), work, reason, already};
    policy(std::move(work), refusal);
}

}  // namespace

// ---- The policies

void abort_policy::operator()(task&&, rejection_context& refusal) const {
    throw refusal.error();
}

void caller_runs_policy::operator()(task&& work, rejection_context& refusal) const {
    task mine = std::move(work);
    refusal.give_up();
    if (!refusal.pool().is_shutdown()) {
        refusal.run_here(mine);
    }
}

void discard_policy::operator()(task&& work, rejection_context& refusal) const {
    const task dropped = std::move(work);
    refusal.give_up();
}

void discard_oldest_policy::operator()(task&& work, rejection_context& refusal) const {
    task mine = std::move(work);
    while (!refusal.pool().is_shutdown() && refusal.evict_oldest()) {
        if (refusal.retry(mine) == admission_result::accepted) {
            return;
        }
        if (refusal.reason() != rejection_reason::full) {
            break;
        }
    }
    refusal.give_up();
}

void block_policy::operator()(task&& work, rejection_context& refusal) const {
    task mine = std::move(work);
    if (refusal.reason() == rejection_reason::full) {
        if (refusal.on_worker()) {
            refusal.run_here(mine, rejection_context::thrown_to::uncaught);
            return;
        }
        if (refusal.wait_for_room(mine, deadline::after(std::chrono::nanoseconds{limit})) ==
            admission_result::accepted) {
            return;
        }
    }
    throw refusal.error();
}

void abort_policy::operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const {
    call(*this, std::move(work), reason, pool, rejection_context::counted::yes);
}
void caller_runs_policy::operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const {
    call(*this, std::move(work), reason, pool, rejection_context::counted::yes);
}
void discard_policy::operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const {
    call(*this, std::move(work), reason, pool, rejection_context::counted::yes);
}
void discard_oldest_policy::operator()(task&& work, rejection_reason reason,
                                       thread_pool_executor& pool) const {
    call(*this, std::move(work), reason, pool, rejection_context::counted::no);
}
void block_policy::operator()(task&& work, rejection_reason reason, thread_pool_executor& pool) const {
    call(*this, std::move(work), reason, pool, rejection_context::counted::no);
}

// ---- rejection_context

rejection_context::rejection_context(detail::pool& pool, const task& work, rejection_reason reason,
                                     counted already)
    : pool_(pool.shared_from_this()),
      id_(work.id()),
      priority_(pool.config.hooks != nullptr ? work.priority() : 0),
      reason_(reason),
      counted_(already == counted::yes) {}
rejection_context::~rejection_context() = default;

thread_pool_executor& rejection_context::pool() const noexcept {
    return pool_->handle;
}
bool rejection_context::on_worker() const noexcept {
    return worker_wait_context::of(pool_.get()) != nullptr;
}

admission_result rejection_context::record(admission_result how) noexcept {
    settled_ = how == admission_result::accepted;
    reason_ = settled_ ? reason_ : reason_of(how);
    return how;
}
admission_result rejection_context::retry(task& work) {
    std::exception_ptr error;
    return record(admission_path{*pool_}.try_admit(work, error));
}
admission_result rejection_context::wait_for_room(task& work, deadline until, const std::stop_token& stop) {
    return record(admission_path{*pool_}.execute_until(work, until, stop));
}
admission_result rejection_context::wait_for_room(task& work, deadline until) {
    return wait_for_room(work, until, task_scope::current_token());
}

bool rejection_context::evict_oldest() {
    task victim;
    if (!pool_->backlog.evict_oldest(victim)) {
        return false;
    }
    if (!victim.empty()) {
        pool_->meter.count_taken_out();
        rejection_path{*pool_}.count(victim, rejection_reason::evicted);
    }
    return true;
}

void rejection_context::run_here(task& work, thrown_to whom) {
    task mine = std::move(work);
    settled_ = true;
    const auto on_worker =
        whom == thrown_to::caller ? kept_tasks::thrown_to::caller : kept_tasks::thrown_to::uncaught;
    if (kept_tasks{*pool_}.run_or_keep(mine, on_worker)) {
        return;
    }
    const task_scope scope{mine};
    if (whom == thrown_to::caller) {
        mine();
    } else {
        pool_->config.guarded(pool_->config.pool_info, mine);
    }
}

void rejection_context::give_up() {
    if (!std::exchange(counted_, true)) {
        rejection_path{*pool_}.count(id_, priority_, reason_);
    }
}
rejected_execution rejection_context::error() {
    give_up();
    return {reason_, pool_->config.label, rejection_numbers(*pool_)};
}
void rejection_context::close() {
    if (!settled_) {
        give_up();
    }
}

// ---- What the pool does with a task that it refuses

void rejection_path::refuse(task&& work, admission_result how, const std::exception_ptr& start_error) {
    if (how == admission_result::accepted) {
        return;
    }
    task doomed = std::move(work);  // destroyed here if the policy does not move from it
    rejection_context refusal{pool_, doomed, reason_of(how)};
    if (how == admission_result::no_thread && start_error != nullptr) {
        refusal.give_up();
        rethrow_start_error(start_error);
    }
    const rejection_policy policy = pool_.settings.rejection();
    try {
        policy(std::move(doomed), refusal);
    } catch (...) {
        refusal.close();
        throw;
    }
    refusal.close();
}

void rejection_path::count(const task& work, rejection_reason reason) {
    count(work.id(), pool_.config.hooks != nullptr ? work.priority() : 0, reason);
}
void rejection_path::count(task_id id, int priority, rejection_reason reason) {
    pool_.rejections.count(reason);
    if (pool_.config.hooks != nullptr) {
        pool_.config.hooks->rejected({.id = id, .priority = priority}, reason);
    }
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
