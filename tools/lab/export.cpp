#include "export.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "duration_text.hpp"
#include "settings.hpp"

namespace spool::lab {
namespace {

// Rounds to four significant digits, to keep files short. Goes through text, so that the result is
// the double nearest to those digits and prints as them. Infinity and NaN become 0.
double rounded(double x) {
    const std::string digits = fmt::format("{:.4g}", std::isfinite(x) ? x : 0.0);
    double value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

double ms(nanoseconds d) {
    return rounded(static_cast<double>(d.count()) / 1e6);
}

nlohmann::json to_json(const percentiles& p) {
    return {{"p50", ms(p.p50)}, {"p90", ms(p.p90)},    {"p95", ms(p.p95)},
            {"p99", ms(p.p99)}, {"p99.9", ms(p.p999)}, {"max", ms(p.most)}};
}

nlohmann::json to_json(const task_summary& t) {
    return {{"name", t.name},
            {"arrived", t.arrived},
            {"completed", t.completed},
            {"lost", t.lost},
            {"refusals", t.refusals},
            {"refusal_share", rounded(t.refusal_share())},
            {"late", t.late},
            {"late_share", rounded(t.late_share())},
            {"wait_ms", to_json(t.wait)},
            {"run_ms", to_json(t.run)},
            {"latency_ms", to_json(t.latency)}};
}

nlohmann::json to_json(const change& c) {
    nlohmann::json j = {{"at", seconds(c.at)}};
    const auto add = [&j](const char* name, const auto& value) {
        if (value.has_value()) {
            j[name] = *value;
        }
    };
    add("core", c.core);
    add("maximum", c.maximum);
    add("capacity", c.capacity);
    add("service_factor", c.service_factor);
    if (c.keep_alive.has_value()) {
        j["keep_alive"] = to_text(*c.keep_alive);
    }
    return j;
}

}  // namespace

nlohmann::json to_json(const run_summary& s) {
    nlohmann::json classes = nlohmann::json::array();
    for (const task_summary& c : s.classes) {
        classes.push_back(to_json(c));
    }
    return {{"all", to_json(s.all)},
            {"classes", std::move(classes)},
            {"peak_threads", s.peak_threads},
            {"mean_threads", rounded(s.mean_threads)},
            {"p99_queue", s.p99_queue},
            {"peak_queue", s.peak_queue},
            {"throughput", rounded(s.throughput)},
            {"lateness_ms", to_json(s.lateness)}};
}

nlohmann::json to_json(const run_record& run, const run_summary& summary) {
    nlohmann::json series;
    for (const slot& s : over_time(run)) {
        series["at"].push_back(rounded(seconds(s.at)));
        series["arrivals"].push_back(rounded(s.arrivals));
        series["completed"].push_back(rounded(s.completed));
        series["refused"].push_back(rounded(s.refused));
        series["workers"].push_back(rounded(s.workers));
        series["active"].push_back(rounded(s.active));
        series["queued"].push_back(rounded(s.queued));
        series["most_queued"].push_back(s.most_queued);
        series["wait_p50"].push_back(ms(s.wait_p50));
        series["wait_p99"].push_back(ms(s.wait_p99));
        series["total_p50"].push_back(ms(s.total_p50));
        series["total_p99"].push_back(ms(s.total_p99));
        series["bin"].push_back(s.bin);
        series["run_p50"].push_back(ms(s.run_p50));
        series["run_p99"].push_back(ms(s.run_p99));
    }
    nlohmann::json changes = nlohmann::json::array();
    for (const change& c : run.what.changes) {
        changes.push_back(to_json(c));
    }
    nlohmann::json deadlines = nlohmann::json::array();
    for (const task_class& c : run.what.classes) {
        if (c.deadline > nanoseconds::zero()) {
            deadlines.push_back(ms(c.deadline));
        }
    }
    return {{"scenario", run.what.name},
            {"deadlines_ms", std::move(deadlines)},
            {"story", run.what.story},
            {"look_for", run.what.look_for},
            {"seed", run.what.seed},
            {"duration_s", seconds(run.what.duration)},
            {"length_s", rounded(seconds(run.length))},
            {"simulated", run.simulated},
            {"interrupted", run.interrupted},
            {"settings", to_json(run.what.pool)},
            {"settings_text", to_text(run.what.pool)},
            {"changes", std::move(changes)},
            {"summary", to_json(summary)},
            {"series", std::move(series)}};
}

std::string to_csv(const std::vector<slot>& slots) {
    std::string csv =
        "seconds,arrivals_per_s,completed_per_s,refused_per_s,workers,active,queued,most_queued,"
        "wait_p50_ms,wait_p99_ms,run_p50_ms,run_p99_ms,total_p50_ms,total_p99_ms\n";
    for (const slot& s : slots) {
        csv += fmt::format("{:g},{:g},{:g},{:g},{:g},{:g},{:g},{},{:g},{:g},{:g},{:g},{:g},{:g}\n",
                           seconds(s.at), rounded(s.arrivals), rounded(s.completed), rounded(s.refused),
                           rounded(s.workers), rounded(s.active), rounded(s.queued), s.most_queued,
                           ms(s.wait_p50), ms(s.wait_p99), ms(s.run_p50), ms(s.run_p99), ms(s.total_p50),
                           ms(s.total_p99));
    }
    return csv;
}

}  // namespace spool::lab
