// awake_consumers: decides whether a consumer that goes to sleep must make a heavy barrier.
//
// A consumer of a work-stealing queue adds to its own deque with a light barrier. So another
// consumer that is about to sleep must make a heavy barrier (pair (B) of event_count). A heavy
// barrier is a system call that interrupts every CPU of the process. It is needed only while
// another thread may add with a light barrier: an attached consumer that is not itself in a wait.
// This class counts those.
//
//     a sleeper                                a consumer that wakes up, then adds
//     W1  announces itself as a waiter         A1  counts itself as awake
//     R1  counts itself out; if any other is   A2  adds to its deque
//         awake: heavy barrier                 N2  looks for waiters
//     W3  looks at the deques
//
// R1 and A1 are seq_cst read-modify-writes of one word. If A1 comes first, R1 sees A1, and the
// sleeper makes the barrier. If R1 comes first, A1 reads from R1, so N2 sees W1, and the consumer
// wakes the sleeper. In the same way a later R1 makes visible what a consumer added before it
// counted itself out.
#pragma once

#include "spool/detail/atomics.hpp"

namespace spool::inline v1::detail {

template <class Atomics = std_atomics>
class awake_consumers {
public:
    /// A consumer attaches, or its wait ends: from now on it may add.
    void add() noexcept { count_.fetch_add(1); }  // A1
    /// A consumer detaches.
    void remove() noexcept { count_.fetch_sub(1); }
    /// A consumer is about to re-check the queue before it sleeps. True: it must make a heavy
    /// barrier.
    [[nodiscard]] bool remove_then_has_any() noexcept { return count_.fetch_sub(1) != 1; }  // R1
    /// Likewise for a thread that is not counted, or has already counted itself out.
    [[nodiscard]] bool has_any() noexcept { return count_.fetch_add(0) != 0; }  // R1

private:
    typename Atomics::template atomic<unsigned> count_{0};
};

}  // namespace spool::inline v1::detail
