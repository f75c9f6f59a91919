// spool lab check: the linter for settings.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <spool/pool/lint.hpp>

#include "commands.hpp"
#include "duration_text.hpp"
#include "json_fields.hpp"
#include "limits.hpp"
#include "scenario.hpp"
#include "scenario_files.hpp"
#include "sweep.hpp"

namespace spool::lab {
namespace {

struct checked {
    settings pool;
    workload_hint load;
};

workload_hint read_load(const json_field& from) {
    from.allow_only({"arrivals_per_second", "service", "deadline", "work", "cpus"});
    workload_hint load;
    if (from.has("arrivals_per_second")) {
        load.arrivals_per_second = from["arrivals_per_second"].positive(highest_rate);
    }
    if (from.has("service")) {
        load.mean_service = from["service"].positive_duration(longest_service);
    }
    if (from.has("deadline")) {
        load.deadline = from["deadline"].positive_duration();
    }
    if (from.has("work")) {
        load.cpu_bound = from["work"].one_of<bool>({{"blocking", false}, {"cpu", true}});
    }
    if (from.has("cpus")) {
        load.cpus = from["cpus"].count(1, largest_pool);
    }
    return load;
}

// Returns the mean load of a scenario, service factors included, and its shortest deadline.
workload_hint load_of(const scenario& s) {
    workload_hint load{.cpu_bound = s.cpu_bound()};
    const std::vector<planned_task> plan = make_plan(s);
    if (!plan.empty()) {
        load.arrivals_per_second = static_cast<double>(plan.size()) / seconds(s.duration);
        load.mean_service = from_seconds(mean_concurrency(s, plan) / load.arrivals_per_second);
    }
    for (const task_class& c : s.classes) {
        if (c.deadline > nanoseconds::zero() &&
            (load.deadline == nanoseconds::zero() || c.deadline < load.deadline)) {
            load.deadline = c.deadline;
        }
    }
    return load;
}

checked read_checked(const std::string& name) {
    const std::string file = find_scenario(name);
    const json_field root = json_field::parse(read_source(file));
    if (root.has("pool")) {
        const scenario s = read_scenario(file);
        return {s.pool, load_of(s)};
    }
    return {read_settings(root), root.has("load") ? read_load(root["load"]) : workload_hint{}};
}

nlohmann::json to_json(const lint_finding& f) {
    return {{"severity", to_string(f.severity)},
            {"id", f.id},
            {"what_happens", f.what_happens},
            {"what_to_do", f.what_to_do}};
}

int check(const std::string& name, bool json, std::size_t cpus) {
    checked what = read_checked(name);
    what.load.cpus = cpus > 0 ? cpus : what.load.cpus;
    const std::vector<lint_finding> found = lint(to_options(what.pool, "check"), what.load);
    bool clean = true;
    nlohmann::json all = nlohmann::json::array();
    for (const lint_finding& f : found) {
        clean = clean && f.severity == lint_severity::note;
        all.push_back(to_json(f));
    }
    if (json) {
        fmt::print("{}\n", nlohmann::json{{"settings", to_json(what.pool)}, {"findings", all}}.dump(2));
        return clean ? 0 : exit_failed;
    }
    fmt::print("{}\n", to_text(what.pool));
    for (const lint_finding& f : found) {
        fmt::print("\n{} [{}]\n  {}\n  -> {}\n", to_string(f.severity), f.id, f.what_happens, f.what_to_do);
    }
    fmt::print("\n{}\n",
               found.empty() ? "Nothing to be said against it." : fmt::format("{} finding(s)", found.size()));
    return clean ? 0 : exit_failed;
}

}  // namespace

void add_check_command(CLI::App& lab, int& exit_code) {
    struct options {
        std::string file;
        bool json = false;
        std::size_t cpus = 0;
    };
    const auto o = std::make_shared<options>();
    CLI::App* command = lab.add_subcommand(
        "check", "Says what a pool's settings will lead to. Exit code 1 if there is a warning or an error.");
    command->add_option("SETTINGS", o->file, "A file of settings, or a scenario")->required();
    command->add_flag("--json", o->json, "For machines");
    command->add_option("--cpus", o->cpus, "CPUs of the target; this machine's by default");
    command->callback([o, &exit_code] { exit_code = check(o->file, o->json, o->cpus); });
}

}  // namespace spool::lab
