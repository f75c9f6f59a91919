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
/// Where the CPU is idle, a wake-up takes 5 to 50 us, so an ordinary wake-up is never doubled.
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
    [[nodiscard]] static std::uint32_t now() noexcept { return to_32_bits(deadline::clock::now()); }
    /// Cheap: every notifier asks this while a wake-up is pending. The coarse clock may be behind
    /// `timestamp`, hence the slack.
    [[nodiscard]] static bool is_long_ago(std::uint32_t timestamp) noexcept {
        constexpr std::uint32_t slack = 1'000'000;
        constexpr auto timeout = static_cast<std::uint32_t>(wake_timeout.count());
        return to_32_bits(coarse_now()) - timestamp + slack > timeout + slack;
    }

private:
    static std::uint32_t to_32_bits(deadline::time_point t) noexcept {
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch());
        return static_cast<std::uint32_t>(us.count());
    }
};

}  // namespace spool::inline v1
