// barrier: asymmetric full fences, where one side pays for both.
//
// Two threads that each write one word and then read the other's need a full fence between the
// write and the read, on both sides. If one side does so with every task and the other seldom, the
// rare side can pay for both:
//
//     often                       seldom
//     write x                     write y
//     light_barrier()             heavy_barrier()
//     read y                      read x            one of the two sees the other's write
//
// The light barrier only keeps the compiler from reordering. The heavy barrier makes every thread
// of the process that runs at that moment execute a full fence (Linux: membarrier). If the light
// barrier came before that moment, the rare side's read sees x. If it comes after that moment, the
// frequent side's read sees y.
//
// Where the system has no such call, both barriers are full fences. They are also full fences for
// ThreadSanitizer, which must see each hand-over.
//
// The system may refuse the call later: a process may enter a sandbox (seccomp) that forbids
// membarrier. Then the first refused heavy_barrier() turns both barriers into full fences for good,
// and reports it on stderr:
//
//     H1  heavy_barrier_reaches_all = false, full fence
//     H2  wait for 10 ms
//     H3  uses_process_fence = false: from here on heavy_barrier() is a full fence and nothing else
//
// A light barrier that reads the flag after H1 is a full fence. A light barrier that read the flag
// before H1 leaves at most a store in the store buffer of its CPU, because the compiler moves no
// earlier store behind the read. Every CPU drains its store buffer within microseconds, at the
// latest when the thread is interrupted. So after H2 those stores are visible, and every later
// light barrier is a full fence. Each caller that is refused before H3 does H1 and H2 itself.
//
// If a sandbox kills the process instead (SECCOMP_RET_KILL), set SPOOL_FULL_FENCES=1 in the
// environment before the first pool is made. Both barriers are then full fences from the start, and
// the library never calls membarrier.
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

/// prepare_barriers() sets it. Every user of a barrier holds an object that was made after that
/// call. It may become false later (H1), never true.
SPOOL_API extern std::atomic<bool> heavy_barrier_reaches_all;

/// A full fence that ThreadSanitizer understands: a read-modify-write of one word that all such
/// fences share.
SPOOL_API void visible_fence() noexcept;

}  // namespace detail

/// Asks the system once whether it has the heavy barrier. Call it before the first use of either
/// barrier: in the constructor of the object that uses them.
SPOOL_API void prepare_barriers() noexcept;

inline void light_barrier() noexcept {
#if defined(SPOOL_SYMMETRIC_BARRIERS)
    detail::visible_fence();
#else
    // seq_cst: no earlier store sinks below the read
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // relaxed: prepare_barriers() set it before the caller could get here; H1 says when it changes
    if (detail::heavy_barrier_reaches_all.load(std::memory_order_relaxed)) [[likely]] {
        // seq_cst: the compiler's half; heavy_barrier() does the CPU's half
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        // seq_cst: both sides make a full fence
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
#endif
}

/// Takes a few microseconds, or 10 ms when the system refuses it for the first time.
SPOOL_API void heavy_barrier() noexcept;

}  // namespace spool::inline v1
