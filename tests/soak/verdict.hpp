// The verdict: whether the counts of a round add up.
#pragma once

#include "world.hpp"

namespace soak {

/// Judges a pool that is idle and not shut down. Precondition: no thread uses the pool any more.
void judge_at_rest(world& in, const slot& where, const spool::thread_pool_executor& pool);
/// Judges the round. Precondition: every pool and every task that was handed back is destroyed.
void judge_round(world& in);

}  // namespace soak
