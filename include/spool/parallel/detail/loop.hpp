// loop: what every parallel loop and algorithm runs on.
//
// A loop has `count` elements. They are divided into units: `grain` elements each, or one chunk
// each. Participants run units in blocks. Participant 0 is the caller; the others are children of a
// task_group, and the loop does not depend on any of them.
//
//     1. The caller runs blocks alone and times them. A loop that is too short to gain ends here.
//     2. The caller divides the units that are left among the slots of the participants
//        (loop_slot.hpp), forks the helpers, and takes part itself.
//     3. A participant claims blocks at the front of its own slot. If the slot is empty, it takes
//        the back half of the fullest other slot. If all are empty, it leaves.
//     4. The caller joins. Helpers that no thread has begun find nothing to do, and the join runs
//        them or has them dropped. If helpers left early, because their pool stops, the caller
//        runs what is left.
//
// So equal participants run the same part of the range each time, as with a static schedule, and
// unequal ones balance out. A block lasts about as long as `block_time`, and less near the end of a
// slot, so that there is something left to take.
//
// Why a loop never ends early in silence: each participant counts the units that it ran, in its
// slot. The caller adds the counts up after the join, and throws if one is missing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>

#include "spool/base/export.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/parallel/detail/loop_slot.hpp"
#include "spool/pool/task_group.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1::detail {

/// How a loop divides its elements, and what stops it.
struct loop_shape {
    std::size_t count = 0;
    std::size_t grain = 0;
    std::size_t chunks = 0;
    const std::stop_token& stop;
    const char* name = "parallel_for";  // for messages
    // The loop is a step of an algorithm, which checks for stops itself: only `stop` ends it.
    bool is_step = false;
};

/// default_parallelism(), asked once.
[[nodiscard]] SPOOL_API std::size_t loop_cpus() noexcept;

/// How many threads a loop on `pool` uses at most: as many as the pool has workers, and the caller.
/// The caller that is no worker does not count extra if the workers alone occupy all CPUs.
[[nodiscard]] SPOOL_API std::size_t loop_participants(const thread_pool_executor& pool);

class SPOOL_API loop {
public:
    /// Called as body(first, last, participant), 0 <= first < last <= count. Calls with the same
    /// participant never overlap.
    using body_type = function_ref<void(std::size_t, std::size_t, std::size_t)>;

    /// Participants: from loop_participants(), or fewer.
    loop(thread_pool_executor& pool, const loop_shape& shape, std::size_t participants, body_type body);
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;
    ~loop() = default;

    /// Returns when the body has run for every element.
    /// \throws the first exception of the body; interrupted; cancelled in a forked child process
    void run();

private:
    static constexpr std::size_t few = 8;
    using ticks = std::uint64_t;

    [[nodiscard]] std::size_t element(std::uint32_t unit) const noexcept;
    [[nodiscard]] bool run_alone();
    void fork_and_join();
    void participate(std::size_t participant, const task_group* helpers) noexcept;
    [[nodiscard]] bool refill(std::size_t participant) noexcept;
    [[nodiscard]] bool run_block(unit_range r, std::size_t participant) noexcept;
    [[nodiscard]] bool must_stop() noexcept;
    void throw_if_incomplete() const;

    thread_pool_executor& pool_;
    const loop_shape& shape_;
    const body_type body_;
    std::uint64_t unit_size_ = 1;  // elements per unit; with chunks, not used
    std::uint32_t units_ = 0;
    std::uint32_t done_alone_ = 0;  // units that the caller ran before the fork
    ticks per_unit_ = 0;            // how long a unit took the caller then
    std::size_t participants_;
    // Set by the first participant that stops the loop, read by all before each block.
    std::atomic<bool> stopped_{false};
    std::atomic<bool> failed_{false};  // decides which exception is the first
    bool interrupted_ = false;         // caller only
    std::exception_ptr error_;         // written by the winner of failed_, read after the join
    loop_slot* slots_ = nullptr;
};

/// Runs the body over all elements, on as many threads as pay.
inline void run_loop(thread_pool_executor& pool, const loop_shape& shape, loop::body_type body) {
    loop{pool, shape, loop_participants(pool), body}.run();
}

}  // namespace spool::inline v1::detail
