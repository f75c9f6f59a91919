// parking: how a thread sleeps on a 32-bit word. Two classes implement one contract. Linux builds
// both, other systems build the portable one:
//
//     park(word, expected, until)  sleeps while word == expected, at most until `until`; may return
//                                  spuriously
//     unpark_one(word),            wakes one sleeper, or all; the caller has changed the word
//     unpark_all(word)             before
//     unpark_all_later(word)       like unpark_all(), but the sleepers may sleep on until the
//                                  answer is destroyed; by then the word may be gone
//
// No wake-up is lost between the comparison and the sleep. The kernel compares under its own lock
// (futex), or both sides take the mutex (portable).
//
// Not std::atomic::wait or a semaphore: in libstdc++ 12 their timed forms poll with sleeps of up to
// 64 ms, and the untimed forms take no deadline.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/detail/wake_age.hpp"

namespace spool::inline v1 {

using parking_word = std::atomic<std::uint32_t>;

#if defined(__linux__)
/// The Linux futex, with an absolute time-out on the monotonic clock. It has no state of its own.
class futex_parking {
public:
    using word = parking_word;
    using spin_loop = spool::spin_loop;
    using spin_timestamp = spool::spin_timestamp;
    using wake_timestamp = spool::wake_timestamp;
    SPOOL_API void park(const word& w, std::uint32_t expected, deadline until) noexcept;
    SPOOL_API void unpark_one(const word& w) noexcept;
    SPOOL_API void unpark_all(const word& w) noexcept;

    /// The kernel uses the address of the word only as a key and does not read the word. If the
    /// memory has been reused, the call at worst wakes a sleeper on another word there. Every
    /// sleeper tolerates a spurious wake-up.
    class late_wake {
    public:
        late_wake() = default;
        explicit late_wake(const word& w) noexcept : address_(&w) {}
        late_wake(late_wake&& other) noexcept : address_(std::exchange(other.address_, nullptr)) {}
        late_wake& operator=(late_wake&& other) noexcept {
            std::swap(address_, other.address_);
            return *this;
        }
        ~late_wake() {
            if (address_ != nullptr) {
                wake();
            }
        }

    private:
        SPOOL_API void wake() const noexcept;

        const void* address_ = nullptr;
    };
    [[nodiscard]] static late_wake unpark_all_later(const word& w) noexcept { return late_wake{w}; }
};
#endif

/// A mutex and a condition variable, for every other system.
class portable_parking {
public:
    using word = parking_word;
    using spin_loop = spool::spin_loop;
    using spin_timestamp = spool::spin_timestamp;
    using wake_timestamp = spool::wake_timestamp;
    SPOOL_API void park(const word& w, std::uint32_t expected, deadline until) noexcept;
    SPOOL_API void unpark_one(const word& w) noexcept;
    SPOOL_API void unpark_all(const word& w) noexcept;

    // Empty: a late notify would need the condition variable to be alive still, so
    // unpark_all_later() wakes at once.
    struct late_wake {};
    [[nodiscard]] late_wake unpark_all_later(const word& w) noexcept {
        unpark_all(w);
        return {};
    }

private:
    void synchronize_with_sleepers() noexcept;

    std::mutex mutex_;
    std::condition_variable wake_;
};

#if defined(__linux__)
using default_parking = futex_parking;
#else
using default_parking = portable_parking;
#endif

}  // namespace spool::inline v1
