#include <gtest/gtest.h>

#include <string>

#include "json_fields.hpp"
#include "plan.hpp"
#include "scenario.hpp"

namespace {

using spool::lab::input_error;
using spool::lab::parse_scenario;

// The error message for the scenario; empty if it is valid.
std::string complaint(const std::string& text) {
    try {
        static_cast<void>(parse_scenario("s.json", text, ""));
        return {};
    } catch (const input_error& e) {
        return e.what();
    }
}

// A scenario with this pool, these arrivals and this service, on lines 3, 6 and 7.
std::string scenario_of(const std::string& pool, const std::string& arrivals, const std::string& service,
                        const std::string& more = "") {
    return "{\n\"duration\": \"5s\",\n\"pool\": " + pool +
           ",\n\"classes\": [{\n\"name\": \"a\",\n\"arrivals\": " + arrivals + ",\n\"service\": " + service +
           "\n}]" + more + "}\n";
}
const std::string good_arrivals = R"({"kind": "poisson", "rate": 10})";

TEST(scenario_errors, a_good_scenario_is_read_without_complaint) {
    EXPECT_EQ(complaint(scenario_of("{}", good_arrivals, R"("5ms")")), "");
}

TEST(scenario_errors, broken_json_is_answered_with_its_line) {
    EXPECT_EQ(complaint("{\n\"duration\": \"5s\",,\n}").substr(0, 26), "s.json:2: not valid JSON: ");
}

TEST(scenario_errors, a_missing_field_is_named) {
    EXPECT_EQ(complaint("{\n}"), "s.json:1: (the whole file): the field \"duration\" is missing");
}

TEST(scenario_errors, a_wrong_value_is_reported_with_line_field_and_expectation) {
    EXPECT_EQ(complaint(scenario_of(R"({"core": 2, "maximum": "many"})", good_arrivals, R"("5ms")")),
              "s.json:3: pool.maximum: expected a whole number between 0 and 536870911, got \"many\"");
    EXPECT_EQ(complaint(scenario_of("{}", R"({"kind": "poisson", "rate": -1})", R"("5ms")")),
              "s.json:6: classes[0].arrivals.rate: expected a number above 0 and at most 1000000, got -1");
    EXPECT_EQ(
        complaint(scenario_of("{}", good_arrivals, R"("5 parsecs")")),
        "s.json:7: classes[0].service: expected a duration such as \"50ms\" or \"1.5s\", got \"5 parsecs\"");
    EXPECT_EQ(complaint(scenario_of("{}", good_arrivals, R"({"distribution": "gauss"})")),
              "s.json:7: classes[0].service.distribution: expected one of fixed, exponential, log_normal, "
              "bimodal, trace, got "
              "\"gauss\"");
}

TEST(scenario_errors, a_misspelt_field_gets_the_nearest_as_a_suggestion) {
    EXPECT_EQ(complaint(scenario_of(R"({"kep_alive": "1s"})", good_arrivals, R"("5ms")")),
              "s.json:3: pool.kep_alive: no such field; did you mean \"keep_alive\"?");
}

TEST(scenario_errors, settings_that_no_pool_accepts_are_refused) {
    const std::string words =
        complaint(scenario_of(R"({"core": 4, "maximum": 2})", good_arrivals, R"("5ms")"));
    EXPECT_EQ(words.substr(0, 15), "s.json:3: pool:") << words;
    EXPECT_NE(words.find("the maximum is below the core size"), std::string::npos) << words;
}

TEST(scenario_errors, changes_must_stand_in_order_and_leave_a_possible_pool) {
    const auto with_changes = [](const std::string& changes) {
        return complaint(scenario_of(R"({"core": 4, "maximum": 8})", good_arrivals, R"("5ms")",
                                     ",\n\"changes\": " + changes));
    };
    EXPECT_EQ(with_changes(R"([{"at": "1s", "maximum": 4}, {"at": "2s", "core": 2}])"), "");
    EXPECT_EQ(with_changes("[{\"at\": \"2s\", \"core\": 1},\n{\"at\": \"1s\", \"core\": 2}]"),
              "s.json:10: changes[1].at: changes must stand in the order of their times");
    EXPECT_EQ(with_changes(R"([{"at": "1s", "maximum": 3}])"),
              "s.json:9: changes[0]: leaves the pool with core 4 and maximum 3");
    EXPECT_EQ(with_changes(R"([{"at": "1s", "service_factor": 2, "class": "b"}])"),
              "s.json:9: changes[0].class: there is no class \"b\"");
}

TEST(scenario_errors, an_array_queue_needs_a_capacity_and_cannot_change_it) {
    EXPECT_EQ(complaint(scenario_of(R"({"queue": {"kind": "array"}})", good_arrivals, R"("5ms")")),
              "s.json:3: pool.queue: the field \"capacity\" is missing");
    EXPECT_EQ(complaint(scenario_of(R"({"queue": {"kind": "array", "capacity": 4}})", good_arrivals,
                                    R"("5ms")", R"(, "changes": {"at": "1s", "capacity": 9})")),
              "s.json:8: changes.capacity: only a linked queue can change its capacity");
}

TEST(scenario_errors, a_number_that_is_too_large_is_answered_with_its_limit) {
    const auto of_arrivals = [](const std::string& arrivals) {
        return complaint(scenario_of("{}", arrivals, R"("5ms")"));
    };
    EXPECT_EQ(of_arrivals(R"({"kind": "poisson", "rate": 1e12})"),
              "s.json:6: classes[0].arrivals.rate: expected a number above 0 and at most 1000000, got "
              "1000000000000.0");
    EXPECT_EQ(of_arrivals(R"({"kind": "ramp", "from_rate": 1, "to_rate": 1e9})"),
              "s.json:6: classes[0].arrivals.to_rate: expected a number between 0 and 1000000, got "
              "1000000000.0");
    EXPECT_EQ(of_arrivals(R"({"kind": "bursts", "size": 1000, "every": "1us"})"),
              "s.json:6: classes[0].arrivals: 5e+09 tasks come from this source: expected at most 5000000");
    EXPECT_EQ(of_arrivals(R"({"kind": "constant", "rate": 10, "until": "1000000s"})"),
              "s.json:6: classes[0].arrivals: 1e+07 tasks come from this source: expected at most 5000000");
    EXPECT_EQ(of_arrivals(R"({"kind": "poisson", "rate": 10, "until": "1e30s"})"),
              "s.json:6: classes[0].arrivals.until: expected a duration of at most 1000000000 s, got "
              "\"1e30s\"");
    EXPECT_EQ(complaint(scenario_of("{}", good_arrivals, R"("1e9s")")),
              "s.json:7: classes[0].service: expected a duration of at most 86400 s, got \"1e9s\"");
    EXPECT_EQ(complaint(scenario_of(R"({"queue": {"kind": "array", "capacity": 100000000}})", good_arrivals,
                                    R"("5ms")")),
              "s.json:3: pool.queue.capacity: expected a whole number between 1 and 1000000, got 100000000");
    EXPECT_EQ(complaint("{\n\"duration\": \"7h\"}").substr(0, 30), "s.json:2: duration: expected a");
    EXPECT_EQ(complaint("{\n\"duration\": \"1000000s\"}"),
              "s.json:2: duration: expected a duration of at most 21600 s, got \"1000000s\"");
}

TEST(scenario_errors, tasks_of_all_sources_and_their_retries_together_have_a_limit) {
    const std::string source = R"({"kind": "constant", "rate": 600000})";
    EXPECT_EQ(complaint(scenario_of("{}", "[" + source + "]", R"("5ms")")), "");
    EXPECT_EQ(complaint(scenario_of("{}", "[" + source + ", " + source + "]", R"("5ms")")),
              "s.json:4: classes: up to 6e+06 tasks come, retries included: expected at most 5000000");
    EXPECT_EQ(complaint(scenario_of("{}", good_arrivals,
                                    "\"5ms\", \"retry\": {\"attempts\": 100, \"after\": \"1ms\"}")),
              "");
    EXPECT_EQ(
        complaint(scenario_of("{}", source, "\"5ms\", \"retry\": {\"attempts\": 100, \"after\": \"1ms\"}")),
        "s.json:4: classes: up to 3e+08 tasks come, retries included: expected at most 5000000");
}

TEST(scenario_errors, work_for_longer_than_a_clock_can_count_is_refused_before_it_runs) {
    const spool::lab::scenario s = parse_scenario(
        "s.json", scenario_of("{}", R"({"kind": "constant", "rate": 10000})", R"("80000s")"), "");
    EXPECT_THROW(static_cast<void>(spool::lab::make_plan(s)), input_error);
}

TEST(scenario_errors, a_bad_goal_is_refused_when_the_scenario_is_read) {
    EXPECT_EQ(complaint(scenario_of("{}", good_arrivals, R"("5ms")", ",\n\"goal\": \"total.p99<50ms\"")), "");
    EXPECT_EQ(
        complaint(scenario_of("{}", good_arrivals, R"("5ms")", ",\n\"goal\": \"p98<50ms\"")).substr(0, 36),
        "s.json:9: goal: \"p98<50ms\": expected");
}

TEST(scenario_errors, a_trace_that_is_not_there_is_named) {
    const std::string words =
        complaint(scenario_of("{}", R"({"kind": "trace", "file": "none.csv"})", R"("5ms")"));
    EXPECT_EQ(words, "s.json:6: classes[0].arrivals.file: none.csv: cannot be read");
}

}  // namespace
