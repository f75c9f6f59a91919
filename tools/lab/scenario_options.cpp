#include "scenario_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <nlohmann/json.hpp>
#include <spool/pool/lint.hpp>
#include <vector>

#include "duration_text.hpp"
#include "goal.hpp"
#include "json_fields.hpp"
#include "limits.hpp"
#include "scenario_files.hpp"

namespace spool::lab {
namespace {

// Splits "bimodal:2ms:80ms:0.05" at the colons.
std::vector<std::string> words_of(const std::string& text) {
    return CLI::detail::split(text, ':');
}

nlohmann::json number_or_text(const std::string& word) {
    double number = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && rest == word.data() + word.size() ? nlohmann::json(number)
                                                                     : nlohmann::json(word);
}

// Converts "kind:value:..." to a JSON object with the kind's field names. Each of `kinds` lists a
// kind and its field names.
nlohmann::json described(const char* option, const std::string& text, const char* kind_field,
                         std::initializer_list<std::vector<const char*>> kinds) {
    const std::vector<std::string> words = words_of(text);
    std::string all;
    for (const std::vector<const char*>& kind : kinds) {
        if (words[0] == kind[0] && words.size() == kind.size()) {
            nlohmann::json object = {{kind_field, words[0]}};
            for (std::size_t i = 1; i < words.size(); ++i) {
                object[kind[i]] = number_or_text(words[i]);
            }
            return object;
        }
        all += (all.empty() ? "" : ", ") + fmt::format("{}", fmt::join(kind, ":"));
    }
    throw input_error(fmt::format("{} {}: expected one of {}", option, text, all));
}

nanoseconds duration_option(const char* option, const std::string& text, nanoseconds most) {
    const auto d = parse_duration(text);
    if (!d.has_value() || *d > most) {
        throw input_error(fmt::format("{} {}: expected a duration such as 50ms or 1.5s, at most {}", option,
                                      text, to_text(most)));
    }
    return *d;
}

std::size_t size_option(const char* option, std::size_t size) {
    if (size > largest_pool) {
        throw input_error(
            fmt::format("{} {}: expected a whole number between 0 and {}", option, size, largest_pool));
    }
    return size;
}

}  // namespace

void scenario_options::add_to(CLI::App& command) {
    command.add_option("SCENARIO", file_, "A scenario file, or the name of one that comes with the program");
    command.add_option("--core", core_, "Core size of the pool")->group("Pool");
    command.add_option("--maximum", maximum_, "Maximum size of the pool")->group("Pool");
    command.add_option("--queue", queue_, "unbounded, synchronous, linked:N or array:N")->group("Pool");
    command.add_option("--keep-alive", keep_alive_, "Such as 500ms")->group("Pool");
    command.add_option("--rejection", rejection_, "abort, discard, discard_oldest or caller_runs")
        ->group("Pool");
    command.add_option("--duration", duration_, "How long tasks come")->group("Load");
    command.add_option("--seed", seed_, "Another draw of the same load")->group("Load");
    command.add_option("--speed", speed_, "The same story in less time: 4 means in a quarter of it")
        ->group("Load")
        ->check(CLI::Range(0.01, 1000.0));
    command.add_option("--rate", rate_, "Tasks per second; this and the following instead of a SCENARIO")
        ->group("Load");
    command
        .add_option(
            "--arrivals", arrivals_,
            "constant or poisson (with --rate; the default), bursts:SIZE:EVERY, ramp:FROM:TO or trace:FILE")
        ->group("Load");
    command
        .add_option("--service", service_,
                    "fixed:T, exponential:MEAN, log_normal:MEDIAN:SIGMA, "
                    "bimodal:FAST:SLOW:SHARE or trace:FILE")
        ->group("Load");
    command.add_option("--work", work_, "blocking or cpu")->group("Load");
    command.add_option("--deadline", deadline_, "From arrival to answer")->group("Load");
    command.add_option("--goal", goal_,
                       "Instead of the scenario's: a list such as p99<50ms,total.p99<80ms,reject<0.1%; "
                       "[class.][total.]p50 p90 p95 p99 p99.9 max, [class.]reject late, threads");
}

scenario scenario_options::from_flags() const {
    nlohmann::json arrivals = described("--arrivals", arrivals_.empty() ? "poisson" : arrivals_, "kind",
                                        {{"constant"},
                                         {"poisson"},
                                         {"bursts", "size", "every"},
                                         {"ramp", "from_rate", "to_rate"},
                                         {"trace", "file"}});
    if (arrivals["kind"] == "constant" || arrivals["kind"] == "poisson") {
        if (!rate_.has_value()) {
            throw input_error(fmt::format("--arrivals {}: needs a --rate", arrivals_));
        }
        if (!(*rate_ > 0 && *rate_ <= highest_rate)) {
            throw input_error(fmt::format("--rate {:g}: expected a number above 0 and at most {:.10g}",
                                          *rate_, highest_rate));
        }
        arrivals["rate"] = *rate_;
    }
    if (arrivals["kind"] == "bursts") {
        const double size = arrivals["size"].is_number() ? arrivals["size"].get<double>() : 0;
        if (size >= 1 && size <= static_cast<double>(largest_burst)) {
            arrivals["size"] = static_cast<std::size_t>(size);
        }
    }
    nlohmann::json one = {{"name", "task"}, {"arrivals", arrivals}, {"work", work_}};
    one["service"] = described("--service", service_, "distribution",
                               {{"fixed", "time"},
                                {"exponential", "mean"},
                                {"log_normal", "median", "sigma"},
                                {"bimodal", "fast", "slow", "slow_share"},
                                {"trace", "file"}});
    if (!deadline_.empty()) {
        one["deadline"] = deadline_;
    }
    if (!duration_.empty()) {
        static_cast<void>(duration_option("--duration", duration_, longest_run));
    }
    const nlohmann::json whole = {{"duration", duration_.empty() ? "10s" : duration_},
                                  {"pool", nlohmann::json::object()},
                                  {"classes", nlohmann::json::array({one})}};
    return parse_scenario("from-flags", whole.dump(1), "");
}

void scenario_options::change_pool(settings& pool) const {
    pool.core = size_option("--core", core_.value_or(pool.core));
    // Without --maximum: a scenario file keeps its maximum, raised to the core size if necessary.
    // Without a file, --core alone means a pool of that fixed size.
    pool.maximum = size_option("--maximum", maximum_.value_or(core_.has_value() && file_.empty()
                                                                  ? std::max<std::size_t>(pool.core, 1)
                                                                  : std::max(pool.core, pool.maximum)));
    if (!keep_alive_.empty()) {
        pool.keep_alive = duration_option("--keep-alive", keep_alive_, longest_duration);
    }
    if (!queue_.empty() && !parse_queue(queue_, pool)) {
        throw input_error(fmt::format("--queue {}: expected {}", queue_, expected_queue()));
    }
    if (!rejection_.empty()) {
        const auto policy = parse_refusal(rejection_);
        if (!policy.has_value()) {
            throw input_error(fmt::format(
                "--rejection {}: expected abort, discard, discard_oldest or caller_runs", rejection_));
        }
        pool.rejection = *policy;
    }
    for (const lint_finding& f : lint(to_options(pool, "lab"))) {
        if (f.severity == lint_severity::error) {
            throw input_error(f.what_happens + " " + f.what_to_do);
        }
    }
}

scenario scenario_options::load() const {
    const bool described_by_options = rate_.has_value() || !arrivals_.empty();
    if (file_.empty() != described_by_options) {
        throw input_error(
            "expected either a SCENARIO, or --rate or --arrivals and the options beside them (spool lab list "
            "names the scenarios)");
    }
    scenario s = file_.empty() ? from_flags() : read_scenario(find_scenario(file_));
    change_pool(s.pool);
    if (!duration_.empty()) {
        s = lasting(std::move(s), duration_option("--duration", duration_, longest_run));
    }
    s.seed = seed_.value_or(s.seed);
    if (speed_ != 1) {
        s = sped_up(std::move(s), speed_);
    }
    check_size(s);
    if (!goal_.empty()) {
        try {
            static_cast<void>(parse_goal(goal_, s));
        } catch (const input_error& e) {
            throw input_error(fmt::format("--goal {}", e.what()));
        }
        s.goal = goal_;
    }
    return s;
}

}  // namespace spool::lab
