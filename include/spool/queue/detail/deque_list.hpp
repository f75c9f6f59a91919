// deque_list: all deques of a work_stealing_queue, and which threads own one.
//
// THE PROTOCOL
//
//     attach                                       detach
//     A1  acquires a deque without an owner, or    D1  elements left?
//         adds a new one at the head of the list   D2  releases the deque
//     A2  counts itself as awake                   D3  counts itself out
//         pushes, pops, steals ...                 D4  elements left: wakes all consumers
//
// Any thread may attach: a worker for life, a guest for as long as it has groups open. No other
// thread knows the difference.
//
// I1  A deque has one owner. A1 is a compare-exchange of its word owned_, or the deque is new.
// I2  A taker sees every deque that may hold elements. Deques are never removed. A new one is in
//     the list (L), by a seq_cst operation, before its owner pushes.
// I3  An element that is left behind is not forgotten. D1 reads what the owner itself pushed. A
//     consumer that looks after D2 finds the element. One that looked before, and sleeps or is
//     about to, is woken by D4: its announcement came before its look.
// I4  A consumer that goes to sleep makes a heavy barrier if an owner might push with a light one:
//     A2 and D3 are A1 and "counts itself out" of awake_consumers.hpp. A2 comes before the owner's
//     first push, D3 after its last.
//
// (L) the head of the list -> its load: the deque and its `next`.
// (O) of stealing_deque, D2 -> A1: everything that only the owner touches.
#pragma once

#include <memory>
#include <utility>

#include "spool/detail/atomics.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/queue/detail/awake_consumers.hpp"

namespace spool::inline v1::detail {

/// Atomics: std_atomics. Deque: a stealing_deque.
template <class Deque, class Atomics = std_atomics>
class deque_list {
public:
    deque_list() = default;
    deque_list(const deque_list&) = delete;
    deque_list& operator=(const deque_list&) = delete;
    ~deque_list() {
        for (Deque* d = head_.load(); d != nullptr;) {
            delete std::exchange(d, d->next);
        }
    }

    /// Any thread: the first deque; `next` leads to the others.
    [[nodiscard]] Deque* first() const noexcept { return head_.load(); }  // (L)

    /// Makes the calling thread the owner of a deque. All deques share the queue's `freeze_mutex`.
    /// \throws std::bad_alloc
    [[nodiscard]] Deque& attach(typename Atomics::mutex& freeze_mutex) {
        Deque* mine = head_.load();                        // (L)
        while (mine != nullptr && !mine->try_acquire()) {  // A1
            mine = mine->next;
        }
        if (mine == nullptr) {
            mine = std::make_unique<Deque>(freeze_mutex).release();
            mine->next = head_.load();
            SPOOL_PAUSE_POINT("work_stealing_queue: about to attach");
            while (!head_.compare_exchange_weak(mine->next, mine)) {  // A1 (L)
            }
        }
        awake.add();  // A2
        return *mine;
    }
    /// The owner gives its deque up. True: it must wake the other consumers (D4).
    [[nodiscard]] bool detach(Deque& mine) noexcept {
        const bool leftovers = mine.size() != 0;  // D1
        SPOOL_PAUSE_POINT("work_stealing_queue: about to detach");
        mine.release();  // D2
        awake.remove();  // D3
        return leftovers;
    }

    awake_consumers<Atomics> awake;

private:
    // Only grows, at the head. attach() writes it. Publishes the deques (L).
    typename Atomics::template atomic<Deque*> head_{nullptr};
};

}  // namespace spool::inline v1::detail
