// The HTML page of the report, embedded at build time from report.html.
#pragma once

#include <string_view>

namespace spool::lab {

extern const std::string_view report_template;

}  // namespace spool::lab
