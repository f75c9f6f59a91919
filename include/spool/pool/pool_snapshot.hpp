// pool_snapshot: a pool's numbers, taken together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "spool/base/export.hpp"
#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {

/// Exact at rest; under load each is a value that it had while the snapshot was taken.
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
    std::size_t queue_capacity = 0;     ///< how many it may hold
    std::uint64_t tasks = 0;            ///< completed + running + queued
    std::uint64_t completed = 0;        ///< ended, however
    std::uint64_t rejected = 0;         ///< not taken, whatever the policy did with it, or pushed out

    friend bool operator==(const pool_snapshot&, const pool_snapshot&) = default;
};

/// "state running, workers 8 of 8 (core 4), active 8, queued 1024 of 1024, completed 17, rejected 3"
[[nodiscard]] SPOOL_API std::string to_string(const pool_snapshot& s);

}  // namespace spool::inline v1
