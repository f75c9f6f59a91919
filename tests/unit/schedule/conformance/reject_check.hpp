// The reject-check for a scheduler: what must hold for every way to submit or schedule once it
// accepts no more tasks.
#pragma once

#include "spool/schedule/scheduled_thread_pool_executor.hpp"

namespace conformance {

/// Precondition: the scheduler is shut down, and nothing completes meanwhile. Tries each policy
/// with execute(), the three forms of submit() and the four of scheduling. Restores the scheduler's
/// policy.
void expect_all_forms_are_rejected(spool::scheduled_thread_pool_executor& pool);

}  // namespace conformance
