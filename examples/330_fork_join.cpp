// Fork and join: free workers run the children of a task group, and no child outlives the group.
// prints: sorted 200000 numbers: yes\na child failed: disk full\n
#include <algorithm>
#include <cstdio>
#include <random>
#include <span>
#include <stdexcept>
#include <vector>

#include <spool/spool.hpp>

// [sort]
void sort(spool::thread_pool_executor& pool, std::span<int> numbers) {
    if (numbers.size() <= 4096) {
        std::sort(numbers.begin(), numbers.end());
        return;
    }
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    spool::task_group halves{pool};
    halves.run([&] { sort(pool, {numbers.begin(), middle}); });
    sort(pool, {middle, numbers.end()});
    halves.wait();  // runs the other half here unless a worker has started it; rethrows
    std::inplace_merge(numbers.begin(), middle, numbers.end());
}
// [/sort]

int main() {
    auto pool = spool::work_stealing_pool();
    std::vector<int> numbers(200'000);
    std::generate(numbers.begin(), numbers.end(), std::mt19937{7});
    pool.submit([&] { sort(pool, numbers); }).get();
    std::printf("sorted %zu numbers: %s\n", numbers.size(),
                std::is_sorted(numbers.begin(), numbers.end()) ? "yes" : "no");

    spool::task_group group{pool};
    group.run([] { throw std::runtime_error("disk full"); });
    try {
        group.wait();
    } catch (const std::runtime_error& error) {
        std::printf("a child failed: %s\n", error.what());
    }
}
