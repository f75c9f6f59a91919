// awake_consumers: whether a consumer that goes to sleep must make a heavy barrier.
//
// A consumer of a work-stealing queue adds to its own deque with a light barrier, so another consumer
// that is about to sleep must make a heavy one (pair (B) of event_count). That is a system call, which
// interrupts every CPU of the process. It is needed only while a third party may be adding: an attached
// consumer that is not itself in a wait. This counts them.
//
//     a sleeper                                a consumer that wakes up, then adds
//     W1  announces itself as a waiter         A1  counts itself as awake
//     R1  counts itself out; if others are     A2  adds to its deque
//         awake: heavy barrier                 N2  looks for waiters
//     W3  looks at the deques
//
// R1 and A1 are seq_cst read-modify-writes of one word. If A1 comes first, R1 sees it, and the sleeper
// makes the barrier. If R1 comes first, A1 reads from it, so N2 sees W1, and the consumer wakes the
// sleeper. What a consumer added before it counted itself out, a later R1 makes visible in the same way.
#pragma once

#include "spool/sync/atomics.hpp"

namespace spool::inline v1::detail {

template <class Atomics = std_atomics>
class awake_consumers {
public:
    /// A consumer attaches, or its wait has ended: it may add from now on.
    void add() noexcept { count_.fetch_add(1); }  // A1
    /// A consumer detaches.
    void remove() noexcept { count_.fetch_sub(1); }
    /// A consumer is about to look for the last time before it sleeps. True: the look needs a heavy barrier.
    [[nodiscard]] bool rest() noexcept { return count_.fetch_sub(1) != 1; }  // R1
    /// The same for a thread that is not counted, or is counted out already.
    [[nodiscard]] bool has_any() noexcept { return count_.fetch_add(0) != 0; }  // R1

private:
    typename Atomics::template atomic<unsigned> count_{0};
};

}  // namespace spool::inline v1::detail
