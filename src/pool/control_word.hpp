// control_word: a pool's run state and its number of workers in one atomic word. The only file that packs its bits.
//
//     31    29 28                                      0
//    +--------+-----------------------------------------+
//    | state  | workers                                 |
//    +--------+-----------------------------------------+
//
// I1: the state never goes back. I2: the number never exceeds largest_pool, and each worker is counted in once and out once.
// State and number are always judged from one load. Everything is seq_cst: the word is the pool's half of several
// two-variable handshakes (with the queue in execute(), with waiting workers' give-up predicates), and it is written rarely.
#pragma once

#include <atomic>
#include <cstdint>

#include "spool/base/pause_point.hpp"
#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {

template <class Atomic>
class basic_control_word {
public:
    [[nodiscard]] pool_control load() const noexcept { return unpack(word_.load()); }

    /// Counts a worker in (or out), if the word still is what `seen` says; else `seen` is what it is now.
    [[nodiscard]] bool try_add_worker(pool_control& seen) noexcept {
        return try_change(seen, {seen.state, seen.workers + 1});
    }
    [[nodiscard]] bool try_release_worker(pool_control& seen) noexcept {
        return try_change(seen, {seen.state, seen.workers - 1});
    }
    void release_worker() noexcept {
        pool_control seen = load();
        while (!try_release_worker(seen)) {}
    }

    /// Moves the state on, unless it is there or further. True if this call moved it.
    bool advance_to(run_state state) noexcept {
        pool_control seen = load();
        while (seen.state < state) {
            if (try_change(seen, {state, seen.workers})) {
                return true;
            }
        }
        return false;
    }
    /// From exactly what was seen, with no workers: the one who succeeds ends the pool.
    [[nodiscard]] bool try_tidy(pool_control& seen) noexcept {
        return try_change(seen, {run_state::tidying, 0});
    }

private:
    static constexpr int state_shift = 29;
    static constexpr std::uint32_t workers_mask = (std::uint32_t{1} << state_shift) - 1;
    static_assert(workers_mask == largest_pool);

    static std::uint32_t pack(pool_control c) noexcept {
        return static_cast<std::uint32_t>(c.state) << state_shift | static_cast<std::uint32_t>(c.workers);
    }
    static pool_control unpack(std::uint32_t word) noexcept {
        return {static_cast<run_state>(word >> state_shift), word & workers_mask};
    }
    bool try_change(pool_control& seen, pool_control next) noexcept {
        std::uint32_t word = pack(seen);
        SPOOL_PAUSE_POINT("control word: about to change");
        const bool changed = word_.compare_exchange_strong(word, pack(next));
        if (!changed) {
            seen = unpack(word);
        }
        return changed;
    }

    Atomic word_{0};
};

using control_word = basic_control_word<std::atomic<std::uint32_t>>;

}  // namespace spool::inline v1
