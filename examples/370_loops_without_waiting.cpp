// Loops that do not wait here: a future per block, or one future for the whole loop.
// prints: 10 blocks, sum 499500\nthe loop has visited 1000 elements\n
#include <atomic>
#include <cstdio>
#include <vector>

#include <spool/parallel/parallel.hpp>
#include <spool/spool.hpp>

int main() {
    spool::thread_pool_executor pool = spool::fixed_thread_pool(2);

    // [blocks]
    std::vector<spool::future<long>> sums = spool::submit_blocks(pool, 0, 1000,
                                                                 [](int begin, int end) {
                                                                     long sum = 0;
                                                                     for (int i = begin; i < end; ++i) {
                                                                         sum += i;
                                                                     }
                                                                     return sum;
                                                                 },
                                                                 {.chunks = 10});
    long total = 0;
    for (spool::future<long>& one : sums) {
        total += one.get();
    }
    // [/blocks]
    std::printf("%zu blocks, sum %ld\n", sums.size(), total);

    std::atomic<int> visited{0};
    spool::future<void> all = spool::submit_loop(pool, 0, 1000, [&](int) { ++visited; });
    all.get();
    std::printf("the loop has visited %d elements\n", visited.load());
}
