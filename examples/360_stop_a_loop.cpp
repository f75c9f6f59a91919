// A loop that is stopped: by a token, and with the task that calls it. It never returns early.
// prints: stopped by the token: .*stop requested.*\nthe loop of a cancelled task was interrupted\n
#include <atomic>
#include <cstdio>
#include <stop_token>

#include <spool/parallel/parallel.hpp>
#include <spool/spool.hpp>

int main() {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);

    // [token]
    std::stop_source enough;
    std::atomic<int> found{0};
    try {
        spool::parallel_for(pool, 0, 1'000'000'000,
                            [&](int i) {
                                if (i % 7919 == 0 && ++found == 10) {
                                    enough.request_stop();
                                }
                            },
                            {.grain = 1000, .stop = enough.get_token()});
    } catch (const spool::interrupted& e) {
        std::printf("stopped by the token: %s\n", e.what());
    }
    // [/token]

    std::atomic<bool> begun{false};
    std::atomic<bool> interrupted{false};
    auto search = pool.submit([&] {
        try {
            spool::parallel_for(pool, 0, 1'000'000'000, [&](int) { begun = true; });
        } catch (const spool::interrupted&) {
            interrupted = true;
        }
    });
    while (!begun) {}
    search.cancel();
    pool.close();
    std::puts(interrupted ? "the loop of a cancelled task was interrupted" : "the loop ended");
}
