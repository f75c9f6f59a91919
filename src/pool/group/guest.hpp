// guest: a thread that is no worker of a pool, while it has open task groups on that pool.
//
// THE PROTOCOL
//
//     state      who moves it on             what the thread may do
//     outside    -                           add to the inbox, as any submitter
//     attached   enter(), at the first fork  add to the deque that it owns, pop there, steal
//     outside    leave(), when its last      -
//                group ends
//
// The thread itself makes every move; no other thread knows that the owner of a deque is a guest.
// deque_list.hpp has the protocol of attaching and detaching, and tests/model/guest_test.cpp
// explores it.
//
// A thread has one guest record per pool, however many groups it has open there, since groups may
// end in any order. On a queue without stores the record holds nothing but the bounds of the stack.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pool/threads/stack_room.hpp"
#include "spool/base/task.hpp"
#include "spool/queue/blocking_queue.hpp"

namespace spool::inline v1::detail {

class group_guest {
public:
    /// The calling thread becomes a guest of `pool`, or opens one more group there. Null: it is a
    /// guest of too many pools. The record belongs to the calling thread.
    [[nodiscard]] static group_guest* enter(const void* pool, blocking_queue<task>& queue) noexcept;
    /// One group has ended.
    void leave() noexcept;
    /// The same in a forked child, where the queue belongs to the parent: touches only this record.
    /// The deque stays owned for good, as the pool stays in memory for good.
    void forget() noexcept;

    [[nodiscard]] bool has_stack_room() const noexcept { return stack_.has_room(depth_); }
    /// Runs a child inside of the current frame. A child throws nothing.
    void run(task& child) {
        // relaxed, owner: only this thread uses it
        const std::uint32_t outer = depth_.load(std::memory_order_relaxed);
        depth_.store(outer + 1, std::memory_order_relaxed);  // relaxed, owner
        child();
        child.clear();
        depth_.store(outer, std::memory_order_relaxed);  // relaxed, owner
    }

private:
    static constexpr std::size_t most_pools = 4;  // that a thread has open groups on at a time

    // Not destroyed: groups may be used in destructors of thread_local objects.
    static constinit thread_local group_guest records_[most_pools];

    const void* pool_ = nullptr;
    blocking_queue<task>* queue_ = nullptr;
    std::size_t groups_ = 0;
    std::atomic<std::uint32_t> depth_{0};  // children that run, one inside the other
    stack_room stack_;
    bool knows_stack_ = false;
};

}  // namespace spool::inline v1::detail
