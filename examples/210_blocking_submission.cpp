// Submission without a rejection policy: try_execute() never blocks, execute_for() waits for room.
// prints: at once: full\nwithin 10 ms: timed out\nwith room: accepted\nsum 5050, never more than 4 queued\nclosed: shut down\n
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <latch>
#include <memory>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

const char* name(spool::admission_result r) {
    switch (r) {
        case spool::admission_result::accepted: return "accepted";
        case spool::admission_result::full: return "full";
        case spool::admission_result::shut_down: return "shut down";
        case spool::admission_result::no_thread: return "no thread";
        case spool::admission_result::timed_out: return "timed out";
    }
    return "?";
}

int main() {
    std::latch finish{1};
    std::atomic<int> sum{0};
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::make_unique<spool::array_blocking_queue<spool::task>>(4)});
    for (int i = 0; i < 5; ++i) {
        pool.execute([&] { finish.wait(); });  // one runs, four wait: the pool is full
    }
    // [blocking]
    spool::task work = [&] { sum += 1; };
    std::printf("at once: %s\n", name(pool.try_execute(std::move(work))));
    // The pool moves from `work` only if it accepts the task, so a refused task can be resubmitted.
    std::printf("within 10 ms: %s\n", name(pool.execute_for(std::move(work), 10ms)));
    finish.count_down();
    std::printf("with room: %s\n", name(pool.execute_for(std::move(work), 1min)));

    // Back-pressure: a bounded queue and a wait for room slow the producer to the pool's pace.
    std::size_t most = 0;
    for (int i = 2; i <= 100; ++i) {
        if (pool.execute_for([&sum, i] { sum += i; }, 1min) != spool::admission_result::accepted) {
            return 1;
        }
        most = std::max(most, pool.queue().size());
    }
    pool.close();
    std::printf("sum %d, never more than %s queued\n", sum.load(), most <= 4 ? "4" : "allowed");
    std::printf("closed: %s\n", name(pool.try_execute([] {})));
    // [/blocking]
}
