// A monitor follows all pools of the process and says in words how each one does.
// prints: decode: .* tasks a second, .* busy\nspool_pool_tasks_completed_total\{pool="decode"\} 100\n
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include <spool/live/monitor.hpp>
#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    spool::thread_pool_executor pool({.name = "decode", .core_size = 2, .maximum_size = 2});
    // [monitor]
    spool::live::monitor watch({.tick = 1s});  // from now on: all pools, also those made later
    // [/monitor]
    for (int i = 0; i < 100; ++i) {
        pool.submit([] {}).get();
    }
    while (pool.completed_task_count() < 100) {
        std::this_thread::yield();
    }
    // [status]
    watch.tick();  // otherwise once a second, on a thread of its own
    for (const spool::live::pool_status& p : watch.pools()) {
        std::printf("%s: %s\n", p.label.c_str(), p.verdict.text.c_str());
    }
    const std::string text = watch.exposition();  // for Prometheus
    // [/status]
    const std::string line = "spool_pool_tasks_completed_total{";
    const std::size_t at = text.find("\n" + line) + 1;
    std::printf("%s\n", text.substr(at, text.find('\n', at) - at).c_str());
}
