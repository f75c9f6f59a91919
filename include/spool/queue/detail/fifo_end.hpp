// fifo_end: one end of a lock-free FIFO, as a position that only grows and can be frozen.
//
// bit 63                                       1   0
//     +-------------------------------------------+--------+
//     |                 position                  | frozen |
//     +-------------------------------------------+--------+
//
// A position is claimed by moving the word on with one compare-exchange: who moved it from p to p + 1 owns the slot of
// p. While the frozen bit is set nobody can claim; the bit is set and cleared only under the queue's freeze mutex, so
// who meets it waits for that mutex. Positions never wrap: 2^63 of them last for centuries.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "spool/base/cache_line.hpp"
#include "spool/sync/atomics.hpp"

namespace spool::inline v1::detail {

using fifo_position = std::uint64_t;

/// The word at one moment.
struct fifo_view {
    std::uint64_t word;
    [[nodiscard]] fifo_position at() const noexcept { return word >> 1; }
    [[nodiscard]] bool frozen() const noexcept { return (word & 1) != 0; }
};

template <class Atomics>
class alignas(cache_line) basic_fifo_end {
public:
    using position = fifo_position;
    using view = fifo_view;

    /// acquire: what was stored before the end came here (see try_claim, pass) is visible.
    [[nodiscard]] view look() const noexcept {
        return {word_.load(
            std::memory_order_acquire)};  // acquire: pairs with try_claim() and pass() of the same end
    }
    /// For the other side's waits: seq_cst, the pair (S) of event_count. Its writes are the claims below.
    [[nodiscard]] position now() const noexcept { return word_.load() >> 1; }

    /// Claims the slot of v.at(). seq_cst: it is also what the other side's waiters look at.
    /// With `count`, those of as many positions from there on.
    /// False: somebody else moved the end.
    [[nodiscard]] bool try_claim(view& v, std::uint64_t count = 1) noexcept {
        const bool won = word_.compare_exchange_weak(v.word, v.word + count * step);
        note_claim(won);
        return won;
    }
    /// Moves on over a position without a slot; only by who may.
    void pass() noexcept { word_.fetch_add(step); }

    void freeze() noexcept { word_.fetch_or(1); }
    void thaw() noexcept { word_.fetch_and(~std::uint64_t{1}); }
    void move_to(position p) noexcept { word_.store(p << 1 | 1); }  ///< while frozen

    /// Where the other end was when somebody at this end last looked. It only grows, so it can only be too small. Kept here
    /// so that this side seldom needs the other side's cache line.
    [[nodiscard]] position other_seen() const noexcept {
        return other_seen_.load(std::memory_order_relaxed);  // relaxed, hint: only ever too small
    }
    void saw_other(position p) noexcept {
        other_seen_.store(p, std::memory_order_relaxed);  // relaxed, hint: see other_seen()
    }

    /// For the head, when it has used up what it knew of: where the tail is now. A consumer at the producers' heels takes their cache
    /// lines from them for every element, and all go at half the pace. So where elements come in a stream and a look brings only a
    /// few, it stands back, once, for a few microseconds, and looks again.
    [[nodiscard]] position catch_up(position here, const basic_fifo_end& tail) noexcept {
        position there = tail.now();
        const unsigned stream = stream_.load(std::memory_order_relaxed);  // relaxed, hint
        const bool stands_back = stream >= many && there < here + few;
        if (stands_back) [[unlikely]] {
            Atomics::backoff::stand_back();
            there = tail.now();
        }
        const auto found = static_cast<unsigned>(std::min<position>(there - std::min(here, there), many));
        const unsigned before = stands_back || found == 0 ? 0 : std::min(stream, many);
        stream_.store(before + found, std::memory_order_relaxed);  // relaxed, hint
        saw_other(there);
        return there;
    }

private:
    // Where more than every third claim is lost, for a while, those at this end take its cache line from each other again and again, and
    // each of them alone would be faster. So one who loses stands back then.
    void note_claim(bool won) noexcept {
        const unsigned before = losses_.load(std::memory_order_relaxed);  // relaxed, hint
        if (won) {
            if (before != 0) {
                losses_.store(before - 1, std::memory_order_relaxed);  // relaxed, hint
            }
            return;
        }
        const bool too_often = before + 2 >= many_losses;
        losses_.store(too_often ? 0 : before + 2, std::memory_order_relaxed);  // relaxed, hint
        if (too_often) {
            Atomics::backoff::stand_back();
        }
    }

    static constexpr std::uint64_t step = 2;
    static constexpr unsigned many_losses = 16;
    static constexpr unsigned few = 32;   // too few to follow at once
    static constexpr unsigned many = 64;  // found one after the other, they are a stream

    typename Atomics::template atomic<std::uint64_t> word_{
        0};  // claims publish what was stored for the position before
    typename Atomics::template atomic<std::uint64_t> other_seen_{0};  // publishes nothing
    // No part of the protocol, so not of its atomics: they decide only how long somebody waits. Publish nothing.
    std::atomic<unsigned> stream_{0};  // found since a look last brought none, or since one stood back
    std::atomic<unsigned> losses_{0};  // two for a claim that was lost, less one for each that was not
};

using fifo_end = basic_fifo_end<std_atomics>;

/// How many elements lie between the ends; `count_to(p)` says how many slots lie before p. Exact: the head was the same before and
/// after the tail was looked at.
template <class Atomics, class CountTo>
[[nodiscard]] std::size_t distance(const basic_fifo_end<Atomics>& head, const basic_fifo_end<Atomics>& tail,
                                   CountTo count_to) noexcept {
    fifo_position first = head.now();
    for (;;) {
        const fifo_position last = tail.now();
        const fifo_position again = head.now();
        if (again == first) {
            return static_cast<std::size_t>(count_to(last) - count_to(first));
        }
        first = again;
    }
}

}  // namespace spool::inline v1::detail
