// timer_gate: leads from a timer to the queue that it lies in. For a cancel(), which may come when
// the pool no longer exists.
//
// A timer in a queue names the queue's gate as its owner (future_owner). Gates are never freed,
// only reused. So a thread can lock a gate that it has read there, whatever has happened since.
// The gate's lock is the queue's own lock. Under the lock, the owner tells:
//
//     the owner is this gate      the timer lies in the queue behind the gate, and that queue lives
//     anything else               the timer does not lie there
//
// Only the queue behind the gate makes a timer name the gate, or stop naming it, and only under
// the lock. The queue removes every timer before it is destroyed.
#pragma once

#include "base/fork/fork_registry.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/schedule/detail/timer.hpp"

namespace spool::inline v1::detail {

class timer_queue;

struct timer_gate {
    detail::mutex mutex;  // the queue's lock
    // The queue behind the gate; null while the gate is unused.
    timer_queue* queue SPOOL_GUARDED_BY(mutex) = nullptr;
    timer_gate* next = nullptr;   // in the list of unused gates
    timer_gate* older = nullptr;  // in the list of all gates
    abandonable in_child{};       // see fork_registry.hpp

    [[nodiscard]] static timer_gate& open(timer_queue& queue);
    /// Precondition: the queue is empty.
    void close() noexcept;

    /// Locks the gate that the timer names, and gives access to its queue. False if the timer lies
    /// in no queue. Unchecked, because whether it holds the lock is known only at run time.
    class visit {
    public:
        explicit visit(const timer& t) SPOOL_UNCHECKED_LOCKS;
        visit(const visit&) = delete;
        visit& operator=(const visit&) = delete;
        ~visit() SPOOL_UNCHECKED_LOCKS {
            if (gate_ != nullptr) {
                gate_->mutex.unlock();
            }
        }
        explicit operator bool() const noexcept { return gate_ != nullptr; }
        [[nodiscard]] timer_queue& queue() const noexcept SPOOL_UNCHECKED_LOCKS { return *gate_->queue; }

    private:
        timer_gate* gate_ = nullptr;
    };
};

}  // namespace spool::inline v1::detail
