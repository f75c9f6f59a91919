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

/// Written once, by prepare_barriers(). Whoever uses a barrier was handed something that was made after that.
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
    // relaxed: it never changes after prepare_barriers(), which the caller has been told of
    if (detail::heavy_barrier_reaches_all.load(std::memory_order_relaxed)) [[likely]] {
        std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: the compiler's half; see above
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);  // seq_cst: both sides alike; see above
    }
#endif
}

/// A few microseconds.
SPOOL_API void heavy_barrier() noexcept;

}  // namespace spool::inline v1
