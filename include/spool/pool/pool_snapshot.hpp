// pool_snapshot: a pool's numbers, taken together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "spool/base/export.hpp"
#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {

/// Exact at rest; under load each number is a value that held while the snapshot was taken.
struct pool_snapshot {
    std::string name;
    run_state state = run_state::running;
    std::size_t core_size = 0;
    std::size_t maximum_size = 0;
    std::chrono::nanoseconds keep_alive{0};
    std::size_t pool_size = 0;          ///< workers alive
    std::size_t active = 0;             ///< workers that run a task
    std::size_t largest_pool_size = 0;  ///< most workers ever alive at once
    std::size_t queued = 0;             ///< tasks in the queue, or kept by a worker
    std::size_t queue_capacity = 0;     ///< how many tasks the queue may hold
    std::uint64_t tasks = 0;            ///< completed + running + queued
    std::uint64_t completed = 0;        ///< tasks that have ended, in whatever way
    /// Tasks refused or evicted, also if the policy then ran them. Not counted: those that
    /// block_policy or discard_oldest_policy got in after all.
    std::uint64_t rejected = 0;

    friend bool operator==(const pool_snapshot&, const pool_snapshot&) = default;
};

/// "state running, workers 8 of 8 (core 4), active 8, queued 24 of 1024, completed 17, rejected 3"
[[nodiscard]] SPOOL_API std::string to_string(const pool_snapshot& s);

}  // namespace spool::inline v1
