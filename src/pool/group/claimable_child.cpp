// The children that a group claims, if the queue keeps no store per consumer.
#include "pool/group/claimable_child.hpp"

#include <utility>

#include "pool/group/group_access.hpp"
#include "spool/pool/task_group.hpp"

namespace spool::inline v1 {

// For a maker that could not find the child in the queue. Returns false, and leaves
// `child` unchanged, if the pool refuses it.
[[gnu::noinline]] bool task_group::fork_claimable(task& child) {
    // Without memory this throws before it moves the child.
    auto* const node = new detail::claimable_child(std::move(child));
    task entry{std::in_place_type<detail::child_entry>, *node, this};
    bool taken = false;
    try {
        taken = detail::group_access{pool_}.try_fork(entry);
    } catch (...) {  // from the queue, which has not taken the entry
    }
    if (!taken) {
        child = node->take();
        node->drop_reference();
        return false;
    }
    const detail::lock_guard lock{count_.guard};
    children_.append(*node, pool_id_);
    return true;
}

// Runs the children that no worker has dequeued, oldest first. Returns false if there are none.
bool task_group::run_claimable() {
    bool found = false;
    while (detail::claimable_child* const next = next_claimable()) {
        if (next->try_claim(pool_id_)) {
            found = true;
            notice_stop();
            task child = next->take();
            detail::group_access{pool_}.run_claimed({worker_, guest_}, future_link{*next}, child);
        }
        next->drop_reference();
    }
    return found;
}

detail::claimable_child* task_group::next_claimable() noexcept {
    const detail::lock_guard lock{count_.guard};
    return children_.pop_front();
}

// All children have ended, so only the maker's thread refers to the list.
void task_group::drop_list() noexcept {
    while (detail::claimable_child* const next = next_claimable()) {
        next->drop_reference();
    }
}

// ---- The list

void detail::child_list::append(claimable_child& child, const void* pool) noexcept {
    look_at_next(pool);
    look_at_next(pool);
    (last_ != nullptr ? last_->next : first_) = &child;
    last_ = &child;
}

void detail::child_list::look_at_next(const void* pool) noexcept {
    claimable_child*& link = looked_at_ != nullptr ? looked_at_->next : first_;
    claimable_child* const child = link;
    if (child == nullptr || child->is_open_to(pool)) {
        looked_at_ = child;
        return;
    }
    link = child->next;
    if (last_ == child) {
        last_ = looked_at_;
    }
    // Runs no user code: a child that is not queued is held by its entry, or gone.
    child->drop_reference();
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
