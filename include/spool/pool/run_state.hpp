// The states of a pool's life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// Values only ever increase, so `<` reads "earlier than".
enum class run_state : std::uint8_t {
    running,        ///< accepts tasks and runs them
    shutting_down,  ///< refuses new tasks, still runs the queued ones
    stopping,       ///< refuses new tasks, hands the queue back, asks running tasks to stop
    tidying,        ///< no workers left; the terminated hook is running
    terminated,     ///< the hook has returned; await_termination() succeeds
};

[[nodiscard]] constexpr bool accepts_tasks(run_state s) noexcept {
    return s == run_state::running;
}
[[nodiscard]] constexpr bool runs_queue(run_state s) noexcept {
    return s <= run_state::shutting_down;
}

/// "running", "shutting down", ...
[[nodiscard]] SPOOL_API std::string_view to_string(run_state s) noexcept;

/// The state and the number of workers, from one load of the control word.
struct pool_control {
    run_state state = run_state::running;
    std::size_t workers = 0;

    friend bool operator==(const pool_control&, const pool_control&) = default;
};

/// The largest number of workers: the count shares a word with the state. A size above it is most
/// likely a negative number that was converted.
inline constexpr std::size_t largest_pool = (std::size_t{1} << 29) - 1;

}  // namespace spool::inline v1
