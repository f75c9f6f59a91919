// Nested waits: tasks wait for their sub-tasks in a pool of one worker, without a deadlock.
// prints: sum 499999500000 with 1 worker\(s\)\n
#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

#include <spool/spool.hpp>

// [nested]
long long sum(spool::thread_pool_executor& pool, std::span<const long long> numbers) {
    if (numbers.size() <= 10'000) {
        return std::accumulate(numbers.begin(), numbers.end(), 0LL);
    }
    const std::size_t half = numbers.size() / 2;
    auto left = pool.submit([&pool, numbers, half] { return sum(pool, numbers.first(half)); });
    const long long right = sum(pool, numbers.subspan(half));
    // On a worker of the pool, get() runs the task itself unless another worker has started it.
    return left.get() + right;
}
// [/nested]

int main() {
    std::vector<long long> numbers(1'000'000);
    std::iota(numbers.begin(), numbers.end(), 0LL);

    auto pool = spool::fixed_thread_pool(1);
    auto total = pool.submit([&] { return sum(pool, numbers); });
    std::printf("sum %lld with %zu worker(s)\n", total.get(), pool.largest_pool_size());
}
