// A recorded trace: one line per task, "<arrival in seconds>[,<service in seconds>]". Lines that
// begin with # are comments.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace spool::lab {

using std::chrono::nanoseconds;

class json_field;

enum class trace_column { arrival, service };

/// Reads one column of the file that the field names, relative to `folder`. A line without a comma
/// serves for either column. \throws input_error that names the line of the trace
[[nodiscard]] std::vector<nanoseconds> read_trace(const json_field& file, const std::string& folder,
                                                  trace_column column);

}  // namespace spool::lab
