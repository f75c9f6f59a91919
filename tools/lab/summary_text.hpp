// The outcome of a run, for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "run_record.hpp"
#include "statistics.hpp"

namespace spool::lab {

/// Several lines.
[[nodiscard]] std::string summary_text(const run_record& run, const run_summary& s);

/// The words in lines of at most 80 characters, each with its end of line.
[[nodiscard]] std::string wrapped(std::string_view words);

/// What to distrust about the run, a sentence each: the load generator was late, or the machine stretched the tasks.
[[nodiscard]] std::vector<std::string> warnings_of(const run_record& run, const run_summary& s);

/// "goal p99<50ms: missed (p99 wait 72.1 ms)"; empty if the scenario states no goal.
[[nodiscard]] std::string verdict_text(const run_record& run, const run_summary& s);

}  // namespace spool::lab
