// The workload: producers push and consumers pop until every element has passed through the queue.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spool/base/task.hpp"

namespace bench {

/// 56 plain bytes.
struct plain_element {
    std::array<std::uint64_t, 7> words{};
};

template <class T>
T make_element(std::uint64_t number);
template <>
inline plain_element make_element<plain_element>(std::uint64_t number) {
    return {{number}};
}
/// A task with a capture of 24 bytes.
template <>
inline spool::task make_element<spool::task>(std::uint64_t number) {
    return [number, a = number, b = number] { static_cast<void>(number + a + b); };
}

struct shape {
    std::size_t producers;
    std::size_t consumers;
    std::size_t elements;  // a multiple of the producers
};

/// Returns millions of elements per second. A thread that finds the queue full or empty yields.
/// Never returns if an element is lost. \throws std::runtime_error if more came out than went in
template <class Queue, class T>
double exchange(const shape& s) {
    Queue queue;
    std::atomic<std::size_t> through{0};
    std::latch ready{static_cast<std::ptrdiff_t>(s.producers + s.consumers + 1)};
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < s.producers; ++i) {
        threads.emplace_back([&] {
            ready.arrive_and_wait();
            for (std::size_t n = 0; n < s.elements / s.producers; ++n) {
                T x = make_element<T>(n);
                while (!queue.push(std::move(x))) {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::size_t i = 0; i < s.consumers; ++i) {
        threads.emplace_back([&] {
            ready.arrive_and_wait();
            T x = make_element<T>(0);
            for (std::size_t mine = 0;;) {
                if (queue.pop(x)) {
                    ++mine;
                    continue;
                }
                through.fetch_add(std::exchange(mine, 0));
                if (through >= s.elements) {
                    return;
                }
                std::this_thread::yield();
            }
        });
    }
    ready.arrive_and_wait();
    const auto start = std::chrono::steady_clock::now();
    threads.clear();  // joins
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (through != s.elements) {
        throw std::runtime_error(std::to_string(through) + " of " + std::to_string(s.elements) +
                                 " came through");
    }
    return static_cast<double>(s.elements) / took.count() / 1e6;
}

}  // namespace bench
