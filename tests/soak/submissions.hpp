// The ways to submit a task to a pool, each with its book-keeping.
#pragma once

#include <vector>

#include "world.hpp"

namespace soak {

/// Both submit to `pool`, which must be the pool of `where`, and return the entries that they made.
entry* submit_one(const place& at, slot& where, spool::thread_pool_executor& pool, way by);
std::vector<entry*> submit_many(const place& at, slot& where, spool::thread_pool_executor& pool, way by);
/// Schedules a one-shot or periodic task if `pool` is a scheduled pool; else calls submit().
entry* schedule_one(const place& at, slot& where, spool::thread_pool_executor& pool);
/// Submits a task to the pool `to`, which must be the pool of `where`. The task holds `handle`: of
/// that pool, or of an earlier one.
void submit_handle(world& in, slot& where, std::shared_ptr<managed> to, std::shared_ptr<managed> handle,
                   dice& chance);

}  // namespace soak
