// Reads a scenario from JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <spool/pool/lint.hpp>

#include "duration_text.hpp"
#include "goal.hpp"
#include "json_fields.hpp"
#include "limits.hpp"
#include "scenario.hpp"

namespace spool::lab {
namespace {

constexpr std::size_t most_attempts = 100;

retry_rule read_retry(const json_field& from) {
    from.allow_only({"attempts", "after"});
    return {.attempts = from["attempts"].count(1, most_attempts),
            .after = from["after"].positive_duration(longest_run)};
}

task_class read_class(const json_field& from, nanoseconds duration, bool shared, const std::string& folder) {
    from.allow_only({"name", "arrivals", "share", "work", "service", "deadline", "retry"});
    task_class c;
    c.name = from["name"].text();
    if (shared) {
        c.share = from["share"].positive(largest_share);
    } else {
        c.arrivals = read_arrivals(from["arrivals"], duration, folder);
    }
    if (shared && from.has("arrivals")) {
        from["arrivals"].complain(
            "the scenario has arrivals of its own: give this class a \"share\" of them");
    }
    c.cpu = from.has("work") && from["work"].one_of<bool>({{"blocking", false}, {"cpu", true}});
    c.service = read_service_time(from["service"], folder);
    if (from.has("deadline")) {
        c.deadline = from["deadline"].positive_duration();
    }
    if (from.has("retry")) {
        c.retry = read_retry(from["retry"]);
    }
    return c;
}

change read_change(const json_field& from, const scenario& in) {
    from.allow_only({"at", "core", "maximum", "keep_alive", "capacity", "service_factor", "class"});
    change c;
    c.at = from["at"].duration();
    const auto read = [&from](const char* name, auto& into, auto value) {
        if (from.has(name)) {
            into = value(from[name]);
        }
    };
    const auto size = [](const json_field& f) { return f.count(0, largest_pool); };
    read("core", c.core, size);
    read("maximum", c.maximum, size);
    read("keep_alive", c.keep_alive, [](const json_field& f) { return f.duration(); });
    read("capacity", c.capacity, [](const json_field& f) { return f.count(1, longest_linked_queue); });
    read("service_factor", c.service_factor,
         [](const json_field& f) { return f.positive(largest_service_factor); });
    read("class", c.of_class, [](const json_field& f) { return f.text(); });
    if (c.capacity.has_value() && in.pool.queue != queue_kind::linked) {
        from["capacity"].complain("only a linked queue can change its capacity");
    }
    const auto named = [&c](const task_class& one) { return one.name == c.of_class; };
    if (!c.of_class.empty() && std::none_of(in.classes.begin(), in.classes.end(), named)) {
        from["class"].complain(fmt::format("there is no class \"{}\"", c.of_class));
    }
    return c;
}

// Checks that a pool accepts the sizes after each change.
void check_sizes_over_time(const json_field& changes, const scenario& s) {
    settings now = s.pool;
    for (const json_field& from : changes.elements()) {
        const change c = read_change(from, s);
        now.core = c.core.value_or(now.core);
        now.maximum = c.maximum.value_or(now.maximum);
        if (now.maximum == 0 || now.maximum < now.core) {
            from.complain(fmt::format("leaves the pool with core {} and maximum {}", now.core, now.maximum));
        }
    }
}

void check_pool(const json_field& from, const settings& pool) {
    for (const lint_finding& f : lint(to_options(pool, "scenario"))) {
        if (f.severity == lint_severity::error) {
            from.complain(f.what_happens + " " + f.what_to_do);
        }
    }
}

}  // namespace

scenario parse_scenario(const std::string& name, std::string text, const std::string& folder) {
    const json_field root = json_field::parse({name, std::move(text)});
    root.allow_only(
        {"story", "look_for", "duration", "seed", "pool", "arrivals", "classes", "changes", "goal"});
    scenario s;
    s.name = std::filesystem::path{name}.stem().string();
    s.story = root.has("story") ? root["story"].text() : "";
    s.look_for = root.has("look_for") ? root["look_for"].text() : "";
    s.duration = root["duration"].positive_duration(longest_run);
    if (root.has("seed")) {
        s.seed = root["seed"].count(0, std::numeric_limits<std::size_t>::max());
    }
    s.pool = read_settings(root["pool"]);
    check_pool(root["pool"], s.pool);
    if (root.has("arrivals")) {
        s.arrivals = read_arrivals(root["arrivals"], s.duration, folder);
    }
    for (const json_field& one : root["classes"].elements()) {
        s.classes.push_back(read_class(one, s.duration, !s.arrivals.empty(), folder));
    }
    if (root.has("changes")) {
        for (const json_field& one : root["changes"].elements()) {
            s.changes.push_back(read_change(one, s));
            if (s.changes.size() > 1 && s.changes.back().at < s.changes[s.changes.size() - 2].at) {
                one["at"].complain("changes must stand in the order of their times");
            }
        }
        check_sizes_over_time(root["changes"], s);
    }
    // Runs a check and adds the field to its error message.
    const auto place = [&root](const char* field, const auto& check) {
        try {
            check();
        } catch (const input_error& e) {
            root[field].complain(e.what());
        }
    };
    place("classes", [&] { check_size(s); });
    if (root.has("goal")) {
        s.goal = root["goal"].text();
        place("goal", [&] { static_cast<void>(parse_goal(s.goal, s)); });
    }
    return s;
}

scenario read_scenario(const std::string& file) {
    json_source source = read_source(file);
    const std::string folder = std::filesystem::path{file}.parent_path().string();
    return parse_scenario(source.name, std::move(source.text), folder);
}

}  // namespace spool::lab
