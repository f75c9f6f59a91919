// control_word: a pool's run state and its numbers of workers in one atomic word. Only this file
// packs the bits.
//
//     63    61 60              32 31               0
//    +--------+------------------+------------------+
//    | state  | workers          | departing        |
//    +--------+------------------+------------------+
//
// departing: workers that left the workers' count but are still busy leaving (see
// lifecycle_path.hpp).
//
// I1: the state never goes back. I2: the number of workers never exceeds largest_pool, and each
// worker is counted in once and out once.
// State and numbers are always judged from one load, and changed together. With two words, a worker
// that comes back and leaves again between two loads would make a reader see a combination that
// never existed.
// Every access is seq_cst. The word is the pool's half of several two-variable handshakes (with the
// queue in execute(), with the give-up predicates of waiting workers), and it is written rarely.
#pragma once

#include <atomic>
#include <cstdint>

#include "spool/detail/pause_point.hpp"
#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {

template <class Atomic>
class basic_control_word {
public:
    [[nodiscard]] pool_control load() const noexcept { return unpack(word_.load()).now; }

    /// The whole word as it was at one load.
    class observation {
    public:
        [[nodiscard]] pool_control now() const noexcept { return unpack(word_).now; }

    private:
        friend class basic_control_word;
        explicit observation(std::uint64_t word) noexcept : word_(word) {}
        std::uint64_t word_;
    };
    [[nodiscard]] observation observe() const noexcept { return observation{word_.load()}; }
    /// Whether state, workers and departing workers are as they were.
    [[nodiscard]] bool is_still(observation seen) const noexcept { return word_.load() == seen.word_; }

    /// These try_ functions succeed only if state and workers still equal `seen`. Otherwise they
    /// store the current values in `seen` and return false. The first two count a worker in or out.
    [[nodiscard]] bool try_add_worker(pool_control& seen) noexcept { return try_change(seen, +1, 0); }
    [[nodiscard]] bool try_release_worker(pool_control& seen) noexcept { return try_change(seen, -1, 0); }
    /// try_leave() moves one worker from the workers' count to the departing count; try_come_back()
    /// moves it back.
    [[nodiscard]] bool try_leave(pool_control& seen) noexcept { return try_change(seen, -1, +1); }
    [[nodiscard]] bool try_come_back(pool_control& seen) noexcept { return try_change(seen, +1, -1); }
    void leave() noexcept {
        pool_control seen = load();
        while (!try_leave(seen)) {}
    }
    void release_worker() noexcept {
        pool_control seen = load();
        while (!try_release_worker(seen)) {}
    }
    /// Marks the worker as departing while a successor takes over its place in the count.
    /// end_departure() lowers the departing count: at the end of an exit, or if no successor
    /// started.
    void begin_departure() noexcept { word_.fetch_add(1); }
    void end_departure() noexcept { word_.fetch_sub(1); }

    /// Moves the state forward to `state`. Returns false if the state was there or further already.
    bool advance_to(run_state state) noexcept {
        std::uint64_t word = word_.load();
        for (;;) {
            const contents seen = unpack(word);
            if (seen.now.state >= state) {
                return false;
            }
            if (word_.compare_exchange_strong(word, pack({{state, seen.now.workers}, seen.departing}))) {
                return true;
            }
        }
    }
    /// Moves the state from exactly `seen`, with no workers and none departing, to tidying. The one
    /// caller that succeeds must end the pool. Precondition: `seen` has no workers.
    [[nodiscard]] bool try_tidy(const pool_control& seen) noexcept {
        std::uint64_t word = pack({seen, 0});
        return word_.compare_exchange_strong(word, pack({{run_state::tidying, 0}, 0}));
    }
    [[nodiscard]] bool is_any_departing() const noexcept { return unpack(word_.load()).departing != 0; }
    /// Whether at most `workers` workers are counted, and at most `departing` workers depart.
    [[nodiscard]] bool has_at_most(std::size_t workers, std::size_t departing) const noexcept {
        const contents c = unpack(word_.load());
        return c.now.workers <= workers && c.departing <= departing;
    }

private:
    struct contents {
        pool_control now;
        std::uint32_t departing;
    };
    static constexpr int state_shift = 61;
    static constexpr int workers_shift = 32;
    static constexpr std::uint64_t workers_mask = (std::uint64_t{1} << (state_shift - workers_shift)) - 1;
    static_assert(workers_mask == largest_pool);

    static std::uint64_t pack(contents c) noexcept {
        return static_cast<std::uint64_t>(c.now.state) << state_shift |
               static_cast<std::uint64_t>(c.now.workers) << workers_shift | c.departing;
    }
    static contents unpack(std::uint64_t word) noexcept {
        return {{static_cast<run_state>(word >> state_shift),
                 static_cast<std::size_t>(word >> workers_shift & workers_mask)},
                static_cast<std::uint32_t>(word)};
    }
    bool try_change(pool_control& seen, int workers, int departing) noexcept {
        for (std::uint64_t word = word_.load();;) {
            contents c = unpack(word);
            if (c.now != seen) {
                seen = c.now;
                return false;
            }
            c.now.workers += static_cast<std::size_t>(workers);
            c.departing += static_cast<std::uint32_t>(departing);
            SPOOL_PAUSE_POINT("control word: about to change");
            if (word_.compare_exchange_strong(word, pack(c))) {
                return true;
            }
        }
    }

    Atomic word_{0};
};

using control_word = basic_control_word<std::atomic<std::uint64_t>>;

}  // namespace spool::inline v1
