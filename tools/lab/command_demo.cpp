// spool lab demo: runs the flash crowd twice, with poor settings and with those that what-if
// recommends.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "advice.hpp"
#include "commands.hpp"
#include "duration_text.hpp"
#include "interruption.hpp"
#include "pool_run.hpp"
#include "report.hpp"
#include "scenario_files.hpp"
#include "summary_text.hpp"

namespace spool::lab {
namespace {

struct demo_options {
    std::string report = "spool-lab-report.html";
    double speed = 1;
};

std::unique_ptr<view> any_view() {
    std::unique_ptr<view> live = make_live_view();
    return live != nullptr ? std::move(live) : make_plain_view();
}

run_record show(const scenario& s, const std::string& title) {
    const std::unique_ptr<view> audience = any_view();
    return run_on_pool(s, std::make_shared<const std::vector<planned_task>>(make_plan(s)), *audience, title);
}

void print_comparison(const run_summary& before, const run_summary& after) {
    const auto row = [](const char* name, const std::string& a, const std::string& b) {
        fmt::print("  {:<22} {:>12} {:>12}\n", name, a, b);
    };
    fmt::print("\n");
    row("", "before", "after");
    row("wait p50", to_text(before.all.wait.p50), to_text(after.all.wait.p50));
    row("wait p99", to_text(before.all.wait.p99), to_text(after.all.wait.p99));
    row("total p99", to_text(before.all.latency.p99), to_text(after.all.latency.p99));
    row("rejected", fmt::format("{}", before.all.refusals), fmt::format("{}", after.all.refusals));
    row("past their deadline", fmt::format("{:.1f} %", before.all.late_share() * 100),
        fmt::format("{:.1f} %", after.all.late_share() * 100));
    row("threads at the peak", fmt::format("{}", before.peak_threads), fmt::format("{}", after.peak_threads));
    row("threads on average", fmt::format("{:.1f}", before.mean_threads),
        fmt::format("{:.1f}", after.mean_threads));
}

int demo(const demo_options& o) {
    catch_interruptions();
    scenario s = read_scenario(find_scenario("flash-crowd"));
    if (o.speed != 1) {
        s = sped_up(std::move(s), o.speed);
    }
    fmt::print("{}\n", wrapped(s.story));
    std::vector<run_record> runs;
    runs.reserve(2);  // `titled` holds pointers to the elements
    runs.push_back(show(s, "1. As many pools are set"));
    std::vector<titled_run> titled{{"before", &runs[0]}};
    if (!interrupted_by_user()) {
        const goal wanted = parse_goal(s.goal, s);
        const std::vector<trial> trials = sweep(s, candidates(s), {}, wanted.needs_totals());
        const advice a = advise(s, wanted, trials);
        fmt::print("\nwhat-if has simulated {} other settings. For {} it recommends\n  {}\n\n", trials.size(),
                   s.goal, to_text(a.recommended.with));
        std::fflush(stdout);
        runs.push_back(show(with_settings(s, a.recommended.with), "2. As what-if recommends"));
        titled = {{"before", &runs[0]}, {"after", &runs[1]}};
        print_comparison(summarise(runs[0]), summarise(runs[1]));
        fmt::print("\n");
        for (const titled_run& one : titled) {
            fmt::print("{}: {}\n", one.title, verdict_text(*one.run, summarise(*one.run)));
        }
    }
    for (const run_record& run : runs) {
        for (const std::string& warning : warnings_of(run, summarise(run))) {
            fmt::print("warning: {}\n", warning);
        }
    }
    write_report(o.report, "A flash crowd, before and after", titled);
    fmt::print("\nThe report, to look at in a browser: {}\n", o.report);
    return interruption_exit_code();
}

}  // namespace

void add_demo_command(CLI::App& lab, int& exit_code) {
    const auto o = std::make_shared<demo_options>();
    CLI::App* command = lab.add_subcommand(
        "demo",
        "A flash crowd twice: with poor settings, and with those that what-if recommends. 20 seconds.");
    command->add_option("--report", o->report, "Where the report goes");
    command->add_option("--speed", o->speed, "In less time: 4 means in a quarter of it")
        ->check(CLI::Range(0.1, 100.0));
    command->callback([o, &exit_code] { exit_code = demo(*o); });
}

}  // namespace spool::lab
