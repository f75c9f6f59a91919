// Ctrl-C: the handler records the first signal, and the program polls for it. A second signal
// kills the program.
#pragma once

namespace spool::lab {

/// Installs the handlers for SIGINT and SIGTERM.
void catch_interruptions();
[[nodiscard]] bool interrupted_by_user() noexcept;
/// Returns 128 plus the signal's number, as shells do; 0 if no signal came.
[[nodiscard]] int interruption_exit_code() noexcept;

}  // namespace spool::lab
