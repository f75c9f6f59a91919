// Ctrl-C: remembered, and asked for at leisure. The second one ends the program the hard way.
#pragma once

namespace spool::lab {

/// From now on SIGINT and SIGTERM are remembered.
void catch_interruptions();
[[nodiscard]] bool interrupted_by_user() noexcept;
/// 128 and the number of the signal, as shells have it; 0 without one.
[[nodiscard]] int interruption_exit_code() noexcept;

}  // namespace spool::lab
