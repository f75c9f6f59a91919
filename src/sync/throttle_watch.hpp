// throttle_watch: whether the cgroups of the process leave CPU time to spin.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "spool/base/deadline.hpp"

namespace spool::inline v1::detail {

/// If the quota is less than two CPUs, a spinning thread takes CPU time from the thread that it
/// waits for. If the process was throttled, all of its threads stood still for the rest of a
/// period, and spinning would cause that again.
///
/// Thread safety: any thread may call every member.
class throttle_watch {
public:
    static constexpr double min_quota = 2;  // CPUs
    /// How often it reads the files.
    static constexpr std::chrono::seconds refresh_interval{1};
    /// How long throttling forbids spinning.
    static constexpr std::chrono::seconds throttled_for{10};

    /// `folders`: see cpu_cgroup_folders(). \throws std::bad_alloc
    throttle_watch(std::vector<std::string> folders, deadline::time_point now);

    /// Whether there is CPU time to spare. Reads the files at most once per refresh_interval.
    [[nodiscard]] bool may_spin(deadline::time_point now) noexcept {
        // relaxed, hint
        if (now >= next_refresh_.load(std::memory_order_relaxed)) [[unlikely]] {
            refresh(now);
        }
        return may_spin();
    }
    /// The last answer.
    [[nodiscard]] bool may_spin() const noexcept {
        return may_spin_.load(std::memory_order_relaxed);  // relaxed, hint
    }

private:
    void refresh(deadline::time_point now) noexcept;

    const std::vector<std::string> folders_;
    std::atomic<bool> may_spin_{true};
    // time_point::max() if reading the files again would change nothing.
    std::atomic<deadline::time_point> next_refresh_{deadline::time_point::max()};
    std::atomic<std::uint64_t> throttled_periods_{0};
    std::atomic<deadline::time_point> throttled_until_{deadline::time_point::min()};
};

}  // namespace spool::inline v1::detail
