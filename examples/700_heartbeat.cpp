// A heartbeat that survives a failure, and counts its failures.
// prints: ^beat, failed once, and is cancelled\n
#include <chrono>
#include <cstdio>
#include <latch>
#include <stdexcept>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    std::latch enough{5};
    // [heartbeat]
    spool::scheduled_thread_pool_executor timers({.name = "heart", .core_size = 1});

    int beats = 0;
    auto heartbeat = timers.schedule_at_fixed_rate(
        [&] {
            if (++beats == 2) {
                throw std::runtime_error("the network is down");  // reported; the series continues
            }
            enough.count_down();
        },
        0ms, 5ms, {.missed = spool::missed_runs::skip});
    // [/heartbeat]
    enough.wait();
    heartbeat.cancel();
    std::printf("%s, failed %s, and %s\n", heartbeat.run_count() >= 6 ? "beat" : "did not beat",
                heartbeat.failure_count() == 1 ? "once" : "not once",
                heartbeat.is_cancelled() ? "is cancelled" : "goes on");
}
