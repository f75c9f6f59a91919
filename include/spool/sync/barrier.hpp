// barrier: a full fence of which one side pays for both.
//
// Two threads that each write one word and then read the other's need a full fence between the write and the read, on both sides. Where
// one side does that with every task, and the other seldom, the seldom one can pay for both:
//
//     often                       seldom
//     write x                     write y
//     light_barrier()             heavy_barrier()
//     read y                      read x            one of the two sees the other's write
//
// The light one keeps only the compiler from reordering. The heavy one makes every thread of the process that runs at that moment execute a
// full fence (Linux: membarrier). A thread whose light barrier came before that moment has its write visible to the read that
// follows; one whose light barrier comes after it sees y.
//
// Where the system cannot do that, and for ThreadSanitizer, which must see each hand-over, both are full fences.
//
// A system that could do it may refuse later: a process may enter a sandbox (seccomp) that forbids membarrier. Then the
// first refused heavy_barrier() makes both barriers full fences from there on, and says so on stderr:
//
//     H1  heavy_barrier_reaches_all = false, full fence
//     H2  wait for 10 ms
//     H3  uses_process_fence = false: from here on heavy_barrier() is a full fence and nothing else
//
// A light barrier that reads the flag after H1 is a full fence. One that read it before H1 leaves at most a store in the
// store buffer of its CPU, for the compiler moves no earlier store behind the read. Every CPU writes its store buffer back
// within microseconds, and at the latest when the thread is interrupted; so after H2 those stores are visible, and every
// light barrier that comes is a full fence. Each caller that is refused before H3 does H1 and H2 itself.
//
// A sandbox that ends the process instead (SECCOMP_RET_KILL) leaves no choice: there, set SPOOL_FULL_FENCES=1 in the
// environment before the first pool is made. Then both barriers are full fences from the start, and membarrier is never called.
#pragma once

#include <atomic>

#include "spool/base/export.hpp"

#if defined(__SANITIZE_THREAD__)
#define SPOOL_SYMMETRIC_BARRIERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SPOOL_SYMMETRIC_BARRIERS 1
#endif
#endif

namespace spool::inline v1 {

namespace detail {

/// Set by prepare_barriers(). Whoever uses a barrier was handed something that was made after that. It may become false
/// later (H1), never true.
SPOOL_API extern std::atomic<bool> heavy_barrier_reaches_all;

/// A full fence that ThreadSanitizer understands: all of them are read-modify-writes of one word.
SPOOL_API void visible_fence() noexcept;

}  // namespace detail

/// Asks the system, once. Before the first of the two barriers: in the constructor of what uses them.
SPOOL_API void prepare_barriers() noexcept;

inline void light_barrier() noexcept {
#if defined(SPOOL_SYMMETRIC_BARRIERS)
    detail::visible_fence();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: no earlier store sinks below the read
    // relaxed: prepare_barriers() set it before the caller could get here; see H1 for when it changes
    if (detail::heavy_barrier_reaches_all.load(std::memory_order_relaxed)) [[likely]] {
        std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: the compiler's half; see above
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);  // seq_cst: both sides alike; see above
    }
#endif
}

/// A few microseconds; 10 ms when the system refuses it for the first time.
SPOOL_API void heavy_barrier() noexcept;

}  // namespace spool::inline v1
