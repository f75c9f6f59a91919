// exposition: what pools measured, as text for Prometheus.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <spool/base/export.hpp>
#include <spool/live/window.hpp>

namespace spool::inline v1::live {

/// What is known about one pool at one time.
struct pool_status {
    /// The pool's name; "name#2" for the second of two that have one name.
    std::string label;
    pool_reading reading;
    /// Never goes down, unlike pool_reading::accepted().
    std::uint64_t accepted = 0;
    window last_10s, last_60s;                    ///< shorter for a new pool
    std::size_t most_queued = 0;                  ///< of the last 60 s, as far as the ticks saw it
    std::chrono::nanoseconds longest_running{0};  ///< the age of the oldest task that runs
    diagnosis verdict;
};

enum class exposition_format {
    prometheus,   ///< text format 0.0.4
    open_metrics  ///< OpenMetrics 1.0.0
};
/// The Content-Type of the format.
[[nodiscard]] SPOOL_API std::string_view content_type(exposition_format format) noexcept;

/// One family of metrics after the other, each with one series per pool. Names of pools and kinds
/// are escaped, and cut at 128 bytes. `left_out`: pools that the monitor does not follow.
[[nodiscard]] SPOOL_API std::string exposition(std::span<const pool_status> pools, exposition_format format,
                                               std::size_t left_out = 0);

}  // namespace spool::inline v1::live
