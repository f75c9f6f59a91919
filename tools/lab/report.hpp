// The report: one HTML file that needs nothing else, with charts drawn from the JSON inside it; and the same as JSON and CSV.
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

/// The page for these data.
[[nodiscard]] std::string report_page(const nlohmann::json& data);
/// The data of a report of one run, or of several beside each other.
[[nodiscard]] nlohmann::json report_data(const std::string& title, const std::vector<titled_run>& runs);

/// Writes <file>, and beside it the same as .json and, of each run, as .csv. The members of `more` go into the data, too.
/// \throws std::runtime_error if that is not possible
void write_report(const std::string& file, const std::string& title, const std::vector<titled_run>& runs,
                  const nlohmann::json& more = nlohmann::json::object());

/// \throws std::runtime_error naming the file
void write_file(const std::string& file, const std::string& text);

}  // namespace spool::lab
