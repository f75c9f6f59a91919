// The monitor against the clock.
#include <sys/resource.h>

#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <spool/live/monitor.hpp>
#include <spool/spool.hpp>

namespace {

using namespace std::chrono_literals;

std::chrono::microseconds cpu_of_process() {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    return std::chrono::seconds{use.ru_utime.tv_sec + use.ru_stime.tv_sec} +
           std::chrono::microseconds{use.ru_utime.tv_usec + use.ru_stime.tv_usec};
}

}  // namespace

TEST(live_timing, an_idle_process_with_a_monitor_needs_next_to_no_cpu) {
    spool::thread_pool_executor pool({.name = "idle", .core_size = 4, .maximum_size = 4});
    pool.prestart_all_core_threads();
    const spool::live::monitor watch;
    std::this_thread::sleep_for(100ms);
    const auto before = cpu_of_process();
    std::this_thread::sleep_for(3s);
    const auto used = cpu_of_process() - before;
    RecordProperty("cpu_us", std::to_string(used.count()));
#if defined(NDEBUG)
    EXPECT_LT(used, 1ms);
#else
    EXPECT_LT(used, 5ms) << "a debug build";
#endif
}

// Two workers, tasks of 4 ms, and far more of them than the workers can do.
TEST(live_timing, the_expected_wait_is_what_the_next_task_waits) {
    spool::thread_pool_executor pool({.name = "overload", .core_size = 2, .maximum_size = 2});
    spool::live::monitor watch({.tick = 1h});
    const auto work = [] { std::this_thread::sleep_for(4ms); };
    for (int i = 0; i < 700; ++i) {
        pool.execute(work);
    }
    watch.tick();
    std::this_thread::sleep_for(600ms);
    watch.tick();
    const double expected = watch.pools().at(0).last_10s.expected_wait();
    const auto submitted = std::chrono::steady_clock::now();
    const auto started = pool.submit([] { return std::chrono::steady_clock::now(); }).get();
    const double waited = std::chrono::duration<double>(started - submitted).count();
    EXPECT_NEAR(expected / waited, 1.0, 0.2) << "expected " << expected << " s, waited " << waited << " s";
}
