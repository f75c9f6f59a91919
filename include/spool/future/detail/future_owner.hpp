// future_owner: which pool, or which timer queue, has the task of a future. It tells a forked
// child, the deadlock finder and timer_gate where the future is. It does not decide who starts the
// body: the future_word does.
#pragma once

#include <cstdint>

namespace spool::inline v1::detail {

/// Only the thread that has the task writes it; while the task lies in a queue, only that queue
/// does. A pool's address is compared, never dereferenced. A listed address is that of a
/// timer_gate, which is never freed.
class future_owner {
public:
    /// No pool has the task.
    constexpr future_owner() noexcept = default;
    /// The pool has the task: in its queue if the word says so, else in the hand of a worker.
    [[nodiscard]] static future_owner pool(const void* at) noexcept { return {at, use::pool}; }
    /// The task lies in the pool's queue, and no waiter may claim it.
    [[nodiscard]] static future_owner pool_only(const void* at) noexcept { return {at, use::pool_only}; }
    /// The state lies by itself in a queue, which it finds through `at`.
    [[nodiscard]] static future_owner listed(const void* at) noexcept { return {at, use::listed}; }

    [[nodiscard]] const void* address() const noexcept {
        return reinterpret_cast<const void*>(bits_ & ~mask);
    }
    [[nodiscard]] bool is_pool() const noexcept { return bits_ != 0 && !is_listed(); }
    [[nodiscard]] bool is_pool_only() const noexcept { return is(use::pool_only); }
    [[nodiscard]] bool is_listed() const noexcept { return is(use::listed); }
    friend bool operator==(future_owner, future_owner) noexcept = default;

private:
    enum class use : std::uintptr_t { pool, pool_only, listed };
    future_owner(const void* at, use how) noexcept
        : bits_(reinterpret_cast<std::uintptr_t>(at) | static_cast<std::uintptr_t>(how)) {}
    [[nodiscard]] bool is(use how) const noexcept {
        return (bits_ & mask) == static_cast<std::uintptr_t>(how);
    }

    static constexpr std::uintptr_t mask = 3;
    std::uintptr_t bits_ = 0;
};

}  // namespace spool::inline v1::detail
