// W5: fib without a cut-off: spawn fib(n-1), call fib(n-2) in place, join, add. Two threads.
//
// A contender of this workload has
//     explicit ForkJoin(std::size_t threads)
//     in(f)            runs f() in a context that may fork, and waits for it
//     group{fj}        run(f), wait()
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pools/support/figures.hpp"
#include "pools/support/process.hpp"

namespace bench {

[[nodiscard]] inline std::uint64_t serial_fib(std::size_t n) {
    return n < 2 ? n : serial_fib(n - 1) + serial_fib(n - 2);
}

template <class ForkJoin>
std::uint64_t forked_fib(ForkJoin& where, std::size_t n) {
    if (n < 2) {
        return n;
    }
    std::uint64_t left = 0;
    typename ForkJoin::group both{where};
    both.run([&left, &where, n] { left = forked_fib(where, n - 1); });
    const std::uint64_t right = forked_fib(where, n - 2);
    both.wait();
    return left + right;
}

struct fib_run {
    double seconds = 0;
    double cpu_seconds = 0;
    double spawns = 0;
};

template <class ForkJoin>
fib_run timed_fib(ForkJoin& where, std::size_t n) {
    fib_run result;
    std::uint64_t value = 0;
    const usage before = usage_now();
    const auto start = clock::now();
    where.in([&] { value = forked_fib(where, n); });
    result.seconds = seconds_since(start);
    result.cpu_seconds = (usage_now() - before).cpu_seconds;
    require_equal(value, serial_fib(n), "fib");
    result.spawns = static_cast<double>(serial_fib(n + 1) - 1);
    return result;
}

/// Measures fib(size) and fib(size - 3), after a warm-up.
template <class ForkJoin>
figures w05_fork_join(std::size_t size) {
    ForkJoin where{2};
    timed_fib(where, size - 3);
    const fib_run small = timed_fib(where, size - 3);
    const fib_run large = timed_fib(where, size);
    return {{"fib_ms", large.seconds * 1e3},
            {"Mspawns_s", large.spawns / large.seconds / 1e6},
            {"cpu_ms", large.cpu_seconds * 1e3},
            {"small_fib_ms", small.seconds * 1e3},
            {"small_Mspawns_s", small.spawns / small.seconds / 1e6}};
}

}  // namespace bench
