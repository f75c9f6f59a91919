// The outcome of a run, for people.
#pragma once

#include <string>
#include <string_view>

#include "run_record.hpp"
#include "statistics.hpp"

namespace spool::lab {

/// Several lines.
[[nodiscard]] std::string summary_text(const run_record& run, const run_summary& s);

/// The words in lines of at most 80 characters, each with its end of line.
[[nodiscard]] std::string wrapped(std::string_view words);

/// What to distrust about the run, or nothing: the load generator was late, so that the lab itself was the bottleneck.
[[nodiscard]] std::string warning_text(const run_record& run, const run_summary& s);

}  // namespace spool::lab
