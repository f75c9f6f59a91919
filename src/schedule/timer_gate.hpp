// timer_gate: the way from a scheduled future to the queue that it lies in, for a cancel() that may come when the pool is long gone.
//
// A state in a timer queue names the queue's gate in its start word. Gates are never freed, only used again: so a gate that was read
// from that word can be locked whatever has happened since. The lock is the queue's own, and under it the word tells:
//
//     the word names this gate    the state lies in the queue behind it, and that queue lives
//     anything else               it does not
//
// Only the queue behind the gate makes the word name it, or no longer name it, and only under the lock; it takes every state out before it goes.
#pragma once

#include "spool/base/mutex.hpp"
#include "spool/future/future.hpp"
#include "spool/future/future_link.hpp"

namespace spool::inline v1::detail {

class timer_queue;

struct timer_gate {
    detail::mutex mutex;  // the queue's lock
    timer_queue* queue SPOOL_GUARDED_BY(mutex) =
        nullptr;                  // the queue behind it; null while it waits to be used again
    timer_gate* next = nullptr;   // in the list of those
    timer_gate* older = nullptr;  // in the list of all
    lost_home lost{};             // in a forked child; what names it then is the parent's

    [[nodiscard]] static timer_gate& open(timer_queue& queue);
    /// The queue is empty.
    void close() noexcept;

    /// The gate that the state names, locked, and its queue; without one if it lies in none. Unchecked, because whether it holds the
    /// lock is known only at run time.
    class visit {
    public:
        explicit visit(const future_core& timer) SPOOL_UNCHECKED_LOCKS;
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
