// segment_fifo: the lock-free storage of linked_blocking_queue.
//
// THE PROTOCOL
//
// Segments of S slots form a linked list. Both ends are positions (see fifo_end). Each segment has
// S + 1 positions, the last of which (the gap) has no slot:
//
//     position     0     1    ...   S-1    S    | S+1   S+2  ...
//     segment 0  [slot][slot] ... [slot]  gap   | [slot][slot] ...  segment 1
//
// Push: claim the tail's position p with one compare-exchange (one may claim several positions of a
// segment), move the element into its slot, set the slot's turn to p + 1. Pop: claim the head's
// position p, wait until its slot has turn p + 1, move the element out, release the slot. A claim
// is refused when the queue is full, or empty. Then the thread reads the other end, seq_cst, which
// is what a waiter relies on (pair (S) of event_count: the claims are the seq_cst writes).
//
// The thread that claims the last slot of a segment moves the end onto the gap, where no other
// thread can claim. It alone sets the end's segment to the next one and moves the end over the gap.
// A producer allocates the next segment before its claim, so nothing can fail in between. The
// consumer waits until the next segment is linked.
//
// I1  The segment of an end changes only while the end stands on the gap or is frozen. So a segment
//     pointer read after position p belongs to p if the claim of p succeeds. Until then no thread
//     may dereference the pointer.
// I2  The head never passes the tail: the head needs a link to leave a segment, and the producer
//     sets that link after the tail has left the segment.
//
// Frozen ends refuse claims. Once neither end stands on the gap and every claimed slot is
// published, the freezer has exclusive access to all elements. Removal moves the surviving elements
// towards the tail, so that positions still only grow, and moves the head over the emptied slots.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "spool/base/function_ref.hpp"
#include "spool/detail/atomics.hpp"
#include "spool/detail/mutex.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/queue/detail/fifo_end.hpp"
#include "spool/queue/detail/segment.hpp"
#include "spool/queue/detail/segment_store.hpp"

namespace spool::inline v1::detail {

template <class T, std::size_t Slots, class Atomics = std_atomics>
class segment_fifo {
    using backoff = typename Atomics::backoff;
    using mutex = typename Atomics::mutex;
    using lock_guard = typename Atomics::lock_guard;
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                  "the elements of a lock-free queue must be movable without throwing");

public:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    segment_fifo() {
        segment_type* const first = segment_type::make();
        tail_.segment.store(first);
        head_.segment.store(first);
    }
    ~segment_fifo() {
        while (try_pop().has_value()) {}
        segment_type::free(head_.segment.load());
    }

    /// Returns false if `capacity` or more elements are queued. \throws std::bad_alloc; nothing has
    /// changed
    bool try_push(T& x, std::size_t capacity) { return try_push_some(&x, 1, capacity) == 1; }

    /// Claims several positions with one step and returns how many; 0: full. Takes what fits into
    /// the segment and the capacity, up to `max_batch`, because consumers wait for positions
    /// that are claimed but not yet published. \throws std::bad_alloc; nothing has changed
    std::size_t try_push_some(T* xs, std::size_t count, std::size_t capacity) {
        reserved_segment reserved{store_};
        for (backoff pause;;) {
            fifo_view seen = tail_.end.load();
            const std::size_t i = slot_of(seen.position());
            if (seen.is_frozen() || i == Slots) {
                wait_until_claimable(seen, pause);
                continue;
            }
            std::size_t taken = std::min({count, Slots - i, max_batch});
            if (capacity != unlimited) {
                taken = std::min(taken, room_for(seen.position(), capacity, taken));
                if (taken == 0) {
                    return 0;
                }
            }
            // acquire (E): see pass_gap()
            segment_type* const here = tail_.segment.load(std::memory_order_acquire);
            const bool fills_segment = i + taken == Slots;
            if (fills_segment) {
                reserved.prepare();
            }
            SPOOL_PAUSE_POINT("segment_fifo: about to claim a slot");
            if (!tail_.end.try_claim(seen, taken)) {
                continue;
            }
            if (fills_segment) {
                SPOOL_PAUSE_POINT("segment_fifo: claimed the last slot");
                segment_type* const next = reserved.release();
                pass_gap(tail_, next);
                SPOOL_PAUSE_POINT("segment_fifo: about to link");
                here->link(next);  // after the tail has moved: I2
            }
            for (std::size_t k = 0; k < taken; ++k) {
                SPOOL_PAUSE_POINT("segment_fifo: about to publish");
                (*here)[i + k].publish(std::move(xs[k]), turn_of(seen.position() + k));
            }
            return taken;
        }
    }

    /// Pops the head, if the queue is not empty: `take` moves the element out.
    template <class Take>
    bool try_pop_with(Take take) {
        for (backoff pause;;) {
            fifo_view seen = head_.end.load();
            const std::size_t i = slot_of(seen.position());
            if (seen.is_frozen() || i == Slots) {
                wait_until_claimable(seen, pause);
                continue;
            }
            if (seen.position() >= head_.end.other_seen() &&
                seen.position() >= head_.end.catch_up(seen.position(), tail_.end)) {
                store_.on_empty_poll();
                return false;
            }
            // acquire (E): see pass_gap()
            segment_type* const here = head_.segment.load(std::memory_order_acquire);
            SPOOL_PAUSE_POINT("segment_fifo: about to claim an element");
            if (!head_.end.try_claim(seen)) {
                continue;
            }
            const std::uint64_t turn = turn_of(seen.position());
            if (i + 1 == Slots) {
                SPOOL_PAUSE_POINT("segment_fifo: claimed the last element");
                pass_gap(head_, here->next());
                store_.reclaim_retired();
                here->retire(turn - i);
                store_.retire(here);
            }
            slot_type& from = (*here)[i];
            SPOOL_PAUSE_POINT("segment_fifo: claimed an element");
            from.await(turn);
            take(std::move(from.element()));
            from.destroy_moved_from();
            SPOOL_PAUSE_POINT("segment_fifo: about to release a slot");
            from.release(turn);
            return true;
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

    [[nodiscard]] std::size_t size() const noexcept { return distance(head_.end, tail_.end, count_to); }

    /// Whether the queue holds memory that it will free once it has been empty for
    /// idle_before_trim.
    [[nodiscard]] bool has_surplus() const noexcept { return store_.has_surplus(); }
    void trim() noexcept { store_.trim(); }
    static constexpr auto idle_before_trim = segment_store<segment<T, Slots, Atomics>>::idle_before_trim;
    /// For tests: counts the segments out of use, and those from the head's to the tail's.
    [[nodiscard]] std::size_t segment_count() {
        const freeze_guard frozen{*this};
        return store_.idle_count() + 1 +
               static_cast<std::size_t>(tail_.end.current_position() / positions_per_segment -
                                        head_.end.current_position() / positions_per_segment);
    }

    /// See blocking_queue::visit.
    void visit(function_ref<bool(const T&)> visitor) {
        const freeze_guard frozen{*this};
        walk([&](slot_type& s) { return visitor(s.element()); });
    }

    /// See blocking_queue::extract_if.
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) {
        std::vector<T> out;
        const freeze_guard frozen{*this};
        std::vector<slot_type*> kept;
        std::vector<slot_type*> all;
        std::vector<slot_type*> chosen;
        all.reserve(size());
        walk([&](slot_type& s) {
            all.push_back(&s);
            (wanted(s.element()) ? chosen : kept).push_back(&s);
            return true;
        });
        out.reserve(chosen.size());
        // Nothing has moved so far, so a throw above leaves the queue as it was.
        for (slot_type* const s : chosen) {
            out.push_back(std::move(s->element()));
            s->destroy();
        }
        for (auto to = all.rbegin(); !kept.empty(); ++to, kept.pop_back()) {
            if (*to != kept.back()) {
                (*to)->move_from(*kept.back());
            }
        }
        advance_head(out.size());
        return out;
    }

private:
    using segment_type = segment<T, Slots, Atomics>;
    using slot_type = slot<T, Atomics>;

    struct side {
        basic_fifo_end<Atomics> end;
        // See I1. Publishes the segment to the threads that claim after the store.
        typename Atomics::template atomic<segment_type*> segment{nullptr};
    };

    static constexpr std::uint64_t positions_per_segment = Slots + 1;
    static constexpr std::size_t max_batch = 64;
    static std::size_t slot_of(fifo_position p) noexcept {
        return static_cast<std::size_t>(p % positions_per_segment);
    }
    static std::uint64_t turn_of(fifo_position p) noexcept { return p + 1; }
    // How many slots lie before p.
    static std::uint64_t count_to(fifo_position p) noexcept { return p - p / positions_per_segment; }

    // The next segment for a producer that may claim the last slot. If that producer does not claim
    // it, the segment goes back to the store.
    class reserved_segment {
    public:
        explicit reserved_segment(segment_store<segment_type>& store) noexcept : store_(store) {}
        reserved_segment(const reserved_segment&) = delete;
        reserved_segment& operator=(const reserved_segment&) = delete;
        ~reserved_segment() {
            if (segment_ != nullptr) {
                store_.put(segment_);
            }
        }
        void prepare() {
            if (segment_ == nullptr) {
                segment_ = store_.get();
            }
        }
        segment_type* release() noexcept { return std::exchange(segment_, nullptr); }

    private:
        segment_store<segment_type>& store_;
        segment_type* segment_ = nullptr;
    };

    // Freezes both ends and waits until neither stands on the gap.
    class freeze_guard {
    public:
        explicit freeze_guard(segment_fifo& fifo) : fifo_(fifo), lock_(fifo.freeze_mutex_) {
            fifo_.tail_.end.freeze();
            SPOOL_PAUSE_POINT("segment_fifo: half frozen");
            fifo_.head_.end.freeze();
            for (backoff pause; slot_of(fifo_.tail_.end.current_position()) == Slots ||
                                slot_of(fifo_.head_.end.current_position()) == Slots;) {
                pause();
            }
        }
        freeze_guard(const freeze_guard&) = delete;
        freeze_guard& operator=(const freeze_guard&) = delete;
        ~freeze_guard() {
            fifo_.head_.end.thaw();
            SPOOL_PAUSE_POINT("segment_fifo: half thawed");
            fifo_.tail_.end.thaw();
        }

    private:
        segment_fifo& fifo_;
        lock_guard lock_;
    };

    void wait_until_claimable(fifo_view seen, backoff& pause) {
        if (seen.is_frozen()) {
            const lock_guard until_thawed{freeze_mutex_};
        } else {
            pause();  // another thread is about to pass the gap
        }
    }

    // Returns how many elements fit, possibly more than `wanted`. `tail` may be stale: then the
    // claim fails.
    std::size_t room_for(fifo_position tail, std::size_t capacity, std::size_t wanted) noexcept {
        const std::uint64_t pushed = count_to(tail);
        const auto remaining = [&](fifo_position head) {
            const std::uint64_t limit = count_to(head) + capacity;
            return limit > pushed ? static_cast<std::size_t>(limit - pushed) : 0;
        };
        if (remaining(tail_.end.other_seen()) >= wanted) {
            return wanted;
        }
        const fifo_position head = head_.end.current_position();
        tail_.end.remember_other(head);
        return remaining(head);
    }

    void pass_gap(side& s, segment_type* next) noexcept {
        // release (E): publishes to a thread that reads the segment after the position
        s.segment.store(next, std::memory_order_release);
        SPOOL_PAUSE_POINT("segment_fifo: about to pass the gap");
        s.end.skip_gap();
    }

    // Calls `fn` on each slot in order until it returns false. Precondition: frozen.
    template <class Fn>
    void walk(Fn fn) {
        segment_type* here = head_.segment.load();
        const fifo_position tail = tail_.end.current_position();
        for (fifo_position p = head_.end.current_position(); p != tail; ++p) {
            if (slot_of(p) == Slots) {
                here = here->next();
                continue;
            }
            slot_type& s = (*here)[slot_of(p)];
            s.await(turn_of(p));
            if (!fn(s)) {
                return;
            }
        }
    }

    // Moves the head over `emptied` empty slots. Precondition: frozen.
    void advance_head(std::size_t emptied) noexcept {
        segment_type* here = head_.segment.load();
        fifo_position p = head_.end.current_position();
        for (; emptied > 0; --emptied) {
            (*here)[slot_of(p)].release(turn_of(p));
            if (slot_of(++p) == Slots) {
                segment_type* const next = here->next();
                here->retire(turn_of(p) - Slots);
                store_.retire(here);
                here = next;
                ++p;
            }
        }
        head_.segment.store(here);
        head_.end.move_to(p);
        store_.reclaim_retired();
    }

    side tail_;  // producers
    side head_;  // consumers
    segment_store<segment_type> store_;
    mutex freeze_mutex_;  // held while the ends are frozen
};

}  // namespace spool::inline v1::detail
