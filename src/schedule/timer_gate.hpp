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

#include <mutex>

#include "spool/future/future.hpp"

namespace spool::inline v1::detail {

class timer_queue;

struct timer_gate {
    std::mutex mutex;              // the queue's lock
    timer_queue* queue = nullptr;  // the queue behind it; null while it waits to be used again
    timer_gate* next = nullptr;    // in the list of those

    [[nodiscard]] static timer_gate& open(timer_queue& queue);
    /// The queue is empty.
    void close() noexcept;

    /// The gate that the state names, locked, and its queue; without one if it lies in none.
    class visit {
    public:
        explicit visit(const future_core& timer);
        explicit operator bool() const noexcept { return lock_.owns_lock(); }
        [[nodiscard]] timer_queue& queue() const noexcept { return *gate_->queue; }

    private:
        timer_gate* gate_ = nullptr;
        std::unique_lock<std::mutex> lock_;
    };
};

}  // namespace spool::inline v1::detail
