// wake_age: how old a pending wake-up may get. A notifier that has woken a thread relies on it to
// re-check its condition soon. The thread may not get a CPU: a thread of higher priority may hold
// the CPU that it is pinned to. So the notifier records when it woke the thread. The next notifier
// wakes another thread if that was too long ago.
#pragma once

#include <chrono>
#include <cstdint>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"

namespace spool::inline v1 {

/// Notifiers stop relying on a woken thread that has not re-checked its condition for this long.
/// Where the CPU is idle, a wake-up takes 5 to 50 us, so an ordinary wake-up is seldom doubled.
inline constexpr std::chrono::microseconds wake_limit{40};
/// The same for the leader of a delay or timer queue, by the coarse clock.
inline constexpr std::chrono::microseconds wake_timeout{1000};

/// The steady clock as of the system's last tick: up to 10 ms behind, at a third of the cost. The
/// steady clock itself where the system has no such clock.
[[nodiscard]] SPOOL_API deadline::time_point coarse_now() noexcept;

/// Whether a thread that was woken at `when`, a time on the steady clock, counts as stuck.
[[nodiscard]] inline bool is_stuck_since(deadline::time_point when) noexcept {
    return when < coarse_now() - wake_timeout;
}

/// The time of a wake-up in 32 bits, in microseconds. The value wraps around after 71 minutes. A
/// wake-up of that age seems recent for a second.
class wake_timestamp {
public:
    /// Precise: the notifier is about to make a system call anyway.
    [[nodiscard]] SPOOL_API static std::uint32_t now() noexcept;
    /// Whether a thread that was woken at `timestamp` has not looked for longer than `wake_limit`.
    /// Every notifier asks this while a wake-up is pending. A thread that asks repeatedly reads the
    /// clock ever more seldom: it skips 1, 2, 4 ... 64 reads for the same wake-up.
    [[nodiscard]] SPOOL_API static bool is_long_ago(std::uint32_t timestamp) noexcept;
};

}  // namespace spool::inline v1
