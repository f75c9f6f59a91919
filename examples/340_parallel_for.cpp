// A loop on all threads of a pool: no grain to choose, an exception comes back to the caller.
// prints: y\[999999\] = 2000000\nsum = 1000001000000\nbad element: 123456\n
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <spool/parallel/parallel.hpp>
#include <spool/spool.hpp>

int main() {
    // [loop]
    spool::thread_pool_executor pool = spool::work_stealing_pool();
    std::vector<long> x(1'000'000);
    std::vector<long> y(x.size());

    spool::parallel_for(pool, 0, x.size(), [&](std::size_t i) {
        x[i] = static_cast<long>(i) + 1;
        y[i] = 2 * x[i];
    });
    const long sum = spool::parallel_reduce(pool, y, 0L);
    // [/loop]
    std::printf("y[999999] = %ld\nsum = %ld\n", y.back(), sum);

    try {
        spool::parallel_for(pool, x, [](long value) {
            if (value == 123'456) {
                throw std::runtime_error("bad element: " + std::to_string(value));
            }
        });
    } catch (const std::runtime_error& e) {
        std::puts(e.what());
    }
}
