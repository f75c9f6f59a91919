#include "base/fork/fork_registry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>

#include "spool/base/task_id.hpp"
#include "spool/detail/task_scope.hpp"

#if __has_include(<pthread.h>) && __has_include(<unistd.h>)
#define SPOOL_HAS_FORK 1
#include <pthread.h>
#include <unistd.h>
#else
#define SPOOL_HAS_FORK 0
#endif

namespace spool::inline v1::detail {
namespace {

// Written only while the process has a single thread.
constinit const abandonable* abandoned = nullptr;

#if SPOOL_HAS_FORK

// Written during static initialisation.
constinit std::array<fork_participant, static_cast<std::size_t>(fork_order::count)> participants{};

void acquire(const fork_participant& p) SPOOL_UNCHECKED_LOCKS {
    if (p.guard != nullptr) {
        p.guard->lock();
    }
}
void release(const fork_participant& p) noexcept SPOOL_UNCHECKED_LOCKS {
    if (p.guard != nullptr) {
        p.guard->unlock();
    }
}

void before_fork() {
    std::for_each(participants.rbegin(), participants.rend(), acquire);
}
void in_parent() {
    std::for_each(participants.begin(), participants.end(), release);
}
void in_child() {
    restart_ids();
    task_scope::after_fork_in_child();
    for (const fork_participant& p : participants) {
        if (p.in_child != nullptr) {
            p.in_child();
        }
        release(p);
    }
}

#endif

}  // namespace

#if SPOOL_HAS_FORK

bool join_forks(fork_order place, fork_participant who) noexcept {
    static const bool watching = ::pthread_atfork(before_fork, in_parent, in_child) == 0;
    participants[static_cast<std::size_t>(place)] = who;
    return watching;
}

long process_id() noexcept {
    return ::getpid();
}

#else

bool join_forks(fork_order, fork_participant) noexcept {
    return false;
}

long process_id() noexcept {
    return 0;
}

#endif

void abandonable::abandon(const void* owner, std::shared_ptr<void> keep) noexcept {
    owner_ = owner;
    keep_ = std::move(keep);
    next_ = std::exchange(abandoned, this);
}

bool is_abandoned(const void* owner) noexcept {
    const abandonable* at = abandoned;
    while (at != nullptr && at->owner_ != owner) {
        at = at->next_;
    }
    return at != nullptr;
}

}  // namespace spool::inline v1::detail

namespace spool::inline v1 {
namespace {

// The open scopes of the thread that forked lie on its stack between these two; no other thread's
// scopes do. Written only while the process has a single thread.
constinit const task_scope* lowest_survivor = nullptr;
constinit const task_scope* highest_survivor = nullptr;

}  // namespace

void task_scope::after_fork_in_child() noexcept {
    lowest_survivor = highest_survivor = innermost_;
    for (task_scope* scope = innermost_; scope != nullptr; scope = scope->outer_) {
        // A thread that is gone may have held it in interrupt(), which leaves source_ intact.
        std::construct_at(&scope->mutex_);
        lowest_survivor = std::min(lowest_survivor, static_cast<const task_scope*>(scope), std::less<>{});
        highest_survivor = std::max(highest_survivor, static_cast<const task_scope*>(scope), std::less<>{});
    }
}

bool task_scope::is_of_forking_thread(const task_scope* scope) noexcept {
    return lowest_survivor != nullptr && !std::less<>{}(scope, lowest_survivor) &&
           !std::less<>{}(highest_survivor, scope);
}

}  // namespace spool::inline v1
