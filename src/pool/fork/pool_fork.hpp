// What becomes of a pool in a forked child (see fork_registry.hpp).
//
// The child does not use the parent's pool any more: neither the pool nor a task in it is
// destroyed. At the next use the handle finds no pool (process_local_pool::get()). The handle then
// either ends the process, or makes a new pool from those settings that are whole at every instant.
#pragma once

#include "pool/pool.hpp"

namespace spool::inline v1 {

/// The worker that forked calls this when its task has ended in the child.
void end_task_in_child(const detail::pool& pool) noexcept;

}  // namespace spool::inline v1
