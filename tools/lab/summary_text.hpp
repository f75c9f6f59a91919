// The outcome of a run as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run_record.hpp"
#include "statistics.hpp"

namespace spool::lab {

/// Returns the summary in several lines.
[[nodiscard]] std::string summary_text(const run_record& run, const run_summary& s);

/// Wraps the words into lines of at most 80 characters, each ending in a newline.
[[nodiscard]] std::string wrapped(std::string_view words);

/// Returns one sentence per reason to distrust the run: the load generator was late, or the machine
/// stretched the tasks.
[[nodiscard]] std::vector<std::string> warnings_of(const run_record& run, const run_summary& s);

/// Returns "goal p99<50ms: missed (p99 wait 72.1 ms)"; empty if the scenario states no goal.
[[nodiscard]] std::string verdict_text(const run_record& run, const run_summary& s);

}  // namespace spool::lab
