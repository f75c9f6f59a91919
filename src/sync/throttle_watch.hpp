// throttle_watch: whether the cgroups of the process leave CPU time for spinning.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// Where the quota is less than two CPUs, a thread that spins takes the time of the one that it waits for. Where the process was
/// throttled, all of its threads stood still for the rest of a period: spinning would bring that about again.
///
/// Thread safety: from any thread.
class throttle_watch {
public:
    static constexpr double least_quota = 2;              // CPUs
    static constexpr std::chrono::seconds asks_every{1};  // reads the files so often
    static constexpr std::chrono::seconds keeps_for{10};  // no spinning for so long after throttling

    /// The folders of cpu_cgroup_folders(). \throws std::bad_alloc
    SPOOL_API throttle_watch(std::vector<std::string> folders, deadline::time_point now);

    /// Whether there is CPU time to spare. Reads the files if the last time is long enough ago.
    [[nodiscard]] bool allows_spinning(deadline::time_point now) noexcept {
        // relaxed, hint
        if (now >= next_look_.load(std::memory_order_relaxed)) [[unlikely]] {
            look(now);
        }
        return allows_spinning();
    }
    /// The answer of the last time.
    [[nodiscard]] bool allows_spinning() const noexcept {
        return allows_.load(std::memory_order_relaxed);  // relaxed, hint
    }

private:
    SPOOL_API void look(deadline::time_point now) noexcept;

    const std::vector<std::string> folders_;
    std::atomic<bool> allows_{true};
    // Never, where a look would change nothing.
    std::atomic<deadline::time_point> next_look_{deadline::time_point::max()};
    std::atomic<std::uint64_t> throttled_{0};  // periods
    std::atomic<deadline::time_point> throttled_until_{deadline::time_point::min()};
};

}  // namespace spool::inline v1::detail
