// manual_clock: a clock that the test moves.
#include <gtest/gtest.h>

#include "schedule_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::testing::manual_clock;
using std::chrono::system_clock;

struct counting_listener final : spool::clock_listener {
    void time_changed() noexcept override { ++calls; }
    std::atomic<int> calls{0};
};

TEST(manual_clock, begins_an_hour_after_the_beginning_at_midnight_of_2000) {
    const manual_clock clock;
    EXPECT_EQ(clock.now(), spool::due_time{1h});
    EXPECT_EQ(clock.wall_now(), (std::chrono::sys_days{std::chrono::year{2000} / 1 / 1}));
}

TEST(manual_clock, stands_still_until_advanced_and_then_advances_both_times) {
    manual_clock clock;
    const auto start = clock.now();
    const auto wall = clock.wall_now();
    EXPECT_EQ(clock.now(), start);
    clock.advance(90min);
    clock.advance(std::chrono::duration<double>{0.5});
    EXPECT_EQ(clock.now() - start, 90min + 500ms);
    EXPECT_EQ(clock.wall_now() - wall, 90min + 500ms);
}

TEST(manual_clock, never_goes_back) {
    manual_clock clock;
    const auto start = clock.now();
    clock.advance(-1h);
    clock.advance(std::chrono::nanoseconds::min());
    EXPECT_EQ(clock.now(), start);
}

TEST(manual_clock, stops_at_the_end_of_time) {
    manual_clock clock;
    clock.advance(std::chrono::nanoseconds::max());
    clock.advance(std::chrono::hours::max());
    EXPECT_EQ(clock.now(), spool::due_time::max());
    EXPECT_GT(clock.wall_now(), (std::chrono::sys_days{std::chrono::year{2200} / 1 / 1}));
}

TEST(manual_clock, can_set_only_the_time_of_day) {
    manual_clock clock;
    const auto start = clock.now();
    const system_clock::time_point birthday = std::chrono::sys_days{std::chrono::year{1970} / 5 / 5};
    clock.set_wall(birthday);
    EXPECT_EQ(clock.now(), start);
    EXPECT_EQ(clock.wall_now(), birthday);
    clock.advance(1h);
    EXPECT_EQ(clock.wall_now(), birthday + 1h);
}

TEST(manual_clock, the_ends_of_the_time_of_day_can_be_set) {
    manual_clock clock;
    clock.set_wall(system_clock::time_point::min());
    EXPECT_LT(clock.wall_now(), (std::chrono::sys_days{std::chrono::year{1700} / 1 / 1}));
    clock.set_wall(system_clock::time_point::max());
    EXPECT_GT(clock.wall_now(), (std::chrono::sys_days{std::chrono::year{2200} / 1 / 1}));
}

TEST(manual_clock, tells_its_listeners_of_every_move_and_none_that_left) {
    manual_clock clock;
    counting_listener stays;
    counting_listener leaves;
    clock.add_listener(stays);
    clock.add_listener(leaves);
    clock.advance(1ns);
    clock.set_wall(clock.wall_now());
    clock.advance(0ns);
    EXPECT_EQ(stays.calls, 2);
    EXPECT_EQ(leaves.calls, 2);
    clock.remove_listener(leaves);
    clock.advance(1ns);
    EXPECT_EQ(stays.calls, 3);
    EXPECT_EQ(leaves.calls, 2);
    clock.remove_listener(stays);
}

TEST(manual_clock, serves_several_pools_and_threads_at_once) {
    const auto clock = std::make_shared<manual_clock>();
    spool::scheduled_thread_pool_executor one({.core_size = 1, .clock = clock});
    spool::scheduled_thread_pool_executor other({.core_size = 1, .clock = clock});
    std::atomic<int> runs{0};
    const auto a = one.schedule_at_fixed_rate([&] { ++runs; }, 1ms, 1ms);
    const auto b = other.schedule_at_fixed_rate([&] { ++runs; }, 1ms, 1ms);
    std::vector<std::thread> movers;
    for (int i = 0; i < 4; ++i) {
        movers.emplace_back([&] {
            for (int step = 0; step < 100; ++step) {
                clock->advance(1ms);
                clock->set_wall(clock->wall_now());
            }
        });
    }
    for (std::thread& t : movers) {
        t.join();
    }
    EXPECT_TRUE(test::eventually([&] { return runs == 800; })) << runs;
    EXPECT_EQ(clock->now(), spool::due_time{1h + 400ms});
}

}  // namespace
