// loop_slot: the units of a loop that one participant has not begun yet.
//
// THE PROTOCOL
//
// The word is the whole state: the first unit, and the one behind the last. The owner claims units
// at the front, thieves take the back half, each by one compare-exchange. The owner alone fills an
// empty slot. A unit leaves a slot exactly once and is then run by the thread that took it, or put
// into that thread's own slot. No thread reads anything through the word, so a value that recurs
// (ABA) would do no harm, and the word publishes nothing: the fork hands the loop over to the
// participants, and the join hands their effects back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "spool/detail/atomics.hpp"
#include "spool/detail/cache_line.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1::detail {

/// Units first <= u < last.
struct unit_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    [[nodiscard]] std::uint32_t size() const noexcept { return last > first ? last - first : 0; }
    [[nodiscard]] bool empty() const noexcept { return last <= first; }
};

template <class Atomics = std_atomics>
class alignas(cache_line) basic_loop_slot {
public:
    /// Owner: fills the empty slot.
    void fill(unit_range r) noexcept { word_.store(pack(r)); }

    /// Owner: claims units at the front: `share(left)` of them, of the `left` that are there. Empty
    /// if none are left.
    template <class Share>
    [[nodiscard]] unit_range claim(Share share) noexcept {
        std::uint64_t seen = word_.load();
        for (;;) {
            const unit_range all = unpack(seen);
            if (all.empty()) {
                return {};
            }
            const std::uint32_t some = std::clamp<std::uint32_t>(share(all.size()), 1, all.size());
            SPOOL_PAUSE_POINT("loop_slot: about to claim");
            if (word_.compare_exchange_weak(seen, pack({all.first + some, all.last}))) {
                return {all.first, all.first + some};
            }
        }
    }

    /// Any thread: takes the back half, rounded up. Empty if none are left.
    [[nodiscard]] unit_range steal() noexcept {
        std::uint64_t seen = word_.load();
        for (;;) {
            const unit_range all = unpack(seen);
            if (all.empty()) {
                return {};
            }
            const std::uint32_t middle = all.first + all.size() / 2;
            SPOOL_PAUSE_POINT("loop_slot: about to steal");
            if (word_.compare_exchange_weak(seen, pack({all.first, middle}))) {
                return {middle, all.last};
            }
        }
    }

    /// Any thread: how many units were left at one moment of the call.
    [[nodiscard]] std::uint32_t left() const noexcept { return unpack(word_.load()).size(); }

    /// Owner only; others may read it after the join: how many units the owner has run.
    std::uint64_t units_run = 0;

private:
    [[nodiscard]] static std::uint64_t pack(unit_range r) noexcept {
        return std::uint64_t{r.first} << 32U | r.last;
    }
    [[nodiscard]] static unit_range unpack(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word >> 32U), static_cast<std::uint32_t>(word)};
    }

    typename Atomics::template atomic<std::uint64_t> word_{0};
};

using loop_slot = basic_loop_slot<std_atomics>;

}  // namespace spool::inline v1::detail
