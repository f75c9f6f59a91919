// start_thread: a thread set up as worker_thread_options say. One source file per system.
#pragma once

#include "spool/base/task.hpp"
#include "spool/pool/thread_factory.hpp"

namespace spool::inline v1 {

/// \throws std::system_error naming the setting that the system refused
worker_thread start_thread(const worker_thread_options& options, task body, const worker_info& info);

}  // namespace spool::inline v1
