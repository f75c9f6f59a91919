// Pools ready made.
#pragma once

#include <cstddef>

#include "spool/base/export.hpp"
#include "spool/executor/unconfigurable.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

/// `n` workers that stay, an unbounded queue.
/// \throws std::invalid_argument if `n` is 0, or the factory is empty
[[nodiscard]] SPOOL_API thread_pool_executor
fixed_thread_pool(std::size_t n, thread_factory factory = worker_thread_factory());

/// As many workers as there are tasks at a time, each kept for a minute; no queue: a task goes to an idle worker or
/// a new one. For many short tasks that mostly wait.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API thread_pool_executor
cached_thread_pool(thread_factory factory = worker_thread_factory());

/// `n` workers that stay; what a task submits from inside stays with its worker, and those that have nothing to do steal it
/// (see work_stealing_queue). For tasks that spawn tasks.
/// \throws std::invalid_argument if `n` is 0, or the factory is empty
[[nodiscard]] SPOOL_API thread_pool_executor
work_stealing_pool(std::size_t n = default_parallelism(), thread_factory factory = worker_thread_factory());

/// One worker, an unbounded queue: tasks run one after the other. It cannot be made into anything else: the handle owns
/// the pool and has none of its setters.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API unconfigurable_service
single_thread_executor(thread_factory factory = worker_thread_factory());

}  // namespace spool::inline v1
