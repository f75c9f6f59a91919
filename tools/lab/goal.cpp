#include "goal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "duration_text.hpp"
#include "json_fields.hpp"

namespace spool::lab {
namespace {

constexpr std::array<std::pair<std::string_view, metric>, 9> metrics{{{"p50", metric::p50},
                                                                      {"p90", metric::p90},
                                                                      {"p95", metric::p95},
                                                                      {"p99.9", metric::p999},
                                                                      {"p99", metric::p99},
                                                                      {"max", metric::worst},
                                                                      {"reject", metric::reject},
                                                                      {"late", metric::late},
                                                                      {"threads", metric::threads}}};

std::string_view name_of(metric m) {
    return std::find_if(metrics.begin(), metrics.end(), [m](const auto& one) { return one.second == m; })
        ->first;
}

bool is_duration(metric m) {
    return m < metric::reject;
}

std::string_view trimmed(std::string_view s) {
    const std::size_t begin = s.find_first_not_of(' ');
    return begin == std::string_view::npos ? "" : s.substr(begin, s.find_last_not_of(' ') - begin + 1);
}

std::optional<double> parse_limit(metric m, std::string_view text) {
    if (is_duration(m)) {
        const auto d = parse_duration(text);
        return d.has_value() ? std::optional{static_cast<double>(d->count())} : std::nullopt;
    }
    const bool percent = text.ends_with('%');
    if (percent != (m != metric::threads)) {
        return std::nullopt;
    }
    text.remove_suffix(percent ? 1 : 0);
    text = trimmed(text);
    double number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || rest != text.data() + text.size() || number < 0) {
        return std::nullopt;
    }
    return percent ? number / 100 : number;
}

goal_part parse_part(std::string_view text, const scenario& of) {
    const auto refuse = [&](const std::string& expected) {
        throw input_error(fmt::format("\"{}\": expected {}", text, expected));
    };
    goal_part part{.text = std::string{text}, .of_class = {}};
    const std::size_t less = text.find('<');
    if (less == std::string_view::npos) {
        refuse("something like p99<50ms or reject<0.1%");
    }
    std::string_view name = trimmed(text.substr(0, less));
    for (const task_class& c : of.classes) {
        if (name.starts_with(c.name + ".")) {
            part.of_class = c.name;
            name.remove_prefix(c.name.size() + 1);
            break;
        }
    }
    constexpr std::string_view total = "total.";
    if (name.starts_with(total)) {
        part.of = span::total;
        name.remove_prefix(total.size());
    }
    const auto known =
        std::find_if(metrics.begin(), metrics.end(), [&](const auto& m) { return m.first == name; });
    if (known == metrics.end() || (part.of == span::total && !is_duration(known->second))) {
        refuse("p50, p90, p95, p99, p99.9, max, total.p50 to total.max, reject, late or threads before the "
               "<, after a class and a dot if it is for one class");
    }
    part.what = known->second;
    const auto limit = parse_limit(part.what, trimmed(text.substr(less + 1)));
    if (!limit.has_value()) {
        refuse(is_duration(part.what)         ? "a duration such as 50ms after the <"
               : part.what == metric::threads ? "a number after the <"
                                              : "a share such as 0.1% after the <");
    }
    part.limit = *limit;
    return part;
}

const task_summary& of_class(const run_summary& run, const std::string& name) {
    for (const task_summary& c : run.classes) {
        if (c.name == name) {
            return c;
        }
    }
    return run.all;
}

}  // namespace

double goal_part::figure(const run_summary& run) const {
    const task_summary& tasks = of_class.empty() ? run.all : lab::of_class(run, of_class);
    const auto ns = [](nanoseconds d) { return static_cast<double>(d.count()); };
    const percentiles& times = of == span::total ? tasks.latency : tasks.wait;
    switch (what) {
        case metric::p50: return ns(times.p50);
        case metric::p90: return ns(times.p90);
        case metric::p95: return ns(times.p95);
        case metric::p99: return ns(times.p99);
        case metric::p999: return ns(times.p999);
        case metric::worst: return ns(times.most);
        case metric::reject: return tasks.refusal_share();
        case metric::late: return tasks.late_share();
        case metric::threads: return static_cast<double>(run.peak_threads);
    }
    return 0;
}

std::string_view goal_part::metric_name() const {
    return name_of(what);
}

std::string goal_part::figure_text(const run_summary& run) const {
    const std::string whose = of_class.empty() ? "" : of_class + ": ";
    const double value = figure(run);
    if (is_duration()) {
        return fmt::format("{}{} {} {}", whose, name_of(what), of == span::total ? "total" : "wait",
                           lab::to_text(nanoseconds{static_cast<nanoseconds::rep>(value)}));
    }
    if (what == metric::threads) {
        return fmt::format("{} threads", value);
    }
    return fmt::format("{}{:.3g} % {}", whose, value * 100, what == metric::reject ? "rejected" : "late");
}

bool goal::met(const run_summary& run) const {
    return std::all_of(parts.begin(), parts.end(), [&](const goal_part& p) { return p.met(run); });
}

bool goal::needs_totals() const {
    return std::any_of(parts.begin(), parts.end(), [](const goal_part& p) { return p.of == span::total; });
}

std::string goal::figures_text(const run_summary& run) const {
    std::string text;
    for (const goal_part& p : parts) {
        text += (text.empty() ? "" : ", ") + p.figure_text(run);
    }
    return text;
}

double goal::distance(const run_summary& run) const {
    double sum = 0;
    for (const goal_part& p : parts) {
        const double least = p.what == metric::reject || p.what == metric::late ? 1e-4 : 1;
        sum += p.met(run) ? 0 : std::log1p(p.figure(run) / std::max(p.limit, least));
    }
    return sum;
}

goal parse_goal(std::string_view text, const scenario& of) {
    goal g;
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t comma = rest.find(',');
        g.parts.push_back(parse_part(trimmed(rest.substr(0, comma)), of));
        rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
    }
    if (g.parts.empty()) {
        throw input_error("the goal is empty: expected something like p99<50ms,reject<0.1%");
    }
    return g;
}

}  // namespace spool::lab
