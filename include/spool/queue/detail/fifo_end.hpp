// fifo_end: one end of a lock-free FIFO: a position that only grows, and a bit that freezes it.
//
// bit 63                                       1   0
//     +-------------------------------------------+--------+
//     |                 position                  | frozen |
//     +-------------------------------------------+--------+
//
// A thread claims a position with one compare-exchange of the word: the thread that moved it from p
// to p + 1 owns the slot of p. While the frozen bit is set, no thread can claim. The bit changes
// only under the queue's freeze mutex, so a thread that sees it set waits for that mutex. Positions
// never wrap: 2^63 of them last for centuries.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "spool/detail/atomics.hpp"
#include "spool/detail/cache_line.hpp"

namespace spool::inline v1::detail {

using fifo_position = std::uint64_t;

/// A snapshot of the word.
struct fifo_view {
    std::uint64_t word;
    [[nodiscard]] fifo_position position() const noexcept { return word >> 1; }
    [[nodiscard]] bool is_frozen() const noexcept { return (word & 1) != 0; }
};

template <class Atomics>
class alignas(cache_line) basic_fifo_end {
public:
    using position = fifo_position;
    using view = fifo_view;

    /// Makes visible what was stored before the end moved to this position (see try_claim,
    /// skip_gap).
    [[nodiscard]] view load() const noexcept {
        // acquire: pairs with try_claim() and skip_gap() of the same end
        return {word_.load(std::memory_order_acquire)};
    }
    /// For the waits of the other side: a seq_cst load, pair (S) of event_count. The claims below
    /// are the writes of that pair.
    [[nodiscard]] position current_position() const noexcept { return word_.load() >> 1; }

    /// Claims the slots of `count` positions from v.position() on. False: another thread moved the
    /// end, or the compare-exchange failed spuriously. seq_cst, because the waiters of the other
    /// side read the word.
    [[nodiscard]] bool try_claim(view& v, std::uint64_t count = 1) noexcept {
        const bool won = word_.compare_exchange_weak(v.word, v.word + count * step);
        record_claim(won ? claim::won : claim::lost);
        return won;
    }
    /// Skips the gap position, which has no slot. The caller must own the gap.
    void skip_gap() noexcept { word_.fetch_add(step); }

    void freeze() noexcept { word_.fetch_or(1); }
    void thaw() noexcept { word_.fetch_and(~std::uint64_t{1}); }
    void move_to(position p) noexcept { word_.store(p << 1 | 1); }  ///< while frozen

    /// Where the other end was when a thread at this end last read it. The other end only grows, so
    /// this value can only be too small. It saves this side most reads of the other side's cache
    /// line.
    [[nodiscard]] position other_seen() const noexcept {
        return other_seen_.load(std::memory_order_relaxed);  // relaxed, hint: only ever too small
    }
    void remember_other(position p) noexcept {
        other_seen_.store(p, std::memory_order_relaxed);  // relaxed, hint: see other_seen()
    }

    /// For the head, after consumers used up the elements they knew of: returns where the tail is
    /// now. A consumer that follows the producers too closely takes their cache lines away for
    /// every element, and both sides run at half speed. So in a stream of elements, if a read finds
    /// only a few, the consumer backs off once for a few microseconds and reads again.
    [[nodiscard]] position catch_up(position here, const basic_fifo_end& tail) noexcept {
        position there = tail.current_position();
        const unsigned stream = stream_.load(std::memory_order_relaxed);  // relaxed, hint
        const bool backs_off = stream >= stream_threshold && there < here + min_to_follow;
        if (backs_off) [[unlikely]] {
            Atomics::backoff::yield_briefly();
            there = tail.current_position();
        }
        const auto found =
            static_cast<unsigned>(std::min<position>(there - std::min(here, there), stream_threshold));
        const unsigned before = backs_off || found == 0 ? 0 : std::min(stream, stream_threshold);
        stream_.store(before + found, std::memory_order_relaxed);  // relaxed, hint
        remember_other(there);
        return there;
    }

private:
    // If more than every third claim fails for a while, the threads at this end keep taking its
    // cache line from each other, and each would be faster alone. So a thread that loses a claim
    // then backs off.
    enum class claim { won, lost };
    void record_claim(claim result) noexcept {
        const unsigned before = losses_.load(std::memory_order_relaxed);  // relaxed, hint
        if (result == claim::won) {
            if (before != 0) {
                losses_.store(before - 1, std::memory_order_relaxed);  // relaxed, hint
            }
            return;
        }
        const bool too_often = before + 2 >= loss_limit;
        losses_.store(too_often ? 0 : before + 2, std::memory_order_relaxed);  // relaxed, hint
        if (too_often) {
            Atomics::backoff::yield_briefly();
        }
    }

    static constexpr std::uint64_t step = 2;
    static constexpr unsigned loss_limit = 16;
    // A consumer that finds fewer does not follow at once.
    static constexpr unsigned min_to_follow = 32;
    // This many elements, found in successive reads, make a stream.
    static constexpr unsigned stream_threshold = 64;

    // Claims publish what was stored for the position before.
    typename Atomics::template atomic<std::uint64_t> word_{0};
    typename Atomics::template atomic<std::uint64_t> other_seen_{0};  // publishes nothing
    // Not part of the protocol, hence not of its atomics: they only decide how long a thread backs
    // off. They publish nothing.
    // Elements found since a read found none, or since a consumer last backed off.
    std::atomic<unsigned> stream_{0};
    // Plus two for each lost claim, minus one for each that succeeded.
    std::atomic<unsigned> losses_{0};
};

using fifo_end = basic_fifo_end<std_atomics>;

/// Returns how many elements lie between the ends. `count_to(p)` returns how many slots lie before
/// p. Exact, because the head was the same before and after the load of the tail.
template <class Atomics, class CountTo>
[[nodiscard]] std::size_t distance(const basic_fifo_end<Atomics>& head, const basic_fifo_end<Atomics>& tail,
                                   CountTo count_to) noexcept {
    fifo_position first = head.current_position();
    for (;;) {
        const fifo_position last = tail.current_position();
        const fifo_position again = head.current_position();
        if (again == first) {
            return static_cast<std::size_t>(count_to(last) - count_to(first));
        }
        first = again;
    }
}

}  // namespace spool::inline v1::detail
