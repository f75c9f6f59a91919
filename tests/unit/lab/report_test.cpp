#include "report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "export.hpp"
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

TEST(lab_report, a_text_cannot_end_the_script_that_it_stands_in) {
    test::scenario s = with_pool(sizes(2, 4, 8));
    s.story = "</script><b>bold</b>";
    const auto run = simulated(s, tasks(5, 5ms, 20ms));
    const std::string page = spool::lab::report_page(spool::lab::report_data("t", {{"one", &run}}));
    EXPECT_EQ(page.find("</script><b>"), std::string::npos);
    EXPECT_NE(page.find("<\\/script><b>"), std::string::npos);
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
