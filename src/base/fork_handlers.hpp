// fork_handlers: handlers that run around fork().
#pragma once

namespace spool::inline v1 {

/// Registers handlers for every later fork(). `before` runs on the thread that forks. Then
/// `in_parent` runs on the same thread, or `in_child` on the only thread of the new process.
/// Handlers must run no user code and must be quick. Call it during static initialisation, so that
/// no fork() can come first. Returns false if there is no fork() or the registration failed.
bool try_register_fork_handlers(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// The id of this process, for messages; 0 on systems without fork().
[[nodiscard]] long process_id() noexcept;

}  // namespace spool::inline v1
