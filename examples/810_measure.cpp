// A pool that measures itself: waits, run times, utilisation, and which kind of task uses it.
// prints: 200 tasks started, 0 failed\nwait p99 .* ms, run p50 .* ms\nthumbnail: 100 tasks.*\n(.*\n)*
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

namespace {

double ms(std::chrono::nanoseconds d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

}  // namespace

int main() {
    // [measure]
    spool::thread_pool_executor pool(
        {.name = "images", .core_size = 2, .maximum_size = 2, .measure = spool::measuring::adaptive()});
    std::vector<spool::future<void>> all;
    for (int i = 0; i < 100; ++i) {
        all.push_back(pool.submit(spool::named("thumbnail", [] { std::this_thread::sleep_for(100us); })));
        all.push_back(pool.submit(spool::named("upload", [] { std::this_thread::sleep_for(300us); })));
    }
    for (auto& f : all) {
        f.get();
    }
    pool.close();

    const spool::pool_reading now = pool.read();  // from any thread, at any time
    std::printf("%llu tasks started, %llu failed\n", static_cast<unsigned long long>(now.started),
                static_cast<unsigned long long>(now.failed));
    std::printf("wait p99 %.1f ms, run p50 %.1f ms\n", ms(now.wait.quantile(0.99)),
                ms(now.run.quantile(0.5)));
    for (const spool::kind_reading& k : now.kinds) {
        std::printf("%s: %llu tasks, %.1f ms\n", k.kind.c_str(), static_cast<unsigned long long>(k.tasks),
                    ms(k.run));
    }
    // [/measure]
}
