// The reject-check: what must hold for every way to submit, whenever a pool cannot take a task.
#pragma once

#include "spool/base/error.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace conformance {

/// The pool refuses everything at the moment, for this reason. Tries each policy with execute() and the three forms of
/// submit(), and leaves the pool as it was. Nothing may complete in the meantime.
void expect_submissions_are_rejected(spool::thread_pool_executor& pool, spool::rejection_reason reason);

}  // namespace conformance
