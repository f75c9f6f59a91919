#include "pool/group/guest.hpp"

namespace spool::inline v1::detail {

constinit thread_local group_guest group_guest::records_[most_pools];

group_guest* group_guest::enter(const void* pool, blocking_queue<task>& queue) noexcept {
    group_guest* unused = nullptr;
    for (group_guest& record : records_) {
        if (record.groups_ != 0 && record.pool_ == pool) {
            ++record.groups_;
            return &record;
        }
        if (record.groups_ == 0 && unused == nullptr) {
            unused = &record;
        }
    }
    if (unused == nullptr) {
        return nullptr;
    }
    if (!unused->knows_stack_) {
        unused->stack_ = stack_room::of_this_thread();
        unused->knows_stack_ = true;
    }
    unused->pool_ = pool;
    unused->queue_ = &queue;
    unused->groups_ = 1;
    try {
        queue.attach_consumer();
    } catch (...) {
        // No memory for a deque: children go to the inbox, where the join finds them too.
    }
    return unused;
}

void group_guest::leave() noexcept {
    if (--groups_ == 0) {
        queue_->detach_consumer_for_now();
    }
}

void group_guest::forget() noexcept {
    --groups_;
}

}  // namespace spool::inline v1::detail
