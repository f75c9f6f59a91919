// default_parallelism: how many threads can run at once.
#pragma once

#include <cstddef>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// How many CPUs this process may use: the smaller of the affinity mask and the cgroup quota,
/// rounded up, at least 1.
[[nodiscard]] SPOOL_API std::size_t default_parallelism() noexcept;

}  // namespace spool::inline v1
