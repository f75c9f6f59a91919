// Monitors of static storage, made before and after the pools that they follow.
#include <chrono>
#include <cstdio>

#include <spool/live/monitor.hpp>
#include <spool/spool.hpp>

namespace {

using namespace std::chrono_literals;

spool::live::monitor first({.tick = 1ms});  // destroyed after the pool
spool::thread_pool_executor pool({.name = "static", .core_size = 2, .maximum_size = 2});
spool::live::monitor last({.tick = 1ms});  // destroyed before the pool

}  // namespace

int main() {
    for (int i = 0; i < 1000; ++i) {
        pool.execute([] {});
    }
    last.tick();
    if (last.pools().size() != 1) {
        std::puts("the pool is not followed");
        return 1;
    }
}
