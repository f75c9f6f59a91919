// The verdict: does it all add up?
#pragma once

#include "world.hpp"

namespace soak {

/// Of a pool that nobody uses and that has come to rest, but is not shut down.
void judge_at_rest(world& in, const slot& where, const spool::thread_pool_executor& pool);
/// When every pool is gone and every task that was handed back, too.
void judge_round(world& in);

}  // namespace soak
