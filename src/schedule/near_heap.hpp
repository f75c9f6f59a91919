// near_heap: the timers that are due now or within the current tick of the wheel, in exact order. A
// heap in an array. Each timer stores its index, so that it can be erased from the middle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "schedule/timer_ref.hpp"

namespace spool::inline v1::detail {

class near_heap {
public:
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] due_time first_due() const noexcept { return entries_.front().due; }
    [[nodiscard]] timer_ref first() const noexcept { return entries_.front().timer; }

    /// Afterwards the next `more` pushes do not throw.
    void make_room(std::size_t more) {
        if (more > entries_.capacity() - entries_.size()) {
            entries_.reserve(std::max(entries_.size() + more, entries_.capacity() * 2));
        }
    }
    /// Timers with equal due times come out in the order of their pushes.
    void push(timer_ref timer) {
        entries_.push_back({timer.due(), next_number_++, timer});
        rise(entries_.size() - 1);
    }
    void erase(timer_ref timer) noexcept {
        const std::size_t hole = timer.index();
        const entry last = entries_.back();
        entries_.pop_back();
        if (hole < entries_.size()) {
            const bool up = hole > 0 && last < entries_[parent(hole)];
            entries_[hole] = last;
            if (up) {
                rise(hole);
            } else {
                sink(hole);
            }
        }
        give_memory_back();
    }

    /// Removes the timers for which `wanted(timer)` is true and passes each to `taken`, in order.
    /// Neither function may throw.
    template <class Wanted, class Taken>
    void take_out(Wanted wanted, Taken taken) noexcept {
        std::sort(entries_.begin(), entries_.end());  // a sorted array is a heap
        std::size_t kept = 0;
        for (const entry& e : entries_) {
            if (wanted(e.timer)) {
                taken(e.timer);
            } else {
                put(kept++, e);
            }
        }
        entries_.resize(kept);
        give_memory_back();
    }

    /// Calls `f(timer)` for each timer, in order.
    template <class F>
    void visit_in_order(F f) const {
        std::vector<entry> sorted = entries_;
        std::sort(sorted.begin(), sorted.end());
        for (const entry& e : sorted) {
            f(e.timer);
        }
    }

private:
    struct entry {
        due_time due;
        std::uint64_t number;
        timer_ref timer;
        friend bool operator<(const entry& a, const entry& b) noexcept {
            return a.due != b.due ? a.due < b.due : a.number < b.number;
        }
    };
    // Flatter than a binary heap: sink() touches fewer cache lines.
    static constexpr std::size_t children = 4;
    static constexpr std::size_t smallest_capacity = 64;

    static std::size_t parent(std::size_t i) noexcept { return (i - 1) / children; }

    void put(std::size_t i, const entry& e) noexcept {
        entries_[i] = e;
        e.timer.set_index(i);
    }
    void rise(std::size_t i) noexcept {
        const entry moving = entries_[i];
        while (i > 0 && moving < entries_[parent(i)]) {
            put(i, entries_[parent(i)]);
            i = parent(i);
        }
        put(i, moving);
    }
    void sink(std::size_t i) noexcept {
        const entry moving = entries_[i];
        for (;;) {
            const std::size_t begin = i * children + 1;
            const std::size_t end = std::min(begin + children, entries_.size());
            std::size_t least = begin;
            for (std::size_t c = begin + 1; c < end; ++c) {
                least = entries_[c] < entries_[least] ? c : least;
            }
            if (begin >= end || !(entries_[least] < moving)) {
                break;
            }
            put(i, entries_[least]);
            i = least;
        }
        put(i, moving);
    }
    // Shrinks the array after a burst. Keeps at least twice the needed size, so that it does not
    // shrink and grow in turns.
    void give_memory_back() noexcept {
        if (entries_.capacity() <= smallest_capacity || entries_.size() > entries_.capacity() / 4) {
            return;
        }
        try {
            std::vector<entry> smaller;
            smaller.reserve(entries_.capacity() / 2);
            smaller.assign(entries_.begin(), entries_.end());
            entries_.swap(smaller);
        } catch (const std::bad_alloc&) {  // keeps the larger array
        }
    }

    std::vector<entry> entries_;
    std::uint64_t next_number_ = 0;
};

}  // namespace spool::inline v1::detail
