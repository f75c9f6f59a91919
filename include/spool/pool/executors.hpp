// Ready-made pools. Each is a function, for a variable, and a class, for a member, a std::optional
// or std::make_unique.
//
//     spool::thread_pool_executor pool = spool::fixed_thread_pool(4);
//     std::optional<spool::fixed_thread_pool_executor> later;    later.emplace(4);
//     auto owned = std::make_unique<spool::fixed_thread_pool_executor>(4);
#pragma once

#include <cstddef>

#include "spool/base/export.hpp"
#include "spool/executor/unconfigurable.hpp"
#include "spool/pool/thread_pool_executor.hpp"

namespace spool::inline v1 {

/// `n` workers that never time out, and an unbounded queue.
/// \throws std::invalid_argument if `n` is 0, or the factory is empty
[[nodiscard]] SPOOL_API thread_pool_executor
fixed_thread_pool(std::size_t n, thread_factory factory = worker_thread_factory());

/// As many workers as there are tasks at a time; an idle worker leaves after a minute. No queue: a
/// task goes to an idle worker or a new one. For many short tasks that mostly wait.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API thread_pool_executor
cached_thread_pool(thread_factory factory = worker_thread_factory());

/// `n` workers that never time out. What a task submits stays with its worker, and idle workers
/// steal it (see work_stealing_queue). For tasks that spawn tasks.
/// \throws std::invalid_argument if `n` is 0, or the factory is empty
[[nodiscard]] SPOOL_API thread_pool_executor
work_stealing_pool(std::size_t n = default_parallelism(), thread_factory factory = worker_thread_factory());

/// One worker and an unbounded queue: tasks run one after the other. The pool cannot be
/// reconfigured: the handle owns the pool and has none of its setters.
/// \throws std::invalid_argument if the factory is empty
[[nodiscard]] SPOOL_API unconfigurable_service
single_thread_executor(thread_factory factory = worker_thread_factory());

// ---- The same pools as types. Each adds only a constructor to its base.

/// As fixed_thread_pool().
class SPOOL_API fixed_thread_pool_executor : public thread_pool_executor {
public:
    /// \throws std::invalid_argument if `n` is 0, or the factory is empty
    explicit fixed_thread_pool_executor(std::size_t n,
                                        spool::thread_factory factory = worker_thread_factory());
};

/// As cached_thread_pool().
class SPOOL_API cached_thread_pool_executor : public thread_pool_executor {
public:
    /// \throws std::invalid_argument if the factory is empty
    explicit cached_thread_pool_executor(spool::thread_factory factory = worker_thread_factory());
};

/// As work_stealing_pool().
class SPOOL_API work_stealing_pool_executor : public thread_pool_executor {
public:
    /// \throws std::invalid_argument if `n` is 0, or the factory is empty
    explicit work_stealing_pool_executor(std::size_t n = default_parallelism(),
                                         spool::thread_factory factory = worker_thread_factory());
};

/// As single_thread_executor().
class SPOOL_API single_thread_pool_executor : public unconfigurable_service {
public:
    /// \throws std::invalid_argument if the factory is empty
    explicit single_thread_pool_executor(thread_factory factory = worker_thread_factory());
};

}  // namespace spool::inline v1
