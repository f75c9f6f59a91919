// A recorded trace: a line per task, "<arrival in seconds>[,<service in seconds>]"; lines that begin with # are comments.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace spool::lab {

using std::chrono::nanoseconds;

class json_field;

enum class trace_column { arrival, service };

/// One column of the file that the field names, relative to `folder`. \throws input_error naming the trace's line
[[nodiscard]] std::vector<nanoseconds> read_trace(const json_field& file, const std::string& folder,
                                                  trace_column column);

}  // namespace spool::lab
