#include "report_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <spool/pool/pool_options.hpp>
#include <spool/version.hpp>
#include <utility>

#include "duration_text.hpp"
#include "goal.hpp"
#include "limits.hpp"

namespace spool::lab {
namespace {

constexpr double lowest_ms = 0.01;
constexpr int rows_per_decade = 8;
constexpr int most_rows = 9 * rows_per_decade;

double ms(nanoseconds d) {
    return static_cast<double>(d.count()) / 1e6;
}

int row_of(nanoseconds d) {
    const double part = std::log10(std::max(ms(d), lowest_ms) / lowest_ms) * rows_per_decade;
    return std::clamp(static_cast<int>(part), 0, most_rows - 1);
}

struct durations {
    const char* name;
    nanoseconds (*of)(nanoseconds arrival, const outcome& o);
    nanoseconds (*when)(const outcome& o);
};

constexpr std::array<durations, 3> kinds{{
    {"wait", [](nanoseconds arrival, const outcome& o) { return o.start - arrival; },
     [](const outcome& o) { return o.start; }},
    {"run", [](nanoseconds, const outcome& o) { return o.end - o.start; },
     [](const outcome& o) { return o.end; }},
    {"total", [](nanoseconds arrival, const outcome& o) { return o.end - arrival; },
     [](const outcome& o) { return o.end; }},
}};

std::string text_of(const arrival_source& a) {
    switch (a.kind) {
        case arrival_kind::constant: return fmt::format("{:g}/s, evenly", a.rate);
        case arrival_kind::poisson: return fmt::format("{:g}/s, Poisson", a.rate);
        case arrival_kind::bursts: return fmt::format("bursts of {} every {}", a.burst, to_text(a.every));
        case arrival_kind::ramp: return fmt::format("from {:g}/s to {:g}/s", a.rate, a.end_rate);
        case arrival_kind::trace: return fmt::format("a trace of {}", a.times.size());
    }
    return {};
}

std::string text_of(const service_time& t) {
    switch (t.kind) {
        case distribution::fixed: return to_text(t.first);
        case distribution::exponential: return fmt::format("exponential, mean {}", to_text(t.first));
        case distribution::log_normal:
            return fmt::format("log-normal, median {}, sigma {:g}", to_text(t.first), t.shape);
        case distribution::bimodal:
            return fmt::format("{}, and {} for {:g} %", to_text(t.first), to_text(t.slow), t.shape * 100);
        case distribution::trace: return fmt::format("a trace, mean {}", to_text(t.mean()));
    }
    return {};
}

std::string text_of(const change& c) {
    std::string text;
    const auto add = [&text](std::string part) { text += (text.empty() ? "" : ", ") + std::move(part); };
    if (c.core.has_value()) {
        add(fmt::format("core {}", *c.core));
    }
    if (c.maximum.has_value()) {
        add(fmt::format("maximum {}", *c.maximum));
    }
    if (c.keep_alive.has_value()) {
        add("keep-alive " + to_text(*c.keep_alive));
    }
    if (c.capacity.has_value()) {
        add(fmt::format("capacity {}", *c.capacity));
    }
    if (c.service_factor.has_value()) {
        const std::string whose = c.of_class.empty() ? "tasks" : "tasks of " + c.of_class;
        add(*c.service_factor == 1 ? whose + " run as long as drawn"
                                   : fmt::format("{} run {:g} times as long", whose, *c.service_factor));
    }
    return text;
}

std::string& command_line() {
    static std::string line;
    return line;
}

}  // namespace

nlohmann::json verdict_json(const run_record& run, const run_summary& s) {
    if (run.what.goal.empty()) {
        return nullptr;
    }
    const goal wanted = parse_goal(run.what.goal, run.what);
    nlohmann::json parts = nlohmann::json::array();
    for (const goal_part& p : wanted.parts) {
        parts.push_back({{"text", p.text},
                         {"figure", p.figure_text(s)},
                         {"met", p.met(s)},
                         {"metric", p.metric_name()},
                         {"of", p.of == span::total ? "total" : "wait"},
                         {"class", p.of_class},
                         {"limit", p.is_duration() ? p.limit / 1e6 : p.limit}});
    }
    return {{"text", run.what.goal}, {"met", wanted.met(s)}, {"parts", std::move(parts)}};
}

nlohmann::json load_json(const scenario& s) {
    nlohmann::json all = nlohmann::json::array();
    double shares = 0;
    for (const task_class& c : s.classes) {
        shares += c.arrivals.empty() ? c.share : 0;
    }
    for (const task_class& c : s.classes) {
        nlohmann::json arrivals = nlohmann::json::array();
        for (const arrival_source& a : c.arrivals.empty() ? s.arrivals : c.arrivals) {
            std::string text = text_of(a);
            if (a.from > nanoseconds::zero() || a.until < s.duration) {
                text += fmt::format(", {} to {}", to_text(a.from), to_text(a.until));
            }
            arrivals.push_back(std::move(text));
        }
        nlohmann::json one = {{"name", c.name},
                              {"arrivals", std::move(arrivals)},
                              {"service", text_of(c.service)},
                              {"work", c.cpu ? "computes" : "waits"}};
        if (c.arrivals.empty() && shares > 0) {
            one["share"] = c.share / shares;
        }
        if (c.deadline > nanoseconds::zero()) {
            one["deadline"] = to_text(c.deadline);
        }
        if (c.retry.attempts > 1) {
            one["retry"] = fmt::format("{} attempts, {} apart", c.retry.attempts, to_text(c.retry.after));
        }
        all.push_back(std::move(one));
    }
    return all;
}

nlohmann::json marks_json(const scenario& s) {
    std::multimap<nanoseconds, std::string> marks;
    const auto add_sources = [&](const std::vector<arrival_source>& sources, const std::string& whose) {
        for (const arrival_source& a : sources) {
            if (a.from > nanoseconds::zero()) {
                marks.emplace(a.from, fmt::format("{}a source begins: {}", whose, text_of(a)));
            }
            if (a.until < s.duration) {
                marks.emplace(a.until, fmt::format("{}a source ends: {}", whose, text_of(a)));
            }
        }
    };
    add_sources(s.arrivals, "");
    for (const task_class& c : s.classes) {
        add_sources(c.arrivals, s.classes.size() > 1 ? c.name + ": " : "");
    }
    for (const change& c : s.changes) {
        if (std::string text = text_of(c); !text.empty()) {
            marks.emplace(c.at, std::move(text));
        }
    }
    nlohmann::json all = nlohmann::json::array();
    for (const auto& [at, text] : marks) {
        all.push_back({{"at", seconds(at)}, {"text", text}});
    }
    return all;
}

nlohmann::json distribution_json(const run_record& run) {
    nlohmann::json result = {{"lowest_ms", lowest_ms}, {"rows_per_decade", rows_per_decade}};
    for (const durations& kind : kinds) {
        std::array<std::size_t, most_rows> counts{};
        double arrived = 0;
        for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
            const outcome& o = run.outcomes[i];
            arrived += o.how == fate::abandoned ? 0 : 1;
            if (o.how == fate::completed) {
                ++counts[static_cast<std::size_t>(row_of(kind.of((*run.plan)[i].arrival, o)))];
            }
        }
        double below = 0;
        nlohmann::json shares = nlohmann::json::array();
        for (const std::size_t count : counts) {
            below += static_cast<double>(count);
            shares.push_back(std::round(below / std::max(1.0, arrived) * 1e5) / 1e5);
        }
        result[kind.name] = std::move(shares);
    }
    return result;
}

nlohmann::json heat_json(const run_record& run, const std::vector<slot>& slots) {
    nlohmann::json result;
    const nanoseconds width = slots.size() > 1 ? slots[1].at : longest_duration;
    // The last slot also covers up to half a slot after its end; see over_time().
    const nanoseconds end = slots.back().at + width + width / 2;
    for (const durations& kind : kinds) {
        std::map<std::pair<std::size_t, int>, std::size_t> cells;
        for (std::size_t i = 0; i < run.outcomes.size(); ++i) {
            const outcome& o = run.outcomes[i];
            if (o.how == fate::completed && kind.when(o) <= end) {
                const auto at = std::min(static_cast<std::size_t>(kind.when(o) / width), slots.size() - 1);
                ++cells[{at, row_of(kind.of((*run.plan)[i].arrival, o))}];
            }
        }
        nlohmann::json all = nlohmann::json::array();
        for (const auto& [cell, count] : cells) {
            all.push_back({cell.first, cell.second, count});
        }
        result[kind.name] = std::move(all);
    }
    return result;
}

nlohmann::json about_json() {
    std::array<char, 32> date{};
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M UTC", &parts);
    double busy = 0;
    const bool known = getloadavg(&busy, 1) == 1;
    return {{"version", fmt::format("{}.{}.{}", version::major, version::minor, version::patch)},
            {"date", date.data()},
            {"command", command_line()},
            {"cpus", default_parallelism()},
            {"load_average", known ? std::round(busy * 100) / 100 : 0}};
}

void remember_command(int argc, const char* const* argv) {
    std::string& line = command_line();
    for (int i = 0; i < argc; ++i) {
        const std::string word = i == 0 ? "spool" : argv[i];
        const bool plain = !word.empty() && word.find_first_of(" '\"<>|&;$`\\*?()") == std::string::npos;
        line += (i == 0 ? "" : " ") + (plain ? word : "'" + word + "'");
    }
}

}  // namespace spool::lab
