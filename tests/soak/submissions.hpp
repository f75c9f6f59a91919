// The ways in which a task comes to a pool, each with its book-keeping.
#pragma once

#include <vector>

#include "world.hpp"

namespace soak {

/// Each submits to `pool`, which is that of `where`, and answers the entries that were made.
entry* submit_one(const place& at, slot& where, spool::thread_pool_executor& pool, way by);
std::vector<entry*> submit_many(const place& at, slot& where, spool::thread_pool_executor& pool, way by);
/// Once or again and again, if it is a scheduled pool; else as submit.
entry* schedule_one(const place& at, slot& where, spool::thread_pool_executor& pool);
/// A task for the pool `to` of `where` that holds a handle: to that very pool, or to another that its tasks do not wait for.
void submit_handle(world& in, slot& where, std::shared_ptr<managed> to, std::shared_ptr<managed> handle,
                   dice& chance);

}  // namespace soak
