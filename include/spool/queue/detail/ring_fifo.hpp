// ring_fifo: the lock-free storage of array_blocking_queue.
//
// THE PROTOCOL
//
// A ring of slots whose number is a power of two. Position p (see fifo_end) has slot p mod the
// ring's size. Each slot carries a turn:
//
//     turn == p          free for the producer of p
//     turn == p + 1      holds the element of p
//     turn == p + ring   free for the producer of p + ring, the next lap
//
// The ring has at least two slots: with one, the last two turns would be equal.
//
// Push: claim the tail's position p if fewer than `capacity` elements are queued, wait until the
// slot's turn is p (the consumer of the last lap may still be moving its element out), move the
// element in, set the turn to p + 1. Pop: claim the head's position p if the tail is beyond p, wait
// for turn p + 1, move the element out, set the turn to p + ring. Both waits are for a thread that
// has already made its claim. A claim is refused when the queue is full, or empty. Then the thread
// reads the other end, seq_cst, which is what a waiter relies on (pair (S) of event_count: the
// claims are the seq_cst writes).
//
// Frozen ends refuse claims. Once every claimed slot is full, the freezer has exclusive access to
// all elements. Removal moves the surviving elements towards the tail, so that positions still only
// grow, and moves the head over the emptied slots.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/function_ref.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/queue/detail/fifo_end.hpp"
#include "spool/queue/detail/slot.hpp"

namespace spool::inline v1::detail {

template <class T>
class ring_fifo {
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "the elements of a lock-free queue must be movable without throwing");

public:
    /// \throws std::bad_alloc
    explicit ring_fifo(std::size_t capacity)
        : capacity_(capacity),
          mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2)) - 1),
          slots_(std::make_unique<slot<T>[]>(mask_ + 1)) {
        for (std::size_t i = 0; i <= mask_; ++i) {
            slots_[i].set_turn(i);
        }
    }
    ring_fifo(const ring_fifo&) = delete;
    ring_fifo& operator=(const ring_fifo&) = delete;
    ~ring_fifo() {
        while (try_pop().has_value()) {}
    }

    bool try_push(T& x) {
        for (;;) {
            fifo_end::view seen = tail_.load();
            if (seen.is_frozen()) {
                wait_for_thaw();
                continue;
            }
            if (!has_room(seen.position())) {
                return false;
            }
            SPOOL_PAUSE_POINT("ring_fifo: about to claim a slot");
            if (tail_.try_claim(seen)) {
                slot<T>& to = slot_of(seen.position());
                SPOOL_PAUSE_POINT("ring_fifo: claimed a slot");
                to.await(seen.position());
                to.publish(std::move(x), seen.position() + 1);
                return true;
            }
        }
    }

    /// Pops the head, if the queue is not empty: `take` moves the element out.
    template <class Take>
    bool try_pop_with(Take take) {
        for (;;) {
            fifo_end::view seen = head_.load();
            if (seen.is_frozen()) {
                wait_for_thaw();
                continue;
            }
            if (seen.position() >= head_.other_seen() &&
                seen.position() >= head_.catch_up(seen.position(), tail_)) {
                return false;
            }
            SPOOL_PAUSE_POINT("ring_fifo: about to claim an element");
            if (head_.try_claim(seen)) {
                slot<T>& from = slot_of(seen.position());
                SPOOL_PAUSE_POINT("ring_fifo: claimed an element");
                from.await(seen.position() + 1);
                take(std::move(from.element()));
                from.destroy();
                SPOOL_PAUSE_POINT("ring_fifo: about to free a slot");
                from.set_turn(seen.position() + mask_ + 1);
                return true;
            }
        }
    }

    std::optional<T> try_pop() {
        std::optional<T> x;
        try_pop_with([&x](T&& element) { x.emplace(std::move(element)); });
        return x;
    }
    /// Likewise, by assignment to `x`.
    bool try_pop_into(T& x) requires(std::is_nothrow_move_assignable_v<T>) {
        return try_pop_with([&x](T&& element) { x = std::move(element); });
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::size_t size() const noexcept {
        return distance(head_, tail_, [](fifo_end::position p) { return p; });
    }

    /// See blocking_queue::visit.
    void visit(function_ref<bool(const T&)> visitor) {
        const freeze_guard frozen{*this};
        const fifo_end::position tail = tail_.current_position();
        for (fifo_end::position p = head_.current_position(); p != tail && visitor(full_slot(p).element());
             ++p) {}
    }

    /// See blocking_queue::extract_if.
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) {
        std::vector<T> out;
        const freeze_guard frozen{*this};
        const fifo_end::position head = head_.current_position();
        const fifo_end::position tail = tail_.current_position();
        std::vector<fifo_end::position> kept;
        std::vector<fifo_end::position> chosen;
        for (fifo_end::position p = head; p != tail; ++p) {
            (wanted(full_slot(p).element()) ? chosen : kept).push_back(p);
        }
        out.reserve(chosen.size());
        // Nothing has moved so far, so a throw above leaves the queue as it was.
        for (const fifo_end::position p : chosen) {
            out.push_back(std::move(slot_of(p).element()));
            slot_of(p).destroy();
        }
        for (fifo_end::position to = tail; !kept.empty(); kept.pop_back()) {
            if (--to != kept.back()) {
                slot_of(to).move_from(slot_of(kept.back()));
            }
        }
        const fifo_end::position new_head = head + out.size();
        for (fifo_end::position p = head; p != new_head; ++p) {
            slot_of(p).set_turn(p + mask_ + 1);
        }
        head_.move_to(new_head);
        return out;
    }

private:
    class freeze_guard {
    public:
        explicit freeze_guard(ring_fifo& fifo) : fifo_(fifo), lock_(fifo.freeze_mutex_) {
            fifo_.tail_.freeze();
            SPOOL_PAUSE_POINT("ring_fifo: half frozen");
            fifo_.head_.freeze();
        }
        freeze_guard(const freeze_guard&) = delete;
        freeze_guard& operator=(const freeze_guard&) = delete;
        ~freeze_guard() {
            fifo_.head_.thaw();
            SPOOL_PAUSE_POINT("ring_fifo: half thawed");
            fifo_.tail_.thaw();
        }

    private:
        ring_fifo& fifo_;
        lock_guard lock_;
    };
    void wait_for_thaw() { const lock_guard until_thawed{freeze_mutex_}; }

    slot<T>& slot_of(fifo_end::position p) noexcept { return slots_[p & mask_]; }
    // Precondition: frozen. The producer of p may still be filling the slot.
    slot<T>& full_slot(fifo_end::position p) noexcept {
        slot<T>& s = slot_of(p);
        s.await(p + 1);
        return s;
    }

    // `tail` may be stale: then the claim fails.
    bool has_room(fifo_end::position tail) noexcept {
        if (tail < tail_.other_seen() + capacity_) {
            return true;
        }
        const fifo_end::position head = head_.current_position();
        tail_.remember_other(head);
        return tail < head + capacity_;
    }

    fifo_end tail_;  // producers
    fifo_end head_;  // consumers
    const std::size_t capacity_;
    const std::size_t mask_;
    const std::unique_ptr<slot<T>[]> slots_;
    mutex freeze_mutex_;  // held while the ends are frozen
};

}  // namespace spool::inline v1::detail
