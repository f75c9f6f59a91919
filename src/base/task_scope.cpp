#include "spool/detail/task_scope.hpp"

#include <memory>

#include "spool/base/clock_source.hpp"
#include "spool/base/task.hpp"

namespace spool::inline v1 {

constinit thread_local task_scope* task_scope::innermost_ = nullptr;

task_scope::task_scope() noexcept : outer_(innermost_) {
    innermost_ = this;
}

task_scope::task_scope(const task& work) noexcept : task_scope() {
    adoptable_ = work.adopts_scope();
}

task_scope::task_scope(of_future) noexcept : task_scope() {
    adoptable_ = true;
}

task_scope::~task_scope() {
    innermost_ = outer_;
    // stop_from_outer_ is destroyed before source_, which is declared first. Its destructor waits
    // for a forward_stop in progress.
}

bool task_scope::is_open_here(const task_scope* scope) noexcept {
    const task_scope* open = innermost_;
    while (open != nullptr && open != scope) {
        open = open->outer_;
    }
    return open != nullptr;
}

due_time task_scope::clock_now() noexcept {
    const task_scope* scope = innermost_;
    while (scope != nullptr && scope->clock_ == nullptr) {
        scope = scope->outer_;
    }
    return scope != nullptr ? scope->clock_->now() : due_time{due_time::clock::now()};
}

std::stop_token task_scope::current_token() {
    return innermost_ != nullptr ? innermost_->token() : std::stop_token{};
}

std::stop_token task_scope::current_token_or_none() noexcept {
    try {
        return current_token();
    } catch (...) {
        return {};
    }
}

std::stop_token task_scope::token() {
    // Link first: if that throws, nothing has changed. Do not call outer_->token() under mutex_.
    if (outer_ != nullptr && !stop_from_outer_.has_value()) {
        stop_from_outer_.emplace(outer_->token(), forward_stop{this});
    }
    const detail::lock_guard lock{mutex_};
    if (!source_.stop_possible()) {
        source_ = std::stop_source{};
        // relaxed, guarded: interrupt() writes it under mutex_, which we hold
        if (stopped_.load(std::memory_order_relaxed)) {
            source_.request_stop();  // nobody has the token yet, so no callback runs here
        }
    }
    token_issued_ = true;
    return source_.get_token();
}

std::stop_source task_scope::interrupt() noexcept {
    const detail::lock_guard lock{mutex_};
    stopped_.store(true, std::memory_order_release);  // release: pairs with stop_requested()
    return source_;
}

void task_scope::reset_stop_state() noexcept {
    stop_from_outer_.reset();
    token_issued_ = false;
    // Destroyed after the unlock: it runs no user code, but frees memory.
    std::stop_source old{std::nostopstate};
    const detail::lock_guard lock{mutex_};
    old.swap(source_);
    stopped_.store(false, std::memory_order_relaxed);  // relaxed, guarded by mutex_
}

task_scope* task_scope::adopt() noexcept {
    if (innermost_ == nullptr || !innermost_->adoptable_) {
        return nullptr;
    }
    innermost_->adoptable_ = false;
    return innermost_;
}

void task_scope::forward_stop::operator()() const noexcept {
    std::stop_source source = inner->interrupt();
    detail::request_stop_of(source);
}

}  // namespace spool::inline v1
