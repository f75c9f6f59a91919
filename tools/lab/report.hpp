// The report: one self-contained HTML file whose charts are drawn from embedded JSON, and the same
// data as JSON and CSV.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_record.hpp"

namespace spool::lab {

struct titled_run {
    std::string title;
    const run_record* run;
};

/// Returns the HTML page for these data.
[[nodiscard]] std::string report_page(const nlohmann::json& data);
/// Returns the data of a report of one run, or of several runs side by side.
[[nodiscard]] nlohmann::json report_data(const std::string& title, const std::vector<titled_run>& runs);

/// Writes <file>, and beside it the data as .json and each run as .csv. Adds the members of `more`
/// to the data.
/// \throws std::runtime_error if a file cannot be written
void write_report(const std::string& file, const std::string& title, const std::vector<titled_run>& runs,
                  const nlohmann::json& more = nlohmann::json::object());

/// Writes a whole file. \throws std::runtime_error that names the file
void write_file(const std::string& file, const std::string& text);

}  // namespace spool::lab
