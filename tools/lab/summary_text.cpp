#include "summary_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "duration_text.hpp"
#include "settings.hpp"

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

std::string warning_text(const run_record& run, const run_summary& s) {
    if (run.simulated || s.lateness.p99 <= tolerable_lateness) {
        return {};
    }
    return fmt::format(
        "warning: one arrival in a hundred came {} late or more because the lab itself did not keep up: "
        "the machine is too busy for this load, and the waits above contain that",
        to_text(s.lateness.p99));
}

}  // namespace spool::lab
