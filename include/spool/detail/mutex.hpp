// std::mutex and a lock guard with the annotations that Clang checks; libstdc++ has none.
#pragma once

#include <mutex>

#include "spool/detail/annotations.hpp"

namespace spool::inline v1::detail {

class SPOOL_CAPABILITY("mutex") mutex {
public:
    constexpr mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    void lock() SPOOL_ACQUIRE() { mutex_.lock(); }
    [[nodiscard]] bool try_lock() noexcept SPOOL_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
    void unlock() noexcept SPOOL_RELEASE() { mutex_.unlock(); }
    /// Tells Clang that the mutex is held where Clang cannot see it: inside a lambda, or where the
    /// lock was acquired under another name.
    void assert_held() const noexcept SPOOL_ASSERT_HELD() {}

private:
    std::mutex mutex_;
};

/// Holds a mutex for the lifetime of the guard.
class SPOOL_SCOPED_CAPABILITY lock_guard {
public:
    explicit lock_guard(mutex& m) SPOOL_ACQUIRE(m) : mutex_(m) { mutex_.lock(); }
    /// Adopts a mutex that the caller acquired with try_lock().
    lock_guard(mutex& m, std::adopt_lock_t) noexcept SPOOL_REQUIRES(m) : mutex_(m) {}
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;
    ~lock_guard() SPOOL_RELEASE() { mutex_.unlock(); }

private:
    mutex& mutex_;
};

}  // namespace spool::inline v1::detail
