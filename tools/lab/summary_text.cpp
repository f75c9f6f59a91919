#include "summary_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "duration_text.hpp"
#include "goal.hpp"
#include "settings.hpp"
#include "stretch.hpp"

namespace spool::lab {
namespace {

constexpr nanoseconds tolerable_lateness = std::chrono::milliseconds{1};

std::string row(const task_summary& t) {
    const std::string late = t.with_deadline == 0 ? "-" : fmt::format("{:.1f} %", t.late_share() * 100);
    return fmt::format("{:<14} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}\n", t.name.substr(0, 14),
                       t.arrived, t.completed, t.refusals, late, to_text(t.wait.p50), to_text(t.wait.p99),
                       to_text(t.wait.p999), to_text(t.latency.p99));
}

}  // namespace

std::string summary_text(const run_record& run, const run_summary& s) {
    std::string text = fmt::format("{}{}: {}\n\n", run.what.name, run.simulated ? " (simulated)" : "",
                                   to_text(run.what.pool));
    text += fmt::format("{:<14} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}\n", "tasks", "arrived",
                        "done", "rejected", "late", "wait p50", "p99", "p99.9", "total p99");
    text += row(s.all);
    for (const task_summary& c : s.classes) {
        text += s.classes.size() > 1 ? row(c) : "";
    }
    text += fmt::format(
        "\nthreads: {} at the peak, {:.1f} on average; queue: {} at the peak, p99 {}; {:.0f} tasks/s done\n",
        s.peak_threads, s.mean_threads, s.peak_queue, s.p99_queue, s.throughput);
    if (const std::string verdict = verdict_text(run, s); !verdict.empty()) {
        text += verdict + "\n";
    }
    if (!run.simulated) {
        text += fmt::format("the lab's own lateness: p50 {}, p99 {}, most {}\n", to_text(s.lateness.p50),
                            to_text(s.lateness.p99), to_text(s.lateness.most));
    }
    if (run.interrupted) {
        text += fmt::format("interrupted after {} of {}: this is what there was until then\n",
                            to_text(run.samples.empty() ? nanoseconds{0} : run.samples.back().at),
                            to_text(run.what.duration));
    }
    return text;
}

std::string wrapped(std::string_view words) {
    constexpr std::size_t width = 80;
    std::string lines;
    while (words.size() > width) {
        const std::size_t space = words.substr(0, width + 1).rfind(' ');
        const std::size_t length = space == std::string_view::npos ? width : space;
        lines += fmt::format("{}\n", words.substr(0, length));
        words.remove_prefix(std::min(words.size(), space == std::string_view::npos ? length : length + 1));
    }
    return lines + std::string{words} + "\n";
}

std::vector<std::string> warnings_of(const run_record& run, const run_summary& s) {
    std::vector<std::string> all;
    if (run.simulated) {
        return all;
    }
    if (s.lateness.p99 > tolerable_lateness) {
        all.push_back(fmt::format(
            "one arrival in a hundred came {} late or more because the lab itself did not keep up: the "
            "machine is too busy for this load, and the waits above contain that",
            to_text(s.lateness.p99)));
    }
    const auto add = [&all](const std::optional<stretch>& found, const char* tasks) {
        if (found.has_value() && found->is_notable()) {
            all.push_back(fmt::format(
                "the machine stretched the tasks that {}: on average they ran {}, and on an otherwise idle "
                "machine they run {}; waits, totals and rejections contain that",
                tasks, to_text(found->took), to_text(found->expected)));
        }
    };
    add(cpu_stretch(run), "compute");
    add(blocking_stretch(run), "wait");
    return all;
}

std::string verdict_text(const run_record& run, const run_summary& s) {
    if (run.what.goal.empty()) {
        return {};
    }
    const goal wanted = parse_goal(run.what.goal, run.what);
    return fmt::format("goal {}: {} ({})", run.what.goal, wanted.met(s) ? "met" : "missed",
                       wanted.figures_text(s));
}

}  // namespace spool::lab
