// exposition(): the text that Prometheus reads.
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <spool/live/exposition.hpp>
#include <spool/spool.hpp>

namespace {

using namespace std::chrono_literals;
using spool::live::exposition_format;
using spool::live::pool_status;

bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}
std::string of(const pool_status& p, exposition_format format = exposition_format::prometheus) {
    return spool::live::exposition(std::vector<pool_status>{p}, format, 3);
}

}  // namespace

TEST(live_exposition, has_a_line_per_number) {
    pool_status p;
    p.label = "decode";
    p.accepted = 12;
    p.reading.started = 10;
    p.reading.rejection = "abort";
    p.reading.numbers.pool_size = 4;
    p.reading.numbers.active = 3;
    p.reading.numbers.queue_capacity = spool::blocking_queue<spool::task>::unlimited;
    p.reading.rejected_by[0] = 7;
    p.reading.busy = 1500ms;
    p.reading.kinds.push_back({"thumbnail", 5, 250ms});
    const std::string text = of(p);
    EXPECT_TRUE(has_line(text, "# TYPE spool_pool_info gauge")) << text;
    EXPECT_TRUE(has_line(text, R"(spool_pool_info{pool="decode",rejection="abort",condition="idle"} 1)"))
        << text;
    EXPECT_TRUE(has_line(text, "# TYPE spool_pool_tasks_accepted_total counter"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_tasks_accepted_total{pool="decode"} 12)"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_tasks_started_total{pool="decode"} 10)"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_threads{pool="decode",state="busy"} 3)"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_threads{pool="decode",state="idle"} 1)"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_queue_capacity_tasks{pool="decode"} +Inf)"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_tasks_rejected_total{pool="decode",reason="queue full"} 7)"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_busy_seconds_total{pool="decode"} 1.5)"));
    EXPECT_TRUE(has_line(text, R"(spool_task_kind_run_seconds_total{pool="decode",kind="thumbnail"} 0.25)"));
    EXPECT_TRUE(has_line(text, "spool_live_pools_left_out 3"));
}

TEST(live_exposition, histograms_add_up_from_bucket_to_bucket) {
    pool_status p;
    p.label = "x";
    p.reading.wait.add(3us, 4);
    p.reading.wait.add(3ms, 2);
    p.reading.wait.add(1h, 1);
    const std::string text = of(p);
    EXPECT_TRUE(has_line(text, R"(spool_task_wait_seconds_bucket{pool="x",le="2.5e-06"} 0)")) << text;
    EXPECT_TRUE(has_line(text, R"(spool_task_wait_seconds_bucket{pool="x",le="5e-06"} 4)")) << text;
    EXPECT_TRUE(has_line(text, R"(spool_task_wait_seconds_bucket{pool="x",le="0.005"} 6)")) << text;
    EXPECT_TRUE(has_line(text, R"(spool_task_wait_seconds_bucket{pool="x",le="100"} 6)")) << text;
    EXPECT_TRUE(has_line(text, R"(spool_task_wait_seconds_bucket{pool="x",le="+Inf"} 7)")) << text;
    EXPECT_TRUE(has_line(text, R"(spool_task_wait_seconds_count{pool="x"} 7)")) << text;
}

TEST(live_exposition, escapes_what_a_name_may_contain) {
    pool_status p;
    p.label = "a\"b\\c\nd\xC3\xBC\xFF\xE2\x82";
    const std::string text = of(p);
    EXPECT_TRUE(has_line(text, "spool_pool_running{pool=\"a\\\"b\\\\c\\nd\xC3\xBC???\"} 1")) << text;
    p.label = std::string(127, 'x') + "\xC3\xBC" + std::string(50, 'y');
    EXPECT_TRUE(has_line(of(p), "spool_pool_running{pool=\"" + std::string(127, 'x') + "\xC3\xBC\"} 1"))
        << of(p);
}

TEST(live_exposition, in_open_metrics_a_family_has_no_total_and_the_text_an_end) {
    pool_status p;
    p.label = "x";
    const std::string text = of(p, exposition_format::open_metrics);
    EXPECT_TRUE(has_line(text, "# TYPE spool_pool info"));
    EXPECT_TRUE(has_line(text, "# TYPE spool_pool_tasks_started counter"));
    EXPECT_TRUE(has_line(text, R"(spool_pool_tasks_started_total{pool="x"} 0)"));
    EXPECT_TRUE(text.ends_with("# EOF\n"));
    EXPECT_FALSE(of(p).ends_with("# EOF\n"));
    EXPECT_NE(content_type(exposition_format::open_metrics), content_type(exposition_format::prometheus));
}

TEST(live_exposition, of_no_pools_is_still_valid) {
    const std::string text = spool::live::exposition({}, exposition_format::open_metrics);
    EXPECT_TRUE(has_line(text, "spool_live_pools_left_out 0"));
    EXPECT_TRUE(text.ends_with("# EOF\n"));
}
