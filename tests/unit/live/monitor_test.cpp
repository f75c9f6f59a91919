// monitor: follows pools that come and go.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <spool/live/monitor.hpp>
#include <spool/spool.hpp>

#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using spool::live::monitor;
using spool::live::pool_status;

std::vector<std::string> labels_of(const monitor& m) {
    std::vector<std::string> all;
    for (const pool_status& p : m.pools()) {
        all.push_back(p.label);
    }
    return all;
}
pool_status status_of(const monitor& m, const std::string& label) {
    for (const pool_status& p : m.pools()) {
        if (p.label == label) {
            return p;
        }
    }
    return {};
}
spool::pool_options small(std::string name) {
    return {.name = std::move(name), .core_size = 1, .maximum_size = 1};
}

// A folder of its own, removed at the end.
class temporary_folder {
public:
    temporary_folder()
        : path(std::filesystem::temp_directory_path() / ("spool-live-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path);
    }
    ~temporary_folder() { std::filesystem::remove_all(path); }
    const std::filesystem::path path;
};

std::string contents_of(const std::filesystem::path& file) {
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

TEST(live_monitor, follows_pools_that_are_made_later_and_drops_those_that_are_gone) {
    monitor watch({.tick = 1h});
    EXPECT_TRUE(watch.pools().empty());
    std::optional<spool::thread_pool_executor> pool;
    pool.emplace(small("later"));
    watch.tick();
    EXPECT_EQ(labels_of(watch), std::vector<std::string>{"later"});
    pool.reset();
    watch.tick();
    EXPECT_TRUE(watch.pools().empty());
    EXPECT_TRUE(watch.history("later").empty());
}

TEST(live_monitor, gives_each_pool_a_label_of_its_own_that_stays) {
    spool::thread_pool_executor a(small("twin"));
    std::optional<spool::thread_pool_executor> b;
    b.emplace(small("twin"));
    spool::thread_pool_executor taken(small("twin#2"));
    monitor watch({.tick = 1h});
    const std::vector<std::string> all{"twin", "twin#2", "twin#2#2"};
    EXPECT_EQ(labels_of(watch), all);
    a.set_keep_alive(7s);
    watch.tick();
    EXPECT_EQ(status_of(watch, "twin").reading.numbers.keep_alive, 7s);
    b.reset();
    watch.tick();
    const std::vector<std::string> rest{"twin", "twin#2#2"};
    EXPECT_EQ(labels_of(watch), rest);
}

TEST(live_monitor, turns_measuring_on_and_off_again_but_leaves_the_users_choice_alone) {
    spool::thread_pool_executor off(small("off"));
    spool::pool_options options = small("on");
    options.measure = spool::measuring::every(4);
    spool::thread_pool_executor on(std::move(options));
    {
        monitor watch({.tick = 1h});
        EXPECT_EQ(off.measuring(), spool::measuring::adaptive());
        EXPECT_EQ(on.measuring(), spool::measuring::every(4));
    }
    EXPECT_EQ(off.measuring(), spool::measuring::off());
    EXPECT_EQ(on.measuring(), spool::measuring::every(4));
}

TEST(live_monitor, keeps_history_and_windows_of_what_happened) {
    spool::thread_pool_executor pool(small("busy"));
    monitor watch({.tick = 1h});
    for (int i = 0; i < 50; ++i) {
        pool.submit([] {}).get();
    }
    EXPECT_TRUE(test::eventually([&] { return pool.completed_task_count() == 50; }));
    const auto before = std::chrono::steady_clock::now();
    watch.tick();
    const pool_status p = status_of(watch, "busy");
    EXPECT_EQ(p.accepted, 50U);
    EXPECT_EQ(p.last_10s.completed, 50U);
    EXPECT_EQ(p.last_60s.run.count(), 50U);
    EXPECT_EQ(watch.history("busy").size(), 2U);
    const auto points = watch.history("busy", before);
    ASSERT_EQ(points.size(), 1U);
    EXPECT_GT(points[0].completed, 0);
    EXPECT_TRUE(watch.history("nobody").empty());
}

TEST(live_monitor, ticks_by_itself) {
    monitor watch({.tick = 1ms});
    const std::uint64_t before = watch.ticks();
    EXPECT_TRUE(test::eventually([&] { return watch.ticks() > before + 3; }));
}

TEST(live_monitor, follows_only_what_it_is_told_to_and_only_so_many) {
    spool::thread_pool_executor a(small("a"));
    spool::thread_pool_executor b(small("b"));
    spool::thread_pool_executor c(small("c"));
    const monitor some({.tick = 1h, .include = [](std::string_view name) { return name != "b"; }});
    const std::vector<std::string> without_b{"a", "c"};
    EXPECT_EQ(labels_of(some), without_b);
    const monitor few({.tick = 1h, .most_pools = 2});
    EXPECT_EQ(few.pools().size(), 2U);
    EXPECT_NE(few.exposition().find("\nspool_live_pools_left_out 1\n"), std::string::npos);
}

TEST(live_monitor, writes_the_metrics_file_whole_or_not_at_all) {
    const temporary_folder folder;
    const std::filesystem::path file = folder.path / "spool.prom";
    spool::thread_pool_executor pool(small("written"));
    {
        monitor watch({.tick = 1ms, .metrics_file = file, .metrics_every = 1ms});
        EXPECT_TRUE(test::eventually([&] { return std::filesystem::exists(file); }));
        for (int i = 0; i < 200; ++i) {
            const std::string text = contents_of(file);
            ASSERT_TRUE(text.ends_with("spool_live_pools_left_out 0\n")) << text;
            ASSERT_NE(text.find("pool=\"written\""), std::string::npos);
        }
    }
    const auto files = std::distance(std::filesystem::directory_iterator{folder.path}, {});
    EXPECT_EQ(files, 1) << "nothing temporary is left";
}

TEST(live_monitor, reports_a_file_that_it_cannot_write_once) {
    std::mutex mutex;
    std::vector<std::string> reports;
    monitor watch({.tick = 1ms,
                   .metrics_file = "/nonexistent-folder/spool.prom",
                   .metrics_every = 1ms,
                   .report = [&](std::string_view text) {
                       const std::lock_guard lock{mutex};
                       reports.emplace_back(text);
                   }});
    EXPECT_TRUE(test::eventually([&] { return watch.ticks() > 20; }));
    const std::lock_guard lock{mutex};
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_NE(reports[0].find("/nonexistent-folder/spool.prom"), std::string::npos) << reports[0];
    EXPECT_NE(reports[0].find("No such file"), std::string::npos) << reports[0];
}

TEST(live_monitor, refuses_a_tick_that_is_not_positive) {
    EXPECT_THROW(monitor({.tick = 0s}), std::invalid_argument);
    EXPECT_THROW(monitor({.metrics_every = -1s}), std::invalid_argument);
}

TEST(live_monitor, a_callable_that_throws_stops_neither_the_monitor_nor_the_others) {
    std::atomic<int> asked{0};
    spool::thread_pool_executor pool(small("thrower"));
    EXPECT_THROW(
        monitor({.tick = 1h, .include = [](std::string_view) -> bool { throw std::runtime_error("no"); }}),
        std::runtime_error)
        << "the first tick is the constructor's";
    monitor watch({.tick = 1ms,
                   .include = [&](std::string_view) -> bool {
                       if (++asked > 1) {
                           throw std::runtime_error("no");
                       }
                       return false;
                   },
                   .report = [](std::string_view) { throw std::runtime_error("nor here"); }});
    EXPECT_TRUE(test::eventually([&] { return asked > 10; }));
}

TEST(live_monitor, reads_while_pools_come_and_go) {
    monitor watch({.tick = 1ms});
    std::atomic<bool> done{false};
    std::thread reader{[&] {
        while (!done) {
            static_cast<void>(watch.exposition());
        }
    }};
    for (int i = 0; i < 300; ++i) {
        spool::thread_pool_executor pool(small("short"));
        pool.submit([] {}).get();
        if (i % 10 == 0) {
            watch.tick();
        }
    }
    done = true;
    reader.join();
}

TEST(live_monitor, is_not_there_in_a_forked_child_and_goes_on_in_the_parent) {
    spool::thread_pool_executor pool(small("forked"));
    auto watch = std::make_unique<monitor>(spool::live::monitor_options{.tick = 1ms});
    const pid_t child = ::fork();
    if (child == 0) {
        const bool empty = watch->pools().empty() && watch->ticks() == 0;
        watch->tick();
        watch.reset();  // waits for nothing
        ::_exit(empty ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const std::uint64_t before = watch->ticks();
    EXPECT_TRUE(test::eventually([&] { return watch->ticks() > before; }));
    EXPECT_EQ(labels_of(*watch), std::vector<std::string>{"forked"});
}
