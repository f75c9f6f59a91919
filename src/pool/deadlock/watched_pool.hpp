// watched_pool: what the search for deadlocks needs of a pool. None of it takes a lock of the pool.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "spool/base/task_id.hpp"
#include "spool/detail/future_link.hpp"
#include "spool/pool/deadlock_policy.hpp"

namespace spool::inline v1 {

class watched_pool {
public:
    virtual ~watched_pool() = default;

    /// The owner id of the tasks in its queue.
    [[nodiscard]] virtual const void* id() const noexcept = 0;
    [[nodiscard]] virtual const std::string& name() const noexcept = 0;
    [[nodiscard]] virtual const deadlock_policy& policy() const noexcept = 0;
    /// Whether no queued task can begin while this many workers wait.
    [[nodiscard]] virtual bool cannot_progress(std::size_t waiting) const noexcept = 0;
    /// Starts a lent thread for the task `wanted` (0: for any), unless the task is not due.
    /// Returns false if the start failed.
    virtual bool lend_thread(task_id wanted, future_link::readiness ready) noexcept = 0;
    /// Keeps the pool in memory.
    [[nodiscard]] virtual std::shared_ptr<watched_pool> keep() = 0;
};

struct watched_worker {
    watched_pool& pool;
    const std::string& name;
    const std::atomic<task_id>& task;  // what it runs
    const watched_worker* outer;       // the worker inside of whose task this one works, or null
};

}  // namespace spool::inline v1
