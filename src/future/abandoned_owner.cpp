// How a forked child reads the futures whose tasks the parent's pools held.
#include "spool/detail/future_link.hpp"
#include "spool/future/detail/future_core.hpp"

namespace spool::inline v1 {
namespace {

// Both are written only while the process has a single thread.
constinit const abandoned_owner* abandoned = nullptr;
constinit const void* survivor_mark = nullptr;  // names the thread that forked

}  // namespace

void abandoned_owner::abandon(const void* owner) noexcept {
    owner_ = owner;
    next_ = abandoned;
    abandoned = this;
}

bool abandoned_owner::is_abandoned(const void* owner) noexcept {
    const abandoned_owner* at = abandoned;
    while (at != nullptr && at->owner_ != owner) {
        at = at->next_;
    }
    return at != nullptr;
}

void detail::future_core::after_fork_in_child() noexcept {
    survivor_mark = mark_of_this_thread();
}

// The future is the parent's. If a pool of the parent has the task, no thread of the child
// completes the future. The exception is the thread that forked: it continues what it ran before.
detail::future_word detail::future_core::word_after_fork(future_word seen) const noexcept {
    if (!abandoned_owner::is_abandoned(owner_.load().address())) {
        return seen;
    }
    const bool goes_on = seen.now() == phase::running
                             ? task_scope::is_of_forking_thread(seen.who<task_scope>())
                             : seen == future_word{phase::completing, survivor_mark}.after(seen);
    return goes_on ? seen : future_word{phase::cancelled}.after(seen);
}

void after_fork_in_child() noexcept {
    detail::restart_ids_after_fork();
    task_scope::after_fork_in_child();
    detail::future_core::after_fork_in_child();
}

}  // namespace spool::inline v1
