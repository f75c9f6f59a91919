#include "report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "export.hpp"
#include "report_figures.hpp"
#include "report_template.hpp"
#include "summary_text.hpp"

namespace spool::lab {
namespace {

constexpr std::string_view data_mark = "\"SPOOL_REPORT_DATA\"";

// Escapes "</", so that "</script>" in a text does not end the script that holds the data.
std::string embedded(const nlohmann::json& data) {
    std::string text = data.dump();
    for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3)) {
        text.replace(at, 2, "<\\/");
    }
    return text;
}

}  // namespace

std::string report_page(const nlohmann::json& data) {
    std::string page{report_template};
    page.replace(page.find(data_mark), data_mark.size(), embedded(data));
    return page;
}

nlohmann::json report_data(const std::string& title, const std::vector<titled_run>& runs) {
    nlohmann::json all = nlohmann::json::array();
    for (const titled_run& one : runs) {
        const run_summary summary = summarise(*one.run);
        nlohmann::json run = to_json(*one.run, summary);
        run["title"] = one.title;
        run["verdict"] = verdict_json(*one.run, summary);
        run["load"] = load_json(one.run->what);
        run["marks"] = marks_json(one.run->what);
        run["distribution"] = distribution_json(*one.run);
        run["heat"] = heat_json(*one.run, over_time(*one.run));
        run["warnings"] = warnings_of(*one.run, summary);
        all.push_back(std::move(run));
    }
    return {{"kind", "runs"}, {"title", title}, {"about", about_json()}, {"runs", std::move(all)}};
}

void write_file(const std::string& file, const std::string& text) {
    std::ofstream stream{file, std::ios::binary};
    stream << text;
    stream.close();
    if (!stream) {
        throw std::runtime_error(fmt::format("{}: cannot be written", file));
    }
}

void write_report(const std::string& file, const std::string& title, const std::vector<titled_run>& runs,
                  const nlohmann::json& more) {
    namespace fs = std::filesystem;
    const fs::path base = fs::path{file}.replace_extension();
    if (base.has_parent_path()) {
        fs::create_directories(base.parent_path());
    }
    nlohmann::json data = report_data(title, runs);
    data.update(more);
    write_file(file, report_page(data));
    write_file(base.string() + ".json", data.dump(1) + "\n");
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const std::string number = runs.size() == 1 ? "" : fmt::format("-{}", i + 1);
        write_file(base.string() + number + ".csv", to_csv(over_time(*runs[i].run)));
    }
}

}  // namespace spool::lab
