// Cancellation of three tasks: one polls its stop token, one sleeps, one is still queued.
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
    // A body that takes a std::stop_token receives the token of its own task.
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
    search.cancel();  // wakes every waiter and requests a stop of the body
    stopped.wait();
    std::printf("the search stopped\n");
    try {
        search.get();
    } catch (const spool::cancelled&) {
        std::printf("get() says: cancelled\n");
    }

    // A body that blocks in sleep_for(), get(), take(), put() and so on need not poll its token:
    // cancellation makes the blocking call throw.
    auto nap = pool.submit([&] {
        napping.count_down();
        try {
            spool::this_task::sleep_for(1h);
        } catch (const spool::interrupted&) {
            awake.count_down();
        }
    });
    napping.wait();
    auto queued = pool.submit([&] { ran = true; });  // queued behind the nap
    queued.cancel();                                 // cancelled in the queue: it never runs
    nap.cancel();
    awake.wait();
    std::printf("the nap was interrupted\n");
    // [/cancellation]
    pool.close();
    std::printf("never started: %s\n", ran ? "no" : "yes");
}
