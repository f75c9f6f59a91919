// What the report shows beside the summary and the series: the verdict, the load in words, marks for what
// changed on the way, how durations are distributed, and where and when the program ran.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "run_record.hpp"
#include "statistics.hpp"

namespace spool::lab {

/// {"text", "met", "parts": [{"text", "figure", "met", "metric", "of", "class", "limit_ms" or "limit"}]};
/// null if the scenario states no goal.
[[nodiscard]] nlohmann::json verdict_json(const run_record& run, const run_summary& s);

/// A class each, in words: arrivals, service, work, deadline, retry.
[[nodiscard]] nlohmann::json load_json(const scenario& s);

/// {"at": seconds, "text": words} for each change of settings, and for each source that begins or ends
/// on the way; by time.
[[nodiscard]] nlohmann::json marks_json(const scenario& s);

/// Of waits, runs and total times: the share of the arrived tasks that took at most as long, for a row of
/// durations in equal proportion. Tasks that were lost never count as done.
[[nodiscard]] nlohmann::json distribution_json(const run_record& run);

/// Of the same, over time: [slot, row, count] for each cell that is not empty. Row r holds durations of
/// up to lowest_ms * 10^((r + 1) / rows_per_decade).
[[nodiscard]] nlohmann::json heat_json(const run_record& run, const std::vector<slot>& slots);

/// Version, date, command line, CPUs, and how busy the machine was.
[[nodiscard]] nlohmann::json about_json();
/// The command line for about_json(). Called once, at the beginning of main().
void remember_command(int argc, const char* const* argv);

}  // namespace spool::lab
