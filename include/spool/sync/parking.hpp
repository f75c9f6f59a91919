// How a thread sleeps on a 32-bit word. Two forms of one contract, both always built:
//
//     park(word, expected, until)   sleeps while word == expected, at most until then. May return early for no reason.
//     unpark_one(word), unpark_all(word)   called after word was changed: wake a sleeper, or all.
//     unpark_all_later(word)        as unpark_all(), but they may sleep on until the answer is destroyed, and by then the word may be gone.
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
#include <utility>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/sync/spinning.hpp"
#include "spool/sync/wake_age.hpp"

namespace spool::inline v1 {

using parking_word = std::atomic<std::uint32_t>;

#if defined(__linux__)
/// The kernel's futex, with an absolute time-out on the monotonic clock. No state of its own.
class futex_parking {
public:
    using word = parking_word;
    using turns = spin_turns;
    using moment = spin_moment;
    using wake_moment = spool::wake_moment;
    SPOOL_API void park(const word& w, std::uint32_t expected, deadline until) noexcept;
    SPOOL_API void unpark_one(const word& w) noexcept;
    SPOOL_API void unpark_all(const word& w) noexcept;

    /// To wake those who sleep on a word the kernel does not look at it: its address is only a name. At worst it wakes somebody who
    /// sleeps on another word that is there by now, and every sleeper may be woken for no reason.
    class late_wake {
    public:
        late_wake() = default;
        explicit late_wake(const word& w) noexcept : name_(&w) {}
        late_wake(late_wake&& other) noexcept : name_(std::exchange(other.name_, nullptr)) {}
        late_wake& operator=(late_wake&& other) noexcept {
            std::swap(name_, other.name_);
            return *this;
        }
        ~late_wake() {
            if (name_ != nullptr) {
                wake();
            }
        }

    private:
        SPOOL_API void wake() const noexcept;

        const void* name_ = nullptr;
    };
    [[nodiscard]] static late_wake unpark_all_later(const word& w) noexcept { return late_wake{w}; }
};
#endif

/// Mutex and condition variable, for every other system.
class portable_parking {
public:
    using word = parking_word;
    using turns = spin_turns;
    using moment = spin_moment;
    using wake_moment = spool::wake_moment;
    SPOOL_API void park(const word& w, std::uint32_t expected, deadline until) noexcept;
    SPOOL_API void unpark_one(const word& w) noexcept;
    SPOOL_API void unpark_all(const word& w) noexcept;

    struct late_wake {};  // nothing is left to do: the condition variable would have to be there still
    [[nodiscard]] late_wake unpark_all_later(const word& w) noexcept {
        unpark_all(w);
        return {};
    }

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
