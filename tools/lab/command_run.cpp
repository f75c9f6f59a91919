// spool lab run: runs a scenario on a real pool, or simulates it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "export.hpp"
#include "goal.hpp"
#include "interruption.hpp"
#include "pool_run.hpp"
#include "report.hpp"
#include "scenario_options.hpp"
#include "simulator.hpp"
#include "summary_text.hpp"

namespace spool::lab {
namespace {

struct run_options {
    scenario_options which;
    bool quiet = false;
    bool plain = false;
    bool json = false;
    bool simulated = false;
    std::string report;
};

std::unique_ptr<view> view_for(const run_options& o) {
    if (o.quiet || o.json) {
        return make_quiet_view();
    }
    std::unique_ptr<view> live = o.plain ? nullptr : make_live_view();
    return live != nullptr ? std::move(live) : make_plain_view();
}

run_record perform(const scenario& s, const run_options& o) {
    if (o.simulated) {
        return simulate(s);
    }
    catch_interruptions();
    const std::unique_ptr<view> audience = view_for(o);
    return run_on_pool(s, *audience);
}

int run(const run_options& o) {
    const scenario s = o.which.load();
    if (!o.quiet && !o.json && !s.story.empty()) {
        fmt::print("{}{}\n", wrapped(s.story), wrapped(s.look_for));
    }
    const run_record record = perform(s, o);
    const run_summary summary = summarise(record);
    if (o.json) {
        fmt::print("{}\n", to_json(record, summary).dump(1));
    } else {
        fmt::print("{}{}", o.quiet ? "" : "\n", summary_text(record, summary));
    }
    std::fflush(stdout);
    for (const std::string& warning : warnings_of(record, summary)) {
        fmt::print(stderr, "warning: {}\n", warning);
    }
    if (!o.report.empty()) {
        write_report(o.report, s.name, {{s.name, &record}});
        if (!o.json) {
            fmt::print("report: {}\n", o.report);
        }
    }
    if (record.interrupted) {
        return interruption_exit_code();
    }
    return o.which.has_goal() && !parse_goal(s.goal, s).met(summary) ? exit_failed : 0;
}

}  // namespace

void add_run_command(CLI::App& lab, int& exit_code) {
    const auto o = std::make_shared<run_options>();
    CLI::App* command = lab.add_subcommand(
        "run", "Drives a real pool with a described load and shows what happens. Exit code 1 if it misses "
               "the --goal.");
    o->which.add_to(*command);
    command->add_option("--report", o->report,
                        "Writes this HTML file, and the same as .json and .csv beside it");
    command->add_flag("--json", o->json, "The outcome as JSON, and nothing else on standard output");
    command->add_flag("--quiet", o->quiet, "The outcome only");
    command->add_flag("--plain", o->plain, "Lines instead of moving bars, on a terminal too");
    command->add_flag("--simulate", o->simulated, "In simulated time, without threads");
    command->callback([o, &exit_code] { exit_code = run(*o); });
}

}  // namespace spool::lab
