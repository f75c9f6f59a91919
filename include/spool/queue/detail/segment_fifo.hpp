// segment_fifo: the lock-free storage of linked_blocking_queue.
//
// THE PROTOCOL
//
// Segments of S slots hang together in a list. Both ends are positions (see fifo_end); S + 1 positions belong to a segment,
// the last of which has no slot:
//
//     position     0     1    ...   S-1    S    | S+1   S+2  ...
//     segment 0  [slot][slot] ... [slot]  gap   | [slot][slot] ...  segment 1
//
// Push: claim the tail's position p (one compare-exchange; several positions of one segment may be claimed by one), move the element into its slot, give the slot the turn
// p + 1. Pop: claim the head's position p, wait until its slot says p + 1, move the element out, leave the slot. A
// claim is refused when the queue is full, or empty: then the other end is looked at, seq_cst, and that is what a waiter relies
// on (pair (S) of event_count: the claims are the seq_cst writes).
//
// Who claims the last slot of a segment finds the end standing on the gap, where nobody else can claim: this one, alone, sets
// the end's segment to the next one and moves the end over the gap. A producer has allocated the next segment before its
// claim, so nothing can fail in between; the consumer waits for it to be linked.
//
// I1  The segment of an end changes only while the end stands on the gap, or is frozen. So a segment pointer that was read after
//     position p belongs to p if the claim of p succeeds; before that nobody may look into it.
// I2  The head never passes the tail: the link that the head needs to leave a segment is set after the tail has left it.
//
// Frozen, both ends refuse claims; once neither stands on the gap and every claimed slot is published, whoever froze
// them is alone with all elements. Removing moves the survivors towards the tail, so that positions still only grow, and
// the head over what has become empty.
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
#include "spool/base/mutex.hpp"
#include "spool/base/pause_point.hpp"
#include "spool/queue/detail/fifo_end.hpp"
#include "spool/queue/detail/segment.hpp"
#include "spool/queue/detail/segment_store.hpp"
#include "spool/sync/atomics.hpp"

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

    /// False: `capacity` elements or more are there. \throws std::bad_alloc, and nothing has changed
    bool try_push(T& x, std::size_t capacity) { return try_push_some(&x, 1, capacity) == 1; }

    /// Claims the places of several with one step: as many as fit into the segment and the capacity, and not too many, since
    /// consumers wait for a place that is claimed. Says how many; 0 is full. \throws std::bad_alloc, and nothing has changed
    std::size_t try_push_some(T* xs, std::size_t count, std::size_t capacity) {
        fresh_segment fresh{store_};
        for (backoff pause;;) {
            fifo_view seen = tail_.end.look();
            const std::size_t i = slot_of(seen.at());
            if (seen.frozen() || i == Slots) {
                wait_for_others(seen, pause);
                continue;
            }
            std::size_t taken = std::min({count, Slots - i, most_at_once});
            if (capacity != unlimited) {
                taken = std::min(taken, room(seen.at(), capacity, taken));
                if (taken == 0) {
                    return 0;
                }
            }
            segment_type* const here =
                tail_.segment.load(std::memory_order_acquire);  // acquire (E): see pass_gap()
            const bool fills_segment = i + taken == Slots;
            if (fills_segment) {
                fresh.prepare();
            }
            SPOOL_PAUSE_POINT("segment_fifo: about to claim a slot");
            if (!tail_.end.try_claim(seen, taken)) {
                continue;
            }
            if (fills_segment) {
                SPOOL_PAUSE_POINT("segment_fifo: claimed the last slot");
                segment_type* const next = fresh.release();
                pass_gap(tail_, next);
                SPOOL_PAUSE_POINT("segment_fifo: about to link");
                here->link(next);  // after the tail has moved: I2
            }
            for (std::size_t k = 0; k < taken; ++k) {
                SPOOL_PAUSE_POINT("segment_fifo: about to publish");
                (*here)[i + k].publish(std::move(xs[k]), turn_of(seen.at() + k));
            }
            return taken;
        }
    }

    /// Takes the head, if there is one: `take` moves it out.
    template <class Take>
    bool pop(Take take) {
        for (backoff pause;;) {
            fifo_view seen = head_.end.look();
            const std::size_t i = slot_of(seen.at());
            if (seen.frozen() || i == Slots) {
                wait_for_others(seen, pause);
                continue;
            }
            if (seen.at() >= head_.end.other_seen() &&
                seen.at() >= head_.end.catch_up(seen.at(), tail_.end)) {
                store_.idle();
                return false;
            }
            segment_type* const here =
                head_.segment.load(std::memory_order_acquire);  // acquire (E): see pass_gap()
            SPOOL_PAUSE_POINT("segment_fifo: about to claim an element");
            if (!head_.end.try_claim(seen)) {
                continue;
            }
            const std::uint64_t turn = turn_of(seen.at());
            if (i + 1 == Slots) {
                SPOOL_PAUSE_POINT("segment_fifo: claimed the last element");
                pass_gap(head_, here->next());
                store_.sort_retired();
                here->retire(turn - i);
                store_.retire(here);
            }
            slot_type& from = (*here)[i];
            SPOOL_PAUSE_POINT("segment_fifo: claimed an element");
            from.await(turn);
            take(std::move(from.element()));
            from.destroy_moved_from();
            SPOOL_PAUSE_POINT("segment_fifo: about to let go of a segment");
            from.leave(turn);
            return true;
        }
    }

    std::optional<T> try_pop() {
        std::optional<T> x;
        pop([&x](T&& element) { x.emplace(std::move(element)); });
        return x;
    }
    /// The same into an object that is there already.
    bool try_pop_into(T& x) requires(std::is_nothrow_move_assignable_v<T>) {
        return pop([&x](T&& element) { x = std::move(element); });
    }

    [[nodiscard]] std::size_t size() const noexcept { return distance(head_.end, tail_.end, count_to); }

    /// Whether an empty queue holds memory that it will give back once it has been empty for `patience`.
    [[nodiscard]] bool has_surplus() const noexcept { return store_.has_surplus(); }
    void give_back() noexcept { store_.trim(); }
    static constexpr auto patience = segment_store<segment<T, Slots, Atomics>>::patience;
    /// For tests: those out of use, and those from the head's to the tail's.
    [[nodiscard]] std::size_t segment_count() {
        const freeze frozen{*this};
        return store_.idle_count() + 1 +
               static_cast<std::size_t>(tail_.end.now() / lap - head_.end.now() / lap);
    }

    /// See blocking_queue::visit.
    void visit(function_ref<bool(const T&)> more) {
        const freeze frozen{*this};
        walk([&](slot_type& s) { return more(s.element()); });
    }

    /// See blocking_queue::extract_if.
    std::vector<T> extract_if(function_ref<bool(const T&)> wanted) {
        std::vector<T> out;
        const freeze frozen{*this};
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
                (*to)->take_over(*kept.back());
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
        typename Atomics::template atomic<segment_type*> segment{
            nullptr};  // see I1; hands the segment over to those who claim after
    };

    static constexpr std::uint64_t lap = Slots + 1;
    static constexpr std::size_t most_at_once = 64;
    static std::size_t slot_of(fifo_position p) noexcept { return static_cast<std::size_t>(p % lap); }
    static std::uint64_t turn_of(fifo_position p) noexcept { return p + 1; }
    // How many slots lie before p.
    static std::uint64_t count_to(fifo_position p) noexcept { return p - p / lap; }

    // The segment for a producer who may claim the last slot; kept for others if it does not come to that.
    class fresh_segment {
    public:
        explicit fresh_segment(segment_store<segment_type>& store) noexcept : store_(store) {}
        fresh_segment(const fresh_segment&) = delete;
        fresh_segment& operator=(const fresh_segment&) = delete;
        ~fresh_segment() {
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

    // Both ends frozen, neither on the gap.
    class freeze {
    public:
        explicit freeze(segment_fifo& fifo) : fifo_(fifo), lock_(fifo.freeze_mutex_) {
            fifo_.tail_.end.freeze();
            SPOOL_PAUSE_POINT("segment_fifo: half frozen");
            fifo_.head_.end.freeze();
            for (backoff pause;
                 slot_of(fifo_.tail_.end.now()) == Slots || slot_of(fifo_.head_.end.now()) == Slots;) {
                pause();
            }
        }
        freeze(const freeze&) = delete;
        freeze& operator=(const freeze&) = delete;
        ~freeze() {
            fifo_.head_.end.thaw();
            SPOOL_PAUSE_POINT("segment_fifo: half thawed");
            fifo_.tail_.end.thaw();
        }

    private:
        segment_fifo& fifo_;
        lock_guard lock_;
    };

    void wait_for_others(fifo_view seen, backoff& pause) {
        if (seen.frozen()) {
            const lock_guard until_thawed{freeze_mutex_};
        } else {
            pause();  // somebody is about to pass the gap
        }
    }

    // For how many of `wanted` there is room. `tail` may be an old one: then the claim will fail.
    std::size_t room(fifo_position tail, std::size_t capacity, std::size_t wanted) noexcept {
        const std::uint64_t pushed = count_to(tail);
        const auto left = [&](fifo_position head) {
            const std::uint64_t limit = count_to(head) + capacity;
            return limit > pushed ? static_cast<std::size_t>(limit - pushed) : 0;
        };
        if (left(tail_.end.other_seen()) >= wanted) {
            return wanted;
        }
        const fifo_position head = head_.end.now();
        tail_.end.saw_other(head);
        return left(head);
    }

    void pass_gap(side& s, segment_type* next) noexcept {
        s.segment.store(next, std::memory_order_release);  // release (E): to who reads it after the position
        SPOOL_PAUSE_POINT("segment_fifo: about to pass the gap");
        s.end.pass();
    }

    // Frozen: each element in order, while fn says so.
    template <class Fn>
    void walk(Fn fn) {
        segment_type* here = head_.segment.load();
        const fifo_position tail = tail_.end.now();
        for (fifo_position p = head_.end.now(); p != tail; ++p) {
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

    // Frozen: so many slots at the head have been emptied.
    void advance_head(std::size_t emptied) noexcept {
        segment_type* here = head_.segment.load();
        fifo_position p = head_.end.now();
        for (; emptied > 0; --emptied) {
            (*here)[slot_of(p)].leave(turn_of(p));
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
        store_.sort_retired();
    }

    side tail_;  // producers
    side head_;  // consumers
    segment_store<segment_type> store_;
    mutex freeze_mutex_;  // held as long as the ends are frozen
};

}  // namespace spool::inline v1::detail
