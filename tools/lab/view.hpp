// Shows a run while it lasts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "run_record.hpp"

namespace spool::lab {

/// The run at one moment; rates and percentiles are those of the last second.
struct frame {
    std::string title;
    settings pool;  ///< the current settings
    nanoseconds elapsed{0};
    nanoseconds duration{0};
    std::uint32_t workers = 0;
    std::uint32_t active = 0;
    std::uint32_t queued = 0;
    double arrivals = 0;
    double throughput = 0;
    double rejections = 0;
    std::uint64_t completed = 0;
    std::uint64_t rejected = 0;
    nanoseconds wait_p50{0};
    nanoseconds wait_p99{0};
    nanoseconds run_p50{0};
    nanoseconds run_p99{0};
    bool draining = false;  ///< all tasks were submitted, but not all are done
};

class view {
public:
    view() = default;
    view(const view&) = delete;
    view& operator=(const view&) = delete;
    virtual ~view() = default;

    /// Called ten times a second.
    virtual void show(const frame& now) = 0;
};

/// Redraws in place. Returns null without a terminal, or if the terminal is too small.
[[nodiscard]] std::unique_ptr<view> make_live_view();
/// Prints one line per second.
[[nodiscard]] std::unique_ptr<view> make_plain_view();
/// Shows nothing.
[[nodiscard]] std::unique_ptr<view> make_quiet_view();

}  // namespace spool::lab
