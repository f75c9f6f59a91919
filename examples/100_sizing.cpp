// How a pool grows and shrinks: to the core size, into the queue, to the maximum, and back again.
// prints: task 1: 1 workers, 0 queued\n(.*\n){3}task 5: 3 workers, 2 queued\n.*\ntask 7: rejected\n.*: 2 workers
#include <chrono>
#include <cstdio>
#include <latch>
#include <memory>
#include <thread>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    std::latch finish{1};
    // [sizing]
    spool::thread_pool_executor pool({
        .name = "sizing",
        .core_size = 2,      // started on demand, then kept
        .maximum_size = 4,   // grows beyond the core size only when the queue is full
        .keep_alive = 50ms,  // a worker above the core size exits after this idle time
        .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(2),
    });

    for (int i = 1; i <= 7; ++i) {
        try {
            pool.execute([&] { finish.wait(); });
            // Tasks 1 and 2: below the core size, each starts a worker. Tasks 3 and 4 are queued.
            // Tasks 5 and 6: the queue is full, each starts a worker.
            std::printf("task %d: %zu workers, %zu queued\n", i, pool.pool_size(), pool.queue().size());
        } catch (const spool::rejected_execution&) {
            // Task 7: the queue is full, and the pool has its maximum of four workers.
            std::printf("task %d: rejected\n", i);
        }
    }

    finish.count_down();
    while (pool.pool_size() > pool.core_size()) {
        std::this_thread::sleep_for(1ms);  // idle workers above the core size exit after 50 ms
    }
    std::printf("after the keep-alive: %zu workers\n", pool.pool_size());
    // [/sizing]
}
