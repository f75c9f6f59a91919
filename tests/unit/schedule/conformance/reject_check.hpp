// The reject-check for a scheduler: what must hold for every way to submit or schedule, once it takes no task any more.
#pragma once

#include "spool/schedule/scheduled_thread_pool_executor.hpp"

namespace conformance {

/// The scheduler is shut down. Tries each policy with execute(), the three forms of submit() and the four of scheduling, and leaves
/// the scheduler as it was. Nothing may complete in the meantime.
void expect_all_forms_are_rejected(spool::scheduled_thread_pool_executor& pool);

}  // namespace conformance
