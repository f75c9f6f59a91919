// The system's wall clock steps: timers for a time of day follow it, and nothing else notices. A
// separate program, because it replaces clock_gettime.
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "support/delays.hpp"
#include "support/eventually.hpp"

namespace {

std::atomic<long> wall_offset_seconds{0};

}  // namespace

extern "C" int clock_gettime(clockid_t which, timespec* out) noexcept {
    const long answer = syscall(SYS_clock_gettime, which, out);
    if (which == CLOCK_REALTIME && answer == 0) {
        out->tv_sec += wall_offset_seconds.load();
    }
    return static_cast<int>(answer);
}

namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

class wall_clock_step : public testing::Test {
protected:
    void TearDown() override { step_to(0h); }
    static void step_to(std::chrono::seconds offset) { wall_offset_seconds = offset.count(); }
};

TEST_F(wall_clock_step, can_be_made_here) {
    const auto before = system_clock::now();
    step_to(10h);
    EXPECT_GE(system_clock::now() - before, 9h);
}

TEST_F(wall_clock_step, forward_makes_a_time_of_day_due) {
    spool::scheduled_thread_pool_executor timers({.core_size = 1});
    const auto tomorrow = timers.schedule_at([] { return 7; }, system_clock::now() + 24h);
    EXPECT_FALSE(tomorrow.wait_for(test::short_delay()));
    step_to(25h);
    ASSERT_TRUE(tomorrow.wait_for(test::long_delay()));
    EXPECT_EQ(tomorrow.get(), 7);
}

TEST_F(wall_clock_step, back_delays_a_time_of_day_and_forward_makes_it_due_again) {
    spool::scheduled_thread_pool_executor timers({.core_size = 1});
    step_to(1h);
    const auto soon = timers.schedule_at([] { return 7; }, system_clock::now() + test::medium_delay());
    step_to(0h);
    EXPECT_FALSE(soon.wait_for(3 * test::medium_delay()));
    step_to(2h);
    EXPECT_TRUE(soon.wait_for(test::long_delay()));
}

TEST_F(wall_clock_step, at_any_time_changes_no_delay_and_no_limit) {
    const auto before = system_clock::now() - 1s;
    std::atomic<int> ran{0};
    spool::scheduled_thread_pool_executor timers({.core_size = 2});
    std::atomic<bool> over{false};
    std::thread stepping([&over] {
        for (long i = 0; !over; ++i) {
            step_to((i % 2 == 0 ? 5h : -5h) * (i % 7));
            std::this_thread::yield();
        }
    });
    const auto start = std::chrono::steady_clock::now();
    const auto limit = test::short_delay();
    const auto delayed = timers.schedule([&] { return std::chrono::steady_clock::now(); }, limit);
    const auto series = timers.schedule_at_fixed_rate([&ran] { ++ran; }, 0s, 1ms);
    EXPECT_GE(delayed.get_for(test::long_delay()) - start, limit);
    EXPECT_TRUE(test::eventually([&] { return ran >= 10; }));
    series.cancel();
    spool::linked_blocking_queue<int> nothing_comes;
    EXPECT_GE(test::time_of([&] { EXPECT_FALSE(nothing_comes.poll_for(limit).has_value()); }), limit);
    EXPECT_GE(test::time_of([&] { spool::this_task::sleep_for(limit); }), limit);
    const auto time_of_day = timers.schedule_at([] { return 7; }, before);
    over = true;
    stepping.join();
    // Past the due time, whatever the clock showed when the timer was scheduled or last checked.
    step_to(0h);
    EXPECT_TRUE(time_of_day.wait_for(test::long_delay()));
}

}  // namespace
