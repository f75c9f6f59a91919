// A daily run at 03:00 that follows the wall clock when it is set, tested with a manual clock.
// prints: day 1: backup at 03:00\nclock set back: none yet\nday 2: backup at 03:00\nday 3: backup at 03:00\n
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>

#include <spool/spool.hpp>
#include <spool/testing/manual_clock.hpp>

using namespace std::chrono_literals;
using std::chrono::system_clock;

// [daily]
system_clock::time_point next_at_three(system_clock::time_point now) {
    const auto today = std::chrono::floor<std::chrono::days>(now);
    return now < today + 3h ? today + 3h : today + std::chrono::days{1} + 3h;
}

// Runs `job` at 03:00 UTC, then schedules the next run. A system_clock time point follows the wall
// clock when the clock is set.
void daily(spool::scheduled_thread_pool_executor& timers, spool::clock_source& clock, auto job) {
    timers.schedule_at(
        [&timers, &clock, job] {
            job();
            daily(timers, clock, job);
        },
        next_at_three(clock.wall_now()));
}
// [/daily]

int main() {
    const auto clock = std::make_shared<spool::testing::manual_clock>();  // midnight, 2000-01-01
    std::mutex mutex;
    std::condition_variable ran;
    int runs = 0;
    spool::scheduled_thread_pool_executor timers({.name = "nightly", .core_size = 1, .clock = clock});

    const auto backup = [&] {
        const auto now = clock->wall_now();
        const std::chrono::hh_mm_ss time{now - std::chrono::floor<std::chrono::days>(now)};
        const std::lock_guard lock{mutex};
        std::printf("day %d: backup at %02d:%02d\n", ++runs, static_cast<int>(time.hours().count()),
                    static_cast<int>(time.minutes().count()));
        ran.notify_all();
    };
    // Waits until the job has run `n` times and the next run is queued.
    const auto wait_for = [&](int n) {
        std::unique_lock lock{mutex};
        ran.wait(lock, [&] { return runs == n; });
        lock.unlock();
        while (timers.queue().empty()) {
            std::this_thread::yield();
        }
    };

    daily(timers, *clock, backup);
    clock->advance(3h);
    wait_for(1);

    clock->set_wall(clock->wall_now() - 2h);  // sets the clock back by two hours
    clock->advance(24h);                      // it is 01:00 now
    {
        const std::lock_guard lock{mutex};
        std::printf("clock set back: %s\n", runs == 1 ? "none yet" : "too early");
    }
    clock->advance(2h);
    wait_for(2);

    clock->set_wall(clock->wall_now() + 24h);  // sets the clock forward by a day: 03:00 again
    wait_for(3);
}
