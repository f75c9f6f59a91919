// W13: limits that no pool can beat: the cost of calls, allocations, locks, clocks, threads and
// cache lines on this machine.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "pools/support/cpu_work.hpp"
#include "pools/support/figures.hpp"
#include "pools/workloads/w05_fork_join.hpp"

namespace bench {

/// Returns ns per call of `f`.
template <class F>
double ns_each(std::size_t times, F f) {
    const auto start = clock::now();
    for (std::size_t i = 0; i < times; ++i) {
        f(i);
    }
    return seconds_since(start) * 1e9 / static_cast<double>(times);
}

template <class T>
void keep(T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

/// Pins the calling thread to one CPU; no effect where the system refuses.
inline void pin(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu % std::thread::hardware_concurrency(), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/// Returns us per round trip of two threads that wake each other through a condition variable.
inline double ping_pong_us(std::size_t trips) {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t turn = 0;  // even: this thread's turn; odd: the other thread's
    const auto play = [&](std::size_t mine) {
        for (std::size_t i = 0; i < trips; ++i) {
            std::unique_lock lock{mutex};
            changed.wait(lock, [&] { return turn % 2 == mine; });
            ++turn;
            changed.notify_one();
        }
    };
    std::thread other{play, 1};
    const auto start = clock::now();
    play(0);
    other.join();
    return seconds_since(start) * 1e6 / static_cast<double>(trips);
}

/// Returns ns per round trip of two pinned threads that spin on one word.
inline double spinning_ping_pong_ns(std::size_t trips) {
    std::atomic<std::size_t> turn{0};
    const auto play = [&](std::size_t mine) {
        pin(static_cast<unsigned>(mine));
        for (std::size_t i = 0; i < trips; ++i) {
            while (turn % 2 != mine) {}
            ++turn;
        }
    };
    const auto start = clock::now();
    std::thread other{play, 1};
    std::thread one{play, 0};
    one.join();
    other.join();
    return seconds_since(start) * 1e9 / static_cast<double>(trips);
}

enum class pinned { no, yes };

/// Returns the rate, in millions of elements per second, of a ring of 1024 slots of 64 bytes
/// between two threads.
inline double ring_rate(std::size_t elements, pinned where) {
    struct alignas(64) place {
        std::atomic<std::uint64_t> full{0};
    };
    static std::array<place, 1024> ring;
    const auto start = clock::now();
    std::thread producer{[&] {
        if (where == pinned::yes) {
            pin(0);
        }
        for (std::size_t i = 1; i <= elements; ++i) {
            place& here = ring[i % ring.size()];
            // acquire: pairs with the consumer's release, which frees the slot.
            while (here.full.load(std::memory_order_acquire) != 0) {}
            here.full.store(i, std::memory_order_release);  // publishes the element
        }
    }};
    std::uint64_t sum = 0;
    std::thread consumer{[&] {
        if (where == pinned::yes) {
            pin(1);
        }
        for (std::size_t i = 1; i <= elements; ++i) {
            place& here = ring[i % ring.size()];
            std::uint64_t element = 0;
            // acquire: pairs with the producer's release.
            while ((element = here.full.load(std::memory_order_acquire)) == 0) {}
            sum += element;
            here.full.store(0, std::memory_order_release);  // frees the slot
        }
    }};
    producer.join();
    consumer.join();
    require_equal(sum, elements * (elements + 1) / 2, "sum through the ring");
    return static_cast<double>(elements) / seconds_since(start) / 1e6;
}

inline figures w13_ceilings(std::size_t times) {
    std::size_t count = 0;
    std::mutex mutex;
    std::atomic<std::size_t> number{0};
    figures all;
    // Measured first, while the process has one thread: glibc then skips the atomic instructions.
    all.emplace_back("lonely_mutex_ns", ns_each(times, [&](std::size_t) {
                         const std::lock_guard lock{mutex};
                         keep(count);
                     }));
    const std::function<void()> ready = [counter = &count] { ++*counter; };
    all.emplace_back("call_ns", ns_each(times, [&](std::size_t) { ready(); }));
    all.emplace_back("make_and_call_ns", ns_each(times, [&](std::size_t) {
                         std::function<void()> f = [counter = &count] { ++*counter; };
                         keep(f);
                         f();
                     }));
    all.emplace_back("make_and_call_24_bytes_ns", ns_each(times, [&](std::size_t i) {
                         std::function<void()> f = [counter = &count, i, j = i] { *counter += i - j + 1; };
                         keep(f);
                         f();
                     }));
    all.emplace_back("fetch_add_ns", ns_each(times, [&](std::size_t) { ++number; }));
    all.emplace_back("clock_ns", ns_each(times, [&](std::size_t) {
                         auto now = clock::now();
                         keep(now);
                     }));
    all.emplace_back("iteration_ns", ns_per_iteration());
    std::uint64_t fib = 0;
    all.emplace_back("serial_fib30_ms", ns_each(1, [&](std::size_t) {
                                            fib = serial_fib(30);
                                            keep(fib);
                                        }) / 1e6);
    all.emplace_back("thread_us",
                     ns_each(times / 10'000 + 1, [](std::size_t) { std::thread{[] {}}.join(); }) / 1e3);
    all.emplace_back("ping_pong_us", ping_pong_us(times / 1'000 + 1));
    all.emplace_back("spinning_ping_pong_ns", spinning_ping_pong_ns(times / 10 + 1));
    all.emplace_back("ring_M_s", ring_rate(times, pinned::no));
    all.emplace_back("pinned_ring_M_s", ring_rate(times, pinned::yes));
    return all;
}

}  // namespace bench
