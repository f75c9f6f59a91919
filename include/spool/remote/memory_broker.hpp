// memory_broker: jobs in this process. For tests, and for programs that may grow later.
#pragma once

#include <memory>

#include "spool/base/clock_source.hpp"
#include "spool/remote/broker.hpp"

namespace spool::inline v1::remote {

/// A broker in memory. Its jobs end with the process. `clock` is for tests; null: the real one.
[[nodiscard]] SPOOL_API std::shared_ptr<broker> memory(std::shared_ptr<clock_source> clock = nullptr);

}  // namespace spool::inline v1::remote
