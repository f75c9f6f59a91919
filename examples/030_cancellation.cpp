// Cancellation: a task that asks its stop token, one asleep, and one that has not started yet.
// prints: the search stopped\nget\(\) says: cancelled\nthe nap was interrupted\nnever started: yes\n
#include <atomic>
#include <chrono>
#include <cstdio>
#include <latch>

#include <spool/spool.hpp>

using namespace std::chrono_literals;

int main() {
    std::latch searching{1};
    std::latch stopped{1};
    std::latch napping{1};
    std::latch awake{1};
    std::atomic<bool> ran{false};
    auto pool = spool::fixed_thread_pool(1);

    // [cancellation]
    // A body that takes a std::stop_token gets its task's own.
    spool::future<long> search = pool.submit([&](std::stop_token stop) {
        searching.count_down();
        long tried = 0;
        while (!stop.stop_requested()) {
            ++tried;
        }
        stopped.count_down();
        return tried;
    });
    searching.wait();
    search.cancel();  // releases everybody who waits for the result, and asks the body to stop
    stopped.wait();
    std::printf("the search stopped\n");
    try {
        search.get();
    } catch (const spool::cancelled&) {
        std::printf("get() says: cancelled\n");
    }

    // A body that waits, here or in get(), take(), put() and so on, need not ask: the wait throws.
    auto nap = pool.submit([&] {
        napping.count_down();
        try {
            spool::this_task::sleep_for(1h);
        } catch (const spool::interrupted&) {
            awake.count_down();
        }
    });
    napping.wait();
    auto queued = pool.submit([&] { ran = true; });  // waits behind the nap
    queued.cancel();                                 // so it will never run
    nap.cancel();
    awake.wait();
    std::printf("the nap was interrupted\n");
    // [/cancellation]
    pool.close();
    std::printf("never started: %s\n", ran ? "no" : "yes");
}
