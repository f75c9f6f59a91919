// How a thread sleeps on a 32-bit word. Two forms of one contract, both always built:
//
//     park(word, expected, until)   sleeps while word == expected, at most until then. May return early for no reason.
//     unpark_one(word), unpark_all(word)   called after word was changed: wake a sleeper, or all.
//
// No wake is lost between the comparison and the sleep: the kernel compares under its own lock (futex), or both sides
// take the mutex (portable).
//
// Not std::atomic::wait or a semaphore: their timed forms poll with sleeps of up to 64 ms in libstdc++ 12, and the
// untimed ones have no deadline.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/sync/spinning.hpp"

namespace spool::inline v1 {

using parking_word = std::atomic<std::uint32_t>;

#if defined(__linux__)
/// The kernel's futex, with an absolute time-out on the monotonic clock. No state of its own.
class futex_parking {
public:
    using word = parking_word;
    using turns = spin_turns;
    using moment = spin_moment;
    SPOOL_API void park(const word& w, std::uint32_t expected, deadline until) noexcept;
    SPOOL_API void unpark_one(const word& w) noexcept;
    SPOOL_API void unpark_all(const word& w) noexcept;
};
#endif

/// Mutex and condition variable, for every other system.
class portable_parking {
public:
    using word = parking_word;
    using turns = spin_turns;
    using moment = spin_moment;
    SPOOL_API void park(const word& w, std::uint32_t expected, deadline until) noexcept;
    SPOOL_API void unpark_one(const word& w) noexcept;
    SPOOL_API void unpark_all(const word& w) noexcept;

private:
    void meet_sleepers() noexcept;

    std::mutex mutex_;
    std::condition_variable wake_;
};

#if defined(__linux__)
using default_parking = futex_parking;
#else
using default_parking = portable_parking;
#endif

}  // namespace spool::inline v1
