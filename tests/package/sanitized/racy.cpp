// A race that ThreadSanitizer must still report: the library's annotations must not hide a user's
// races.
#include <atomic>
#include <cstdio>

#include <spool/spool.hpp>

int main() {
    spool::thread_pool_executor pool = spool::fixed_thread_pool(2);
    int sum = 0;
    std::atomic<int> arrived{0};
    const auto add = [&] {
        ++arrived;
        while (arrived < 2) {}
        ++sum;  // the race: both tasks write at once
    };
    const auto first = pool.submit(add);
    const auto second = pool.submit(add);
    first.get();
    second.get();
    std::printf("%d\n", sum);
}
