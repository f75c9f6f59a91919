// A run as JSON and CSV, for programs and for the report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "run_record.hpp"
#include "statistics.hpp"

namespace spool::lab {

/// Times in milliseconds, shares from 0 to 1.
[[nodiscard]] nlohmann::json to_json(const run_summary& s);
/// Exports the whole run: scenario, settings, changes, summary, and an array per series.
[[nodiscard]] nlohmann::json to_json(const run_record& run, const run_summary& summary);

/// One line per slot of time.
[[nodiscard]] std::string to_csv(const std::vector<slot>& slots);

}  // namespace spool::lab
