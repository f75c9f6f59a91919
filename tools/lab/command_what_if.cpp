// spool lab what-if: simulates many settings, prints the Pareto frontier and recommends one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "advice.hpp"
#include "commands.hpp"
#include "duration_text.hpp"
#include "export.hpp"
#include "report.hpp"
#include "scenario_options.hpp"

namespace spool::lab {
namespace {

constexpr const char* default_goal = "p99<50ms,reject<0.1%";
constexpr std::size_t longest_table = 16;

struct what_if_options {
    scenario_options which;
    bool json = false;
    std::string report;
    std::size_t cpus = default_parallelism();
};

std::string as_options(const settings& s) {
    const std::string queue = s.capacity == 0           ? "synchronous"
                              : s.capacity == unlimited ? "unbounded"
                                                        : fmt::format("{}:{}", to_text(s.queue), s.capacity);
    return fmt::format("--core {} --maximum {} --queue {}", s.core, s.maximum, queue);
}

void print_row(const trial& t) {
    fmt::print("{:>6} {:>8} {:>6} {:>7.1f}  {:<20} {:>10} {:>9.3g} %\n", t.with.core, t.with.maximum,
               t.figures.peak_threads, t.figures.mean_threads, queue_text(t.with),
               to_text(t.figures.all.wait.p99), t.figures.all.refusal_share() * 100);
}

// Prints at most `longest_table` rows, evenly chosen.
void print_frontier(const std::vector<trial>& best) {
    fmt::print("{:>6} {:>8} {:>6} {:>7}  {:<20} {:>10} {:>11}\n", "core", "maximum", "peak", "mean", "queue",
               "p99 wait", "rejected");
    const std::size_t rows = std::min(best.size(), longest_table);
    for (std::size_t i = 0; i < rows; ++i) {
        print_row(best[rows < 2 ? 0 : i * (best.size() - 1) / (rows - 1)]);
    }
}

nlohmann::json to_json(const trial& t) {
    return {{"settings", to_json(t.with)},
            {"settings_text", to_text(t.with)},
            {"peak_threads", t.figures.peak_threads},
            {"mean_threads", t.figures.mean_threads},
            {"wait_p99_ms", seconds(t.figures.all.wait.p99) * 1000},
            {"refusal_share", t.figures.all.refusal_share()}};
}

// Reports the scenario's own settings beside the recommended ones, both simulated, and all trials.
void write_what_if(const std::string& file, scenario s, const std::string& goal_text, const advice& a,
                   const std::vector<trial>& trials, const std::vector<trial>& best, const simulation& how) {
    s.goal = goal_text;
    const run_record own = simulate(s, how);
    const run_record recommended = simulate(with_settings(s, a.recommended.with), how);
    nlohmann::json all = nlohmann::json::array();
    std::transform(trials.begin(), trials.end(), std::back_inserter(all),
                   [](const trial& t) { return to_json(t); });
    nlohmann::json rows = nlohmann::json::array();
    std::transform(best.begin(), best.end(), std::back_inserter(rows),
                   [](const trial& t) { return to_json(t); });
    const char* const title = a.meets_goal ? "recommended" : "nearest";
    write_report(file, "What if: " + s.name, {{"as it is", &own}, {title, &recommended}},
                 {{"kind", "what-if"},
                  {"goal", goal_text},
                  {"meets_goal", a.meets_goal},
                  {"recommended", to_json(a.recommended)},
                  {"own", to_json(a.own)},
                  {"why", a.why},
                  {"trials", std::move(all)},
                  {"frontier", std::move(rows)}});
}

int what_if(const what_if_options& o) {
    const auto began = std::chrono::steady_clock::now();
    const scenario s = o.which.load();
    const std::string goal_text = s.goal.empty() ? default_goal : s.goal;
    const goal wanted = parse_goal(goal_text, s);
    const simulation how{.cpus = o.cpus};
    const std::vector<trial> trials = sweep(s, candidates(s), how, wanted.needs_totals());
    const std::vector<trial> best = frontier(trials);
    const advice a = advise(s, wanted, trials, how);
    if (!o.report.empty()) {
        write_what_if(o.report, s, goal_text, a, trials, best, how);
    }
    const double took = std::chrono::duration<double>{std::chrono::steady_clock::now() - began}.count();
    if (o.json) {
        nlohmann::json rows = nlohmann::json::array();
        for (const trial& t : best) {
            rows.push_back({{"settings", to_json(t.with)}, {"figures", to_json(t.figures)}});
        }
        fmt::print("{}\n", nlohmann::json{{"scenario", s.name},
                                          {"evaluated", trials.size()},
                                          {"seconds", took},
                                          {"frontier", std::move(rows)},
                                          {"goal", goal_text},
                                          {"meets_goal", a.meets_goal},
                                          {"recommended", to_json(a.recommended.with)},
                                          {"figures", to_json(a.recommended.figures)},
                                          {"own_figures", to_json(a.own.figures)},
                                          {"why", a.why}}
                               .dump(2));
        return a.meets_goal ? 0 : exit_failed;
    }
    fmt::print("{}: {} settings, {} of load each, simulated in {:.1f} s\n\n", s.name, trials.size(),
               to_text(s.duration), took);
    fmt::print("What no other setting beats (p99 wait, rejections, threads at the peak):\n\n");
    print_frontier(best);
    fmt::print("\nGoal: {}\n{}: {}\n", goal_text, a.meets_goal ? "Recommended" : "Nearest",
               to_text(a.recommended.with));
    const run_summary& f = a.recommended.figures;
    fmt::print("  {}, up to {} threads, {:.1f} on average\n", wanted.figures_text(f), f.peak_threads,
               f.mean_threads);
    fmt::print("Why:\n");
    for (const std::string& sentence : a.why) {
        fmt::print("  - {}\n", sentence);
    }
    fmt::print("Try it: spool lab run {} {}\n", o.which.file().empty() ? "..." : o.which.file(),
               as_options(a.recommended.with));
    if (!o.report.empty()) {
        fmt::print("report: {}\n", o.report);
    }
    return a.meets_goal ? 0 : exit_failed;
}

}  // namespace

void add_what_if_command(CLI::App& lab, int& exit_code) {
    const auto o = std::make_shared<what_if_options>();
    CLI::App* command = lab.add_subcommand("what-if", "Tries hundreds of settings in simulated time and "
                                                      "recommends some. Exit code 1 if none meets the goal.");
    o->which.add_to(*command);
    command->add_option("--cpus", o->cpus, "CPUs of the target, for work that computes")
        ->check(CLI::PositiveNumber);
    command->add_flag("--json", o->json, "For machines");
    command->add_option("--report", o->report,
                        "Writes this HTML file, and the same as .json and .csv beside it");
    command->callback([o, &exit_code] { exit_code = what_if(*o); });
}

}  // namespace spool::lab
