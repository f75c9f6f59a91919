// timer_wheel: any number of timers. Inserting and erasing take constant time; in the heap, time
// logarithmic in its size. Timers come out in the order of their due times, timers with equal due
// times in insertion order.
//
// Time is divided into ticks of about a millisecond. position_ is a tick that is never ahead of the
// clock.
//
//     due in position_'s tick or before:   in near_, a heap
//     later:                               in a bucket of the wheel
//
//     tick      ... | level 3 | level 2 | level 1 | level 0 |         8 bits each
//
// The level of a bucket is the highest group of bits in which its ticks differ from position_. Its
// slot is the value of that group. So for a given position every tick has one place, and all timers
// in level 0 come before all timers in level 1, and so on. advance() moves the position to the
// clock. On the way it opens every bucket whose first tick it reaches, the earliest first. It moves
// the timers of an opened bucket to their new places: at least one level down, or into the heap. A
// timer moves at most six times.
//
// When the position moves, the timers of a bucket keep their place unless the position reaches the
// bucket's first tick. Until then the position keeps its slots in the levels above the bucket's
// level. In the bucket's own level, the position's slot stays below the bucket's slot.
//
// A bucket is a list through the timers themselves: inserting and erasing allocate nothing. Only
// the heap has memory of its own.
//
// Not synchronised: the queue's lock guards the wheel.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "schedule/near_heap.hpp"

namespace spool::inline v1::detail {

class timer_wheel {
public:
    explicit timer_wheel(due_time now) noexcept : position_(tick_of(now)) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// \throws std::bad_alloc; then nothing has changed
    void insert(timer_ref timer) {
        place(timer);
        ++size_;
    }
    void erase(timer_ref timer) noexcept {
        if (tick_of(timer.due()) <= position_) {
            near_.erase(timer);
        } else {
            unlink(timer);
        }
        --size_;
    }

    /// Opens the buckets that the clock has reached. \throws std::bad_alloc; then no timer is lost
    void advance(due_time now) {
        const std::int64_t to = tick_of(now);
        if (to <= position_) {
            return;
        }
        for (std::size_t level = 0; level < levels;) {
            const int slot = first_slot(level);
            if (slot < 0) {
                ++level;
                continue;
            }
            const std::int64_t begin = first_tick(level, static_cast<std::size_t>(slot));
            if (begin > to) {
                break;
            }
            open(level, static_cast<std::size_t>(slot), begin);
            level = 0;
        }
        position_ = to;
    }

    /// The first timer of those that advance() has reached; null if there is none.
    [[nodiscard]] timer_ref first() const noexcept { return near_.empty() ? timer_ref{} : near_.first(); }

    /// Until when there is nothing to do: the due time of the first timer, or a time not long
    /// before it. Precondition: the wheel is not empty.
    [[nodiscard]] due_time quiet_until() const noexcept {
        if (!near_.empty()) {
            return near_.first_due();
        }
        std::size_t level = 0;
        while (first_slot(level) < 0) {
            ++level;
        }
        const auto slot = static_cast<std::size_t>(first_slot(level));
        // Scans a bucket of a few timers for the earliest, so that a single timer does not cause a
        // wake-up on every level. Many timers are worth that wake-up.
        due_time earliest = due_time::max();
        int seen = 0;
        for (timer_ref t = buckets_[level][slot].first; t; t = t.after()) {
            if (++seen > few) {
                return begin_of(first_tick(level, slot));
            }
            earliest = std::min(earliest, t.due());
        }
        return earliest;
    }

    /// Calls `f(timer)` for each timer, in order. `f` must not change the wheel.
    template <class F>
    void visit_in_order(F f) const {
        near_.visit_in_order(f);
        for (std::size_t level = 0; level < levels; ++level) {
            for (const bucket& b : buckets_[level]) {
                std::vector<timer_ref> sorted;
                for (timer_ref t = b.first; t; t = t.after()) {
                    sorted.push_back(t);
                }
                std::stable_sort(sorted.begin(), sorted.end(),
                                 [](timer_ref x, timer_ref y) { return x.due() < y.due(); });
                for (const timer_ref t : sorted) {
                    f(t);
                }
            }
        }
    }

    /// Removes the timers for which `wanted(timer)` is true and returns them linked by
    /// after(). Timers with equal due times keep their order. `wanted` must not throw.
    template <class Wanted>
    timer_ref take_out(Wanted wanted) noexcept {
        timer_ref first;
        timer_ref last;
        const auto choose = [&](timer_ref t) {  // the timer is out of its place already
            t.set_after({});
            if (last) {
                last.set_after(t);
            } else {
                first = t;
            }
            last = t;
            --size_;
        };
        near_.take_out(wanted, choose);
        for (std::size_t level = 0; level < levels; ++level) {
            for (const bucket& b : buckets_[level]) {
                for (timer_ref t = b.first; t;) {
                    const timer_ref next = t.after();
                    if (wanted(t)) {
                        unlink(t);
                        choose(t);
                    }
                    t = next;
                }
            }
        }
        return first;
    }

private:
    static constexpr int tick_bits = 20;  // 1.05 ms
    static constexpr int level_bits = 8;
    static constexpr std::size_t slots = 1U << level_bits;
    static constexpr std::size_t levels = 6;  // 64 bits of nanoseconds are 44 bits of ticks
    static constexpr int few = 32;

    struct bucket {
        timer_ref first;
        timer_ref last;
    };

    // Ticks count from the earliest of all times, so none is negative: the levels store no sign.
    static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    static std::int64_t tick_of(due_time t) noexcept {
        const auto since_earliest = static_cast<std::uint64_t>(t.time_since_epoch().count()) ^ sign;
        return static_cast<std::int64_t>(since_earliest >> tick_bits);
    }
    static due_time begin_of(std::int64_t tick) noexcept {
        const auto since_earliest = static_cast<std::uint64_t>(tick) << tick_bits;
        return due_time{std::chrono::nanoseconds{static_cast<std::int64_t>(since_earliest ^ sign)}};
    }

    struct spot {
        std::size_t level;
        std::size_t slot;
    };
    // Precondition: `tick` is after position_.
    [[nodiscard]] spot spot_of(std::int64_t tick) const noexcept {
        const auto differ = static_cast<std::uint64_t>(tick ^ position_);
        const auto level = static_cast<std::size_t>((std::bit_width(differ) - 1) / level_bits);
        return {level, slot_of(tick, level)};
    }
    static std::size_t slot_of(std::int64_t tick, std::size_t level) noexcept {
        return static_cast<std::size_t>(tick >> (level * level_bits)) % slots;
    }
    // The first tick of a bucket: position_ above the level, the slot in the level, zeros below.
    [[nodiscard]] std::int64_t first_tick(std::size_t level, std::size_t slot) const noexcept {
        const std::size_t below = level * level_bits;
        const std::int64_t above = position_ >> (below + level_bits);
        return ((above << level_bits) + static_cast<std::int64_t>(slot)) << below;
    }

    // The first non-empty slot, or -1. Non-empty slots lie after position_'s own slot.
    [[nodiscard]] int first_slot(std::size_t level) const noexcept {
        for (std::size_t word = 0; word < slots / 64; ++word) {
            if (occupied_[level][word] != 0) {
                return static_cast<int>(word * 64) + std::countr_zero(occupied_[level][word]);
            }
        }
        return -1;
    }
    void mark_occupied(spot s) noexcept { occupied_[s.level][s.slot / 64] |= bit_of(s); }
    void mark_empty(spot s) noexcept { occupied_[s.level][s.slot / 64] &= ~bit_of(s); }
    static std::uint64_t bit_of(spot s) noexcept { return std::uint64_t{1} << (s.slot % 64); }

    void place(timer_ref timer) {
        const std::int64_t tick = tick_of(timer.due());
        if (tick <= position_) {
            near_.push(timer);
            return;
        }
        const spot s = spot_of(tick);
        bucket& b = buckets_[s.level][s.slot];
        timer.set_before(b.last);
        timer.set_after({});
        if (b.last) {
            b.last.set_after(timer);
        } else {
            b.first = timer;
            mark_occupied(s);
        }
        b.last = timer;
    }
    void unlink(timer_ref timer) noexcept {
        const timer_ref before = timer.before();
        const timer_ref after = timer.after();
        if (before && after) {
            before.set_after(after);
            after.set_before(before);
            return;
        }
        const spot s = spot_of(tick_of(timer.due()));
        bucket& b = buckets_[s.level][s.slot];
        if (before) {
            before.set_after({});
            b.last = before;
        } else if (after) {
            after.set_before({});
            b.first = after;
        } else {
            b = {};
            mark_empty(s);
        }
    }

    // Moves the timers of the bucket to their places from its first tick, `begin`, on.
    void open(std::size_t level, std::size_t slot, std::int64_t begin) {
        bucket& b = buckets_[level][slot];
        std::size_t due_now = 0;
        for (timer_ref t = b.first; t; t = t.after()) {
            due_now += tick_of(t.due()) == begin ? 1 : 0;
        }
        near_.make_room(due_now);  // first, because it may throw
        position_ = begin;
        timer_ref t = b.first;
        b = {};
        mark_empty({level, slot});
        while (t) {
            const timer_ref next = t.after();
            place(t);
            t = next;
        }
    }

    std::int64_t position_;
    std::size_t size_ = 0;
    std::array<std::array<std::uint64_t, slots / 64>, levels> occupied_{};
    std::array<std::array<bucket, slots>, levels> buckets_{};
    near_heap near_;
};

}  // namespace spool::inline v1::detail
