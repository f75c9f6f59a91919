// window and diagnose(): pure functions of what was measured.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <spool/live/window.hpp>
#include <spool/spool.hpp>

namespace {

using namespace std::chrono_literals;
using spool::live::condition;
using spool::live::machine_load;
using spool::live::window;

window quiet_window() {
    window w;
    w.length = 10s;
    w.now.core_size = 4;
    w.now.maximum_size = 8;
    w.now.pool_size = 4;
    w.busy = 20s;
    w.idle = 20s;
    w.cpu = 19s;
    w.started = 1000;
    w.completed = 1000;
    return w;
}
window behind(std::chrono::nanoseconds cpu) {
    window w = quiet_window();
    w.now.active = 4;
    w.now.queued = 200;
    w.busy = 40s;
    w.idle = 0s;
    w.cpu = cpu;
    return w;
}

}  // namespace

TEST(live_window, is_the_difference_of_two_readings) {
    spool::pool_reading a;
    a.at = std::chrono::steady_clock::time_point{100s};
    a.started = 10;
    a.busy = 3s;
    a.run.add(1ms, 10);
    spool::pool_reading b = a;
    b.at += 2s;
    b.started = 30;
    b.numbers.completed = 20;
    b.numbers.queued = 5;
    b.busy = 5s;
    b.idle = 2s;
    b.cpu = 1s;
    b.run.add(4ms, 20);
    const window w = spool::live::difference(a, b);
    EXPECT_EQ(w.length, 2s);
    EXPECT_EQ(w.started, 20U);
    EXPECT_EQ(w.run.count(), 20U);
    EXPECT_NEAR(static_cast<double>(w.run.quantile(0.5).count()), 4e6, 0.3e6);
    EXPECT_DOUBLE_EQ(w.per_second(w.completed), 10);
    EXPECT_DOUBLE_EQ(w.utilisation(), 0.5);
    EXPECT_DOUBLE_EQ(w.cpu_share(), 0.5);
    EXPECT_DOUBLE_EQ(w.expected_wait(), 0.5);
}

TEST(live_window, of_no_length_or_no_work_divides_by_nothing) {
    const window none;
    EXPECT_EQ(none.per_second(5), 0);
    EXPECT_EQ(none.utilisation(), 0);
    EXPECT_EQ(none.cpu_share(), 0);
    EXPECT_EQ(none.expected_wait(), 0);
    window stuck = quiet_window();
    stuck.now.queued = 1;
    stuck.completed = 0;
    EXPECT_TRUE(std::isinf(stuck.expected_wait()));
}

TEST(live_diagnosis, names_the_condition_and_the_numbers) {
    struct row {
        const char* what;
        window w;
        machine_load machine;
        condition expected;
        const char* text;
    };
    std::vector<row> table;
    table.push_back(
        {"healthy", quiet_window(), {.cpus = 8}, condition::healthy, "100 tasks a second, 50 % busy"});
    window idle = quiet_window();
    idle.started = idle.completed = 0;
    table.push_back({"idle", idle, {.cpus = 8}, condition::idle, "no task for 10 s"});
    table.push_back({"computing", behind(39s), {.cpus = 8}, condition::short_of_threads, "CPUs are free"});
    table.push_back(
        {"all CPUs taken", behind(39s), {.cpus = 4}, condition::short_of_cpu, "more threads will not help"});
    table.push_back(
        {"pressed", behind(10s), {.cpus = 8, .pressure = 0.5}, condition::short_of_cpu, "pressure 50 %"});
    table.push_back({"waiting",
                     behind(1200ms),
                     {.cpus = 4},
                     condition::blocked,
                     "CPU 3 %: something downstream is slow"});
    table.push_back({"throttled",
                     behind(39s),
                     {.cpus = 4, .throttled = 0.2},
                     condition::throttled,
                     "20 % of its periods"});
    window stuck = behind(0s);
    stuck.completed = 0;
    table.push_back({"stuck", stuck, {.cpus = 4}, condition::stuck, "none has completed for 10 s"});
    window rejecting = behind(39s);
    rejecting.rejected = 7;
    table.push_back({"rejecting", rejecting, {.cpus = 4}, condition::rejecting, "7 task(s) were refused"});
    window ended = quiet_window();
    ended.now.state = spool::run_state::shutting_down;
    table.push_back({"ended", ended, {.cpus = 4}, condition::ended, "shutting down"});
    for (const row& r : table) {
        const spool::live::diagnosis d = spool::live::diagnose(r.w, r.machine);
        EXPECT_EQ(to_string(d.what), to_string(r.expected)) << r.what << ": " << d.text;
        EXPECT_NE(d.text.find(r.text), std::string::npos) << r.what << ": " << d.text;
    }
}
