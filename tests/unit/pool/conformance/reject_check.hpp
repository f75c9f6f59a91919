// The reject-check: what must hold for every way to submit whenever a pool cannot accept a task.
#pragma once

#include "spool/base/error.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace conformance {

/// Precondition: the pool currently refuses everything, for this reason, and nothing completes
/// meanwhile. Tries each policy with execute() and the three forms of submit(). Restores the pool's
/// policy.
void expect_submissions_are_rejected(spool::thread_pool_executor& pool, spool::rejection_reason reason);

}  // namespace conformance
