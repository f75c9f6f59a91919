// throttle_watch: whether the cgroups of the process leave CPU time to spin.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/export.hpp"

namespace spool::inline v1::detail {

/// If the quota is less than two CPUs, a spinning thread takes CPU time from the thread that it
/// waits for. If the process was throttled, all of its threads stood still for the rest of a
/// period, and spinning would cause that again.
///
/// Thread safety: any thread may call every member.
class throttle_watch {
public:
    static constexpr double least_quota = 2;              // CPUs
    static constexpr std::chrono::seconds asks_every{1};  // how often it reads the files
    static constexpr std::chrono::seconds keeps_for{10};  // how long throttling forbids spinning

    /// `folders`: see cpu_cgroup_folders(). \throws std::bad_alloc
    SPOOL_API throttle_watch(std::vector<std::string> folders, deadline::time_point now);

    /// Whether there is CPU time to spare. Reads the files at most once per asks_every.
    [[nodiscard]] bool allows_spinning(deadline::time_point now) noexcept {
        // relaxed, hint
        if (now >= next_look_.load(std::memory_order_relaxed)) [[unlikely]] {
            look(now);
        }
        return allows_spinning();
    }
    /// The last answer.
    [[nodiscard]] bool allows_spinning() const noexcept {
        return allows_.load(std::memory_order_relaxed);  // relaxed, hint
    }

private:
    SPOOL_API void look(deadline::time_point now) noexcept;

    const std::vector<std::string> folders_;
    std::atomic<bool> allows_{true};
    // time_point::max() if reading the files again would change nothing.
    std::atomic<deadline::time_point> next_look_{deadline::time_point::max()};
    std::atomic<std::uint64_t> throttled_{0};  // periods
    std::atomic<deadline::time_point> throttled_until_{deadline::time_point::min()};
};

}  // namespace spool::inline v1::detail
