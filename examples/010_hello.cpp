// The first steps: run a task on a pool, get its result back, let the destructor clean up.
// prints: 6 \* 7 = 42\nthe task said: no luck\n
// [hello]
#include <cstdio>
#include <stdexcept>

#include <spool/spool.hpp>

int main() {
    spool::thread_pool_executor pool = spool::fixed_thread_pool(4);

    spool::future<int> answer = pool.submit([] { return 6 * 7; });
    std::printf("6 * 7 = %d\n", answer.get());  // waits for the task

    spool::future<void> failing = pool.submit([] { throw std::runtime_error("no luck"); });
    try {
        failing.get();  // throws what the task threw
    } catch (const std::runtime_error& e) {
        std::printf("the task said: %s\n", e.what());
    }
    // The destructor waits for every task and joins every thread.
}
// [/hello]
