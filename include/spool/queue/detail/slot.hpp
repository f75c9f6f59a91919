// slot: holds one element of a lock-free queue, with a turn that says which thread owns the slot.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "spool/detail/atomics.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/queue/detail/element_move.hpp"

namespace spool::inline v1::detail {

/// 64 bytes if the element has at most 56. The thread that claimed a position may touch the slot
/// once the slot's turn has reached that position. Turns only grow, so no value occurs twice. (The
/// top bit marks a slot as released: see release().)
template <class T, class Atomics = std_atomics>
class alignas(std::max(cache_line, alignof(T))) slot {
public:
    using turn = std::uint64_t;

    /// Waits for turn `t`. The thread that sets the turn has already made its claim, so it is only
    /// a few instructions away.
    void await(turn t) const noexcept {
        // acquire (P): pairs with publish() and set_turn(); the slot is filled, or empty
        for (typename Atomics::backoff pause; turn_.load(std::memory_order_acquire) != t;) {
            pause();
        }
    }
    void publish(T&& x, turn t) noexcept {
        std::construct_at(storage(), std::move(x));
        SPOOL_PAUSE_POINT("slot: filled");
        set_turn(t);
    }
    void set_turn(turn t) noexcept {
        turn_.store(t, std::memory_order_release);  // release (P): publishes the slot to await()
    }
    /// The last access of the thread that emptied the slot, where no thread waits for the next
    /// turn.
    void release(turn t) noexcept {
        // release (L): publishes this thread's accesses to is_released()
        turn_.store(t | released_bit, std::memory_order_release);
    }
    [[nodiscard]] bool is_released(turn t) const noexcept {
        // acquire (L): pairs with release()
        return turn_.load(std::memory_order_acquire) == (t | released_bit);
    }

    [[nodiscard]] T& element() noexcept { return *std::launder(storage()); }
    void destroy() noexcept { std::destroy_at(&element()); }
    void destroy_moved_from() noexcept { detail::destroy_moved_from(element()); }
    /// Moves the element of `from`, which must be full, into this slot, which must be empty. The
    /// caller must have exclusive access to both slots.
    void move_from(slot& from) noexcept {
        std::construct_at(storage(), std::move(from.element()));
        from.destroy();
    }

private:
    static constexpr turn released_bit = turn{1} << 63;

    [[nodiscard]] T* storage() noexcept { return reinterpret_cast<T*>(storage_); }

    // Written by the thread that holds the claim; publishes the element.
    typename Atomics::template atomic<turn> turn_{0};
    alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace spool::inline v1::detail
