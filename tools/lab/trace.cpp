#include "trace.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "duration_text.hpp"
#include "json_fields.hpp"
#include "limits.hpp"

namespace spool::lab {

std::vector<nanoseconds> read_trace(const json_field& file, const std::string& folder, trace_column column) {
    const std::string path = (std::filesystem::path{folder} / file.text()).string();
    std::vector<nanoseconds> values;
    std::size_t number = 0;
    try {
        std::istringstream lines{read_source(path).text};
        for (std::string line; std::getline(lines, line);) {
            ++number;
            if (line.empty() || line.front() == '#') {
                continue;
            }
            const std::size_t comma = line.find(',');
            const std::string cell = column == trace_column::arrival || comma == std::string::npos
                                         ? line.substr(0, comma)
                                         : line.substr(comma + 1);
            const auto value = parse_duration(cell + "s");
            const nanoseconds most = column == trace_column::arrival ? longest_run : longest_service;
            if (!value.has_value() || *value > most) {
                throw input_error(fmt::format("{}:{}: expected seconds, at most {}, got \"{}\"", path, number,
                                              to_text(most), cell));
            }
            values.push_back(*value);
        }
    } catch (const input_error& e) {
        file.complain(e.what());
    }
    if (values.empty()) {
        file.complain(fmt::format("the trace {} is empty", path));
    }
    return values;
}

}  // namespace spool::lab
