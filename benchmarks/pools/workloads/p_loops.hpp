// P1 to P6: parallel loops and algorithms, two threads in all.
//
// A contender of these workloads has any of
//     in(f)                      runs f() where the contender's own threads run, and waits
//     region(k)                  forks k empty children and joins them
//     for_blocks(n, f)           f(begin, end) over [0, n)
//     reduce(first, n)           the sum of n floats, as a double
//     sort(v), stable_sort(v)
// and is measured in what it has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pools/support/figures.hpp"
#include "pools/support/process.hpp"

namespace bench {

struct loop_time {
    double seconds = 0;  // the median of one call
    double cpu_seconds = 0;
};

/// Calls f() for about `budget` seconds, at least five times, after a few calls to warm up.
template <class F>
loop_time time_calls(F f, double budget) {
    for (int i = 0; i < 3; ++i) {
        f();
    }
    const auto first = clock::now();
    f();
    const double one = std::max(seconds_since(first), 1e-9);
    // A sample of at least 20 us, or the clock would be measured.
    const auto per_sample = static_cast<std::size_t>(std::ceil(std::max(1.0, 20e-6 / one)));
    std::vector<double> samples;
    const usage before = usage_now();
    std::size_t calls = 0;
    const auto start = clock::now();
    while (samples.size() < 5 || seconds_since(start) < budget) {
        const auto begin = clock::now();
        for (std::size_t i = 0; i < per_sample; ++i) {
            f();
        }
        samples.push_back(seconds_since(begin) / static_cast<double>(per_sample));
        calls += per_sample;
    }
    const double cpu = (usage_now() - before).cpu_seconds / static_cast<double>(calls);
    return {percentile(samples, 0.5), cpu};
}

/// An empty child that the compiler must keep.
inline void empty_child() noexcept {
    asm volatile("");
}

/// The budget of a figure: `size` is in milliseconds.
[[nodiscard]] inline double budget_of(std::size_t size) {
    return static_cast<double>(size) / 1e3;
}

inline void add_time(figures& found, const std::string& name, const loop_time& t, double unit) {
    found.emplace_back(name, t.seconds / unit);
    found.emplace_back(name + "_cpu", t.cpu_seconds / unit);
}

template <class Loops>
figures p01_regions(std::size_t size, bool on_worker) {
    Loops loops;
    figures found;
    const auto measure = [&] {
        for (const std::size_t k : {1U, 2U, 4U, 16U}) {
            add_time(found, std::string{"r"}.append(std::to_string(k)),
                     time_calls([&] { loops.region(k); }, budget_of(size)), 1e-9);
        }
    };
    on_worker ? loops.in(measure) : measure();
    return found;
}

template <class Loops>
figures p02_axpy(std::size_t size) {
    Loops loops;
    figures found;
    for (std::size_t power = 3; power <= 7; ++power) {
        const auto n = static_cast<std::size_t>(std::pow(10.0, static_cast<double>(power)));
        std::vector<double> x(n, 1.0);
        std::vector<double> y(n, 2.0);
        const double a = 1e-9;
        const auto axpy = [a, px = x.data(), py = y.data()](std::size_t b, std::size_t e) {
            // Copies: otherwise each store might change `a`, and nothing could be vectorised.
            const double factor = a;
            const double* const in = px;
            double* const out = py;
            for (std::size_t i = b; i < e; ++i) {
                out[i] += factor * in[i];
            }
        };
        const loop_time t = time_calls([&] { loops.for_blocks(n, axpy); }, budget_of(size));
        require_equal(static_cast<std::size_t>(std::count(y.begin(), y.end(), y.front())), n, "axpy");
        add_time(found, std::string{"n"}.append(std::to_string(power)), t, 1e-6);
    }
    return found;
}

/// `rounds` steps that depend on each other.
[[nodiscard]] inline std::uint64_t spin(std::uint64_t x, std::size_t rounds) {
    for (std::size_t i = 0; i < rounds; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
    }
    return x;
}

template <class Loops>
figures p03_uneven(std::size_t size) {
    Loops loops;
    figures found;
    std::vector<std::uint64_t> out(10000);
    const auto run = [&](std::size_t n, auto cost) {
        return time_calls(
            [&] {
                loops.for_blocks(n, [&](std::size_t b, std::size_t e) {
                    for (std::size_t i = b; i < e; ++i) {
                        out[i] = spin(out[i] + i, cost(i));
                    }
                });
            },
            budget_of(size));
    };
    add_time(found, "triangular", run(2000, [](std::size_t i) { return i; }), 1e-6);
    add_time(found, "heavy",
             run(10000, [](std::size_t i) { return std::size_t{i == 3333 ? 1000000U : 100U}; }), 1e-6);
    return found;
}

template <class Loops>
figures p04_reduce(std::size_t size) {
    Loops loops;
    figures found;
    for (const std::size_t n : {std::size_t{20000000}, std::size_t{10000}}) {
        const std::vector<float> v(n, 0.5F);
        double sum = 0;
        const loop_time t = time_calls([&] { sum = loops.reduce(v.data(), n); }, budget_of(size));
        require_equal(static_cast<std::size_t>(sum * 2), n, "sum");
        add_time(found, n == 10000 ? "small" : "large", t, 1e-6);
    }
    return found;
}

/// The median of a few sorts of copies of `input`.
template <class T, class Sort>
loop_time time_sorts(const std::vector<T>& input, Sort sort, double budget) {
    std::vector<double> samples;
    double cpu = 0;
    const auto start = clock::now();
    while (samples.size() < 3 || seconds_since(start) < budget) {
        std::vector<T> v = input;
        const usage before = usage_now();
        const auto begin = clock::now();
        sort(v);
        samples.push_back(seconds_since(begin));
        cpu += (usage_now() - before).cpu_seconds;
        if (!std::is_sorted(v.begin(), v.end())) {
            throw inexact("not sorted");
        }
    }
    const auto runs = static_cast<double>(samples.size());
    return {percentile(samples, 0.5), cpu / runs};
}

template <class Loops>
figures p05_sort(std::size_t size, bool stable) {
    Loops loops;
    figures found;
    std::mt19937 random{1};
    const std::size_t n = size >= 100 ? 10000000 : 100000;
    std::vector<int> ints(n);
    for (int& x : ints) {
        x = static_cast<int>(random());
    }
    std::vector<std::string> strings(n / 10);
    for (std::string& s : strings) {
        s = std::to_string(random()) + std::to_string(random());
    }
    const auto sort = [&](auto& v) { stable ? loops.stable_sort(v) : loops.sort(v); };
    const double budget = 5 * budget_of(size);
    add_time(found, "ints", time_sorts(ints, sort, budget), 1e-3);
    add_time(found, "strings", time_sorts(strings, sort, budget), 1e-3);
    std::sort(ints.begin(), ints.end());
    add_time(found, "sorted", time_sorts(ints, sort, budget), 1e-3);
    std::reverse(ints.begin(), ints.end());
    add_time(found, "reversed", time_sorts(ints, sort, budget), 1e-3);
    std::fill(ints.begin(), ints.end(), 7);
    add_time(found, "equal", time_sorts(ints, sort, budget), 1e-3);
    return found;
}

template <class Loops>
figures p06_nested(std::size_t size) {
    Loops loops;
    figures found;
    std::vector<std::uint64_t> out(100000);
    const auto nested = [&] {
        loops.for_blocks(100, [&](std::size_t b, std::size_t e) {
            for (std::size_t i = b; i < e; ++i) {
                loops.for_blocks(1000, [&, i](std::size_t c, std::size_t d) {
                    for (std::size_t j = c; j < d; ++j) {
                        out[i * 1000 + j] = spin(out[i * 1000 + j], 20);
                    }
                });
            }
        });
    };
    add_time(found, "nested", time_calls(nested, budget_of(size)), 1e-6);
    const auto inside = [&] {
        loops.in([&] {
            loops.for_blocks(10000, [&](std::size_t b, std::size_t e) {
                for (std::size_t i = b; i < e; ++i) {
                    out[i] = spin(out[i], 20);
                }
            });
        });
    };
    add_time(found, "inside", time_calls(inside, budget_of(size)), 1e-6);
    return found;
}

}  // namespace bench
