// spool lab bench: the speed comparison as a table and as charts.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.hpp"
#include "json_fields.hpp"
#include "report.hpp"
#include "report_figures.hpp"

namespace spool::lab {
namespace {

constexpr const char* script = "scripts/bench";
constexpr const char* written_by_script = "build/bench/pools.json";
constexpr const char* written_by_quick_run = "build/bench/pools-quick.json";

struct bench_options {
    std::string from;
    bool quick = false;
    std::vector<std::string> workloads;
    std::string report = "build/bench/report.html";
};

void run_script(const bench_options& o) {
    if (!std::filesystem::exists(script)) {
        throw input_error(
            fmt::format("{} is not here: run this in Spool's own folder, or give --from FILE.json", script));
    }
    std::string command = fmt::format("{}{}", script, o.quick ? " --quick" : "");
    for (const std::string& workload : o.workloads) {
        command += ' ' + workload;
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs yet
    if (std::system(command.c_str()) != 0) {
        throw std::runtime_error(fmt::format("{} failed", script));
    }
}

// Checks the fields that the page and the table need; passes the rest through.
nlohmann::json read_results(const std::string& file) {
    const json_source source = read_source(file);
    const json_field root = json_field::parse(source);
    for (const json_field& one : root["results"].elements()) {
        static_cast<void>(one["workload"].text());
        static_cast<void>(one["contender"].text());
        if (!one["figures"].is_object()) {
            one["figures"].fail("an object of figures, each with a \"median\"");
        }
    }
    return nlohmann::json::parse(source.text);
}

void print_table(const nlohmann::json& results) {
    fmt::print("{:<10} {:<36} {:<18} {:>12} {:>12} {:>12}\n", "workload", "contender", "figure", "median",
               "min", "max");
    for (const nlohmann::json& one : results) {
        for (const auto& [figure, value] : one["figures"].items()) {
            const double median = value.value("median", 0.0);
            fmt::print("{:<10} {:<36} {:<18} {:>12.4g} {:>12.4g} {:>12.4g}\n",
                       one["workload"].get<std::string>(), one["contender"].get<std::string>(), figure,
                       median, value.value("min", median), value.value("max", median));
        }
    }
}

int bench(const bench_options& o) {
    if (o.from.empty()) {
        run_script(o);
    }
    nlohmann::json data = read_results(!o.from.empty() ? o.from
                                       : o.quick       ? written_by_quick_run
                                                       : written_by_script);
    data.erase("runs");  // the page shows only the summaries
    data["kind"] = "bench";
    data["title"] = "Speed of thread pools";
    data["about"] = about_json();
    print_table(data["results"]);
    const std::filesystem::path folder = std::filesystem::path{o.report}.parent_path();
    if (!folder.empty()) {
        std::filesystem::create_directories(folder);
    }
    write_file(o.report, report_page(data));
    fmt::print("\nreport: {}\n", o.report);
    return 0;
}

}  // namespace

void add_bench_command(CLI::App& lab, int& exit_code) {
    const auto o = std::make_shared<bench_options>();
    CLI::App* command = lab.add_subcommand("bench", "The speed comparison, as a table and as charts.");
    command->add_option("--from", o->from, "The figures that scripts/bench wrote; else it is run");
    command->add_flag("--quick", o->quick, "Only to see that it works: its figures say little");
    command->add_option("workloads", o->workloads, "Only these: W1 ... W14, growth")
        ->check([](const std::string& name) {
            const bool fine =
                name.find_first_not_of("W0123456789abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
            return fine ? std::string{}
                        : fmt::format("'{}' is no workload; expected W1 ... W14 or growth", name);
        });
    command->add_option("--report", o->report, "Where the report goes")->capture_default_str();
    command->callback([o, &exit_code] { exit_code = bench(*o); });
}

}  // namespace spool::lab
