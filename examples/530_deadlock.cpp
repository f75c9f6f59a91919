// Two pools of one worker each wait for each other's tasks. The deadlock policy lends a thread.
// prints: 2 workers wait for each other; an extra thread of pool "[ab]+" helps\nfirst 1, second 2\n
#include <cstdio>
#include <latch>

#include <spool/spool.hpp>

int main() {
    // [deadlock]
    const auto policy = spool::deadlock_policy::lend([](const spool::deadlock_report& report) {
        std::printf("%zu workers wait for each other; %s\n", report.workers.size(), report.remedy.c_str());
    });
    spool::thread_pool_executor a({.name = "a", .core_size = 1, .on_deadlock = policy});
    spool::thread_pool_executor b({.name = "b", .core_size = 1, .on_deadlock = policy});

    std::latch both_run{2};
    auto first = a.submit([&] {
        both_run.arrive_and_wait();
        return b.submit([] { return 1; }).get();  // queued behind the task below
    });
    auto second = b.submit([&] {
        both_run.arrive_and_wait();
        return a.submit([] { return 2; }).get();  // queued behind the task above
    });
    const int one = first.get();
    const int two = second.get();
    // [/deadlock]
    std::printf("first %d, second %d\n", one, two);
}
