// The report's data besides the summary and the series: the verdict, the load in words, marks for
// changes during the run, the distribution of durations, and where and when the program ran.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run_record.hpp"
#include "statistics.hpp"

namespace spool::lab {

/// Returns {"text", "met", "parts": [{"text", "figure", "met", "metric", "of", "class", "limit"}]};
/// null if the scenario states no goal. The limit of a duration is in milliseconds.
[[nodiscard]] nlohmann::json verdict_json(const run_record& run, const run_summary& s);

/// Describes each class in words: arrivals, service, work, deadline, retry.
[[nodiscard]] nlohmann::json load_json(const scenario& s);

/// Returns {"at": seconds, "text": words} for each change, and for each source that begins or ends
/// during the run; ordered by time.
[[nodiscard]] nlohmann::json marks_json(const scenario& s);

/// Returns cumulative distributions of waits, runs and total times: for logarithmically spaced
/// durations, the share of the arrived tasks that took at most that long. Lost tasks never count as
/// done.
[[nodiscard]] nlohmann::json distribution_json(const run_record& run);

/// Returns the same durations over time: [slot, row, count] for each non-empty cell. Row r holds
/// durations of up to lowest_ms * 10^((r + 1) / rows_per_decade).
[[nodiscard]] nlohmann::json heat_json(const run_record& run, const std::vector<slot>& slots);

/// Returns version, date, command line, number of CPUs and load average.
[[nodiscard]] nlohmann::json about_json();
/// Stores the command line for about_json(). Call it once, at the start of main().
void remember_command(int argc, const char* const* argv);

}  // namespace spool::lab
