// Prints the exposition of a process with pools of awkward names that have worked and refused.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>

#include <spool/live/monitor.hpp>
#include <spool/spool.hpp>

int main(int count, char** arguments) {
    using namespace std::chrono_literals;
    const bool open = count > 1 && std::string_view{arguments[1]} == "open_metrics";
    spool::thread_pool_executor plain({.name = "plain", .core_size = 2, .maximum_size = 2});
    spool::thread_pool_executor twin({.name = "plain", .core_size = 1, .maximum_size = 1});
    spool::thread_pool_executor odd({.name = "odd \"name\"\\ with\nlines, \xC3\xBC and \xFF",
                                     .core_size = 1,
                                     .maximum_size = 1,
                                     .queue = std::make_unique<spool::linked_blocking_queue<spool::task>>(1),
                                     .rejection = spool::discard_policy{}});
    spool::scheduled_thread_pool_executor timers({.name = "timers", .core_size = 1});
    spool::live::monitor watch({.tick = 1h});
    for (int i = 0; i < 100; ++i) {
        plain.submit(spool::named("thumb\"nail", [] {})).get();
        twin.execute([] {});
        odd.execute([] {});
    }
    timers.schedule([] {}, 1ms).get();
    watch.tick();
    const auto format =
        open ? spool::live::exposition_format::open_metrics : spool::live::exposition_format::prometheus;
    std::fputs(watch.exposition(format).c_str(), stdout);
}
