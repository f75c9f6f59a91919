// start_thread: starts a thread as worker_thread_options describe. One source file per system.
#pragma once

#include <memory>
#include <vector>

#include "spool/base/task.hpp"
#include "spool/pool/thread_factory.hpp"

namespace spool::inline v1 {

/// CPUs lent to a thread until the last copy of the lease is gone; null: none.
using cpu_lease = std::shared_ptr<const std::vector<int>>;

/// `cpus` replaces options.affinity, unless it is null. The new thread keeps the lease.
/// \throws std::system_error naming the setting that the system refused
worker_thread start_thread(const worker_thread_options& options, task body, const worker_info& info,
                           cpu_lease cpus);

/// The lease that the calling thread was started with, or null.
[[nodiscard]] const std::vector<int>* lease_of_this_thread() noexcept;

}  // namespace spool::inline v1
