// window: what happened in a pool between two readings; diagnose() says in words what that means.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <spool/base/export.hpp>
#include <spool/pool/pool_reading.hpp>

namespace spool::inline v1::live {

/// The difference of two readings of one pool.
struct window {
    std::chrono::nanoseconds length{0};
    pool_snapshot now;  ///< at the end of the window
    /// Tasks in the window.
    std::uint64_t accepted = 0, started = 0, completed = 0, failed = 0, rejected = 0;
    std::chrono::nanoseconds busy{0}, idle{0}, cpu{0}, blocked{0};
    duration_histogram wait, run;

    [[nodiscard]] double per_second(std::uint64_t n) const noexcept;
    /// The share of their time that the workers were busy, and the share of the busy time that they
    /// had a CPU; from 0 to 1.
    [[nodiscard]] double utilisation() const noexcept;
    [[nodiscard]] double cpu_share() const noexcept;
    /// How long a task that is submitted now will wait, in seconds: the queued tasks by the
    /// completions per second. Infinity if tasks are queued and none completed.
    [[nodiscard]] double expected_wait() const noexcept;
};
/// Precondition: both are readings of the same pool, and `earlier` is not the later one.
[[nodiscard]] SPOOL_API window difference(const pool_reading& earlier, const pool_reading& later);

/// The machine, or the part of it that the process may use.
struct machine_load {
    double cpus = 1;       ///< how many the process may use
    double pressure = 0;   ///< share of the time in which some thread waited for a CPU, of 10 s
    double throttled = 0;  ///< share of the cgroup's periods in which it was throttled
};
/// From /proc and /sys; what they do not tell stays zero. `throttled` counts since the call before.
class SPOOL_API machine_meter {
public:
    [[nodiscard]] machine_load read();

private:
    std::uint64_t periods_ = 0, throttled_ = 0;
};

enum class condition {
    idle,              ///< nothing to do
    healthy,           ///< works, and tasks do not pile up
    short_of_threads,  ///< tasks wait, all workers compute, and CPUs are free
    short_of_cpu,      ///< tasks wait, and the workers do not get the CPUs that they need
    throttled,         ///< the cgroup's quota stops the process
    blocked,           ///< tasks wait, and all workers wait for something else
    stuck,             ///< tasks wait, and not one has completed
    rejecting,         ///< tasks were refused
    ended,             ///< the pool is shut down
};
/// "short of threads"
[[nodiscard]] SPOOL_API std::string_view to_string(condition c) noexcept;

struct diagnosis {
    condition what = condition::idle;
    std::string text;  ///< a sentence, with the numbers
};
/// A pure function of what was measured.
[[nodiscard]] SPOOL_API diagnosis diagnose(const window& w, const machine_load& machine);

}  // namespace spool::inline v1::live
