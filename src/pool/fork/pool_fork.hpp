// What becomes of a pool in a forked child.
//
// The child has one thread, the one that forked, and a copy of everything as it was at that
// instant. Other threads may have been inside any lock, or in the middle of a change of the queue.
// So the child does not use the parent's pool any more. The handle releases the pool, which stays
// in memory for as long as the process: neither the pool nor a task in it is destroyed. At the next
// use the handle finds no pool (use()). The handle then either ends the process, or makes a new
// pool from those settings that are whole at every instant.
#pragma once

#include <memory>
#include <string>

#include "pool/pool.hpp"

namespace spool::inline v1 {

/// On the only thread of the child: the pool stays in memory, and its futures read as cancelled.
void abandon_in_child(std::shared_ptr<detail::pool> pool) noexcept;
[[nodiscard]] inline bool is_abandoned(const detail::pool& pool) noexcept {
    return pool.self_in_child != nullptr;
}
/// The worker that forked calls this when its task has ended in the child.
void end_task_in_child(const detail::pool& pool) noexcept;
[[noreturn]] void abort_in_child(const detail::pool& pool, const std::string& why) noexcept;
/// Makes a new, empty pool with the settings of the abandoned one.
[[nodiscard]] std::shared_ptr<detail::pool> reinitialize_after_fork(const detail::pool& pool);

}  // namespace spool::inline v1
