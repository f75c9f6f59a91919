// The children that a group claims, where the queue keeps no store per consumer.
#include "pool/claimable_child.hpp"

#include <utility>

#include "pool/hot_path.hpp"
#include "pool/pool_core.hpp"
#include "spool/pool/task_group.hpp"

namespace spool::inline v1 {

// The maker is a worker that could not find the child in the queue. False, and `child` is as it was: the pool does not take it.
[[gnu::noinline]] bool task_group::fork_claimable(core& pool, task& child) {
    auto* const node =
        new detail::claimable_child(std::move(child));  // no memory: the child stays where it is
    task entry{std::in_place_type<detail::child_entry>, *node, this};
    bool taken = false;
    try {
        taken = pool.takes(entry);
    } catch (...) {  // from the queue, which has not taken it
    }
    if (!taken) {
        child = node->take();
        node->drop_reference();
        return false;
    }
    const detail::lock_guard lock{count_.guard};
    children_.append(*node, home_);
    return true;
}

// The children that no worker has polled, oldest first. False: there are none.
bool task_group::run_claimable(core& pool) {
    bool found = false;
    while (detail::claimable_child* const next = next_claimable()) {
        if (next->claim_by_waiter(home_)) {
            found = true;
            notice_stop();
            task child = next->take();
            pool.run_claimed_child(*static_cast<worker*>(worker_), future_link{*next}, child);
        }
        next->drop_reference();
    }
    return found;
}

detail::claimable_child* task_group::next_claimable() noexcept {
    const detail::lock_guard lock{count_.guard};
    return children_.pop_front();
}

// All children have ended, so no thread but the maker's refers to the list.
void task_group::drop_list() noexcept {
    while (detail::claimable_child* const next = next_claimable()) {
        next->drop_reference();
    }
}

// ---- The list

void detail::child_list::append(claimable_child& child, const void* home) noexcept {
    look_at_next(home);
    look_at_next(home);
    (last_ != nullptr ? last_->next : first_) = &child;
    last_ = &child;
}

void detail::child_list::look_at_next(const void* home) noexcept {
    claimable_child*& link = looked_at_ != nullptr ? looked_at_->next : first_;
    claimable_child* const child = link;
    if (child == nullptr || child->start() == home) {
        looked_at_ = child;
        return;
    }
    link = child->next;
    if (last_ == child) {
        last_ = looked_at_;
    }
    child
        ->drop_reference();  // runs no user code: a child that is not queued is in its entry's hands, or gone
}

detail::claimable_child* detail::child_list::pop_front() noexcept {
    claimable_child* const child = first_;
    if (child != nullptr) {
        first_ = child->next;
        last_ = last_ == child ? nullptr : last_;
        looked_at_ = looked_at_ == child ? nullptr : looked_at_;
    }
    return child;
}

}  // namespace spool::inline v1
