// slot: a place for one element in a lock-free queue, with a turn that says whose it is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "spool/base/cache_line.hpp"
#include "spool/base/pause_point.hpp"
#include "spool/queue/detail/moved_from.hpp"
#include "spool/sync/atomics.hpp"

namespace spool::inline v1::detail {

/// 64 bytes if the element has at most 56. Whoever holds the claim of a position may touch the slot once the turn has come
/// to it. Turns only grow, so none comes twice. (The top bit says of a turn that it is over: see leave().)
template <class T, class Atomics = std_atomics>
class alignas(std::max(cache_line, alignof(T))) slot {
public:
    using turn = std::uint64_t;

    /// The one who is to set it has made its claim already, so it is a few instructions away.
    void await(turn t) const noexcept {
        // acquire (P): with publish() and set_turn(), the element, or that it is gone
        for (typename Atomics::backoff pause; turn_.load(std::memory_order_acquire) != t;) {
            pause();
        }
    }
    void publish(T&& x, turn t) noexcept {
        std::construct_at(place(), std::move(x));
        SPOOL_PAUSE_POINT("slot: filled");
        set_turn(t);
    }
    void set_turn(turn t) noexcept {
        turn_.store(t, std::memory_order_release);  // release (P): hands the slot as it is to await()
    }
    /// The last touch of who has emptied it, where nobody waits for a next turn.
    void leave(turn t) noexcept {
        turn_.store(t | over, std::memory_order_release);  // release (L): to was_left(), what was done here
    }
    [[nodiscard]] bool was_left(turn t) const noexcept {
        return turn_.load(std::memory_order_acquire) == (t | over);  // acquire (L): with leave()
    }

    [[nodiscard]] T& element() noexcept { return *std::launder(place()); }
    void destroy() noexcept { std::destroy_at(&element()); }
    void destroy_moved_from() noexcept { detail::destroy_moved_from(element()); }
    /// `from`, which is full, becomes empty; this one, which is empty, full. Both by one who is alone with them.
    void take_over(slot& from) noexcept {
        std::construct_at(place(), std::move(from.element()));
        from.destroy();
    }

private:
    static constexpr turn over = turn{1} << 63;

    [[nodiscard]] T* place() noexcept { return reinterpret_cast<T*>(storage_); }

    typename Atomics::template atomic<turn> turn_{
        0};  // written by who holds the claim; publishes the element
    alignas(T) std::byte storage_[sizeof(T)];
};

}  // namespace spool::inline v1::detail
