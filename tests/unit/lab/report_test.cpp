#include "report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "export.hpp"
#include "report_figures.hpp"
#include "statistics.hpp"
#include "unit/lab/tiny_scenarios.hpp"

namespace {

using namespace std::chrono_literals;
using test::simulated;
using test::sizes;
using test::tasks;
using test::with_pool;

TEST(lab_report, needs_nothing_from_outside_of_the_file) {
    const auto run = simulated(with_pool(sizes(2, 4, 8)), tasks(50, 5ms, 20ms));
    const std::string page = spool::lab::report_page(spool::lab::report_data("a title", {{"one", &run}}));
    EXPECT_NE(page.find("a title"), std::string::npos);
    for (const char* outside : {"src=", "href=", "@import", "url(", "fetch("}) {
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    }
}

TEST(lab_report, a_text_cannot_end_the_script_that_contains_it) {
    test::scenario s = with_pool(sizes(2, 4, 8));
    s.story = "</script><b>bold</b>";
    const auto run = simulated(s, tasks(5, 5ms, 20ms));
    const std::string page = spool::lab::report_page(spool::lab::report_data("t", {{"one", &run}}));
    EXPECT_EQ(page.find("</script><b>"), std::string::npos);
    EXPECT_NE(page.find("<\\/script><b>"), std::string::npos);
}

TEST(lab_report, says_whether_each_part_of_the_goal_is_met) {
    test::scenario s = with_pool(sizes(1, 1, 100));
    s.goal = "max<5ms,total.max<1s,reject<1%";
    const auto run = simulated(s, tasks(3, 0ms, 20ms));
    const auto verdict = spool::lab::report_data("t", {{"one", &run}})["runs"][0]["verdict"];
    EXPECT_EQ(verdict["met"], false);
    EXPECT_EQ(verdict["parts"][0]["met"], false);
    EXPECT_EQ(verdict["parts"][0]["limit"], 5.0);  // milliseconds, like all times in the report
    EXPECT_EQ(verdict["parts"][1]["met"], true);
    EXPECT_EQ(verdict["parts"][1]["of"], "total");
    EXPECT_TRUE(spool::lab::verdict_json(simulated(with_pool(sizes(1, 1, 9)), {}), {}).is_null());
}

TEST(lab_report, lost_tasks_keep_a_distribution_below_the_whole) {
    // Two of the four tasks are refused.
    const auto run = simulated(with_pool(sizes(1, 1, 1)), tasks(4, 0ms, 100ms));
    const auto shares = spool::lab::distribution_json(run);
    EXPECT_EQ(shares["wait"].front(), 0.25);  // the first task did not wait
    EXPECT_EQ(shares["wait"].back(), 0.5);
    EXPECT_EQ(shares["total"].front(), 0.0);
}

TEST(lab_report, a_heat_map_has_every_task_that_was_done) {
    const auto run = simulated(with_pool(sizes(2, 4, 8)), tasks(50, 5ms, 20ms));
    const auto heat = spool::lab::heat_json(run, spool::lab::over_time(run));
    for (const auto& [kind, cells] : heat.items()) {
        int count = 0;
        for (const auto& cell : cells) {
            count += cell[2].get<int>();
        }
        EXPECT_EQ(count, 50) << kind;
    }
}

TEST(lab_report, changes_and_sources_that_begin_or_end_on_the_way_have_marks) {
    test::scenario s = with_pool(sizes(1, 8, 100), 10s);
    s.classes[0].arrivals = {{.rate = 10, .until = 10s}, {.rate = 500, .from = 2s, .until = 10s}};
    s.changes = {{.at = 1s, .maximum = 4}, {.at = 5s, .service_factor = 3}};
    const auto marks = spool::lab::marks_json(s);
    ASSERT_EQ(marks.size(), 3U);
    EXPECT_EQ(marks[0]["text"], "maximum 4");
    EXPECT_EQ(marks[1]["text"], "a source begins: 500/s, Poisson");
    EXPECT_EQ(marks[2]["at"], 5.0);
    EXPECT_EQ(marks[2]["text"], "tasks run 3 times as long");
}

TEST(lab_report, names_the_version_and_the_command) {
    const char* const command[] = {"/usr/bin/spool", "lab", "run", "--goal", "p99<5ms"};
    spool::lab::remember_command(5, command);
    EXPECT_EQ(spool::lab::about_json()["command"], "spool lab run --goal 'p99<5ms'");
    EXPECT_EQ(std::ranges::count(spool::lab::about_json()["version"].get<std::string>(), '.'), 2);
}

TEST(lab_report, json_and_csv_tell_the_same) {
    const auto run = simulated(with_pool(sizes(2, 4, 8)), tasks(50, 5ms, 20ms));
    const auto json = spool::lab::to_json(run, spool::lab::summarise(run));
    const std::string csv = spool::lab::to_csv(spool::lab::over_time(run));
    EXPECT_EQ(json["series"]["at"].size() + 1,
              static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')));
    EXPECT_EQ(json["summary"]["all"]["completed"], 50);
    EXPECT_EQ(json["settings"]["queue"]["capacity"], 8);
}

}  // namespace
