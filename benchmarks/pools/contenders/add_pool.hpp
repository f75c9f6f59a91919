// Registers every workload that a pool can take part in.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "pools/support/contender.hpp"
#include "pools/support/registry.hpp"
#include "pools/workloads/w01_one_producer.hpp"
#include "pools/workloads/w02_four_producers.hpp"
#include "pools/workloads/w03_tree.hpp"
#include "pools/workloads/w04_round_trip.hpp"
#include "pools/workloads/w06_fan_out.hpp"
#include "pools/workloads/w07_uneven.hpp"
#include "pools/workloads/w08_burst.hpp"
#include "pools/workloads/w09_memory.hpp"
#include "pools/workloads/w10_idle.hpp"
#include "pools/workloads/w12_open_loop.hpp"
#include "pools/workloads/w14_futures.hpp"

namespace bench {

/// Whether the outside producer runs far ahead of the workers. If it does, a bounded pool is full
/// most of the time.
enum class producer_gets_ahead { no, yes };

template <class Pool, class Run>
void add(std::string workload, std::size_t usual_size, producer_gets_ahead ahead, Run run) {
    constexpr traits about = Pool::about;
    const bool hands_over = about.gives == hand_over::always ||
                            (about.gives == hand_over::unless_full && ahead == producer_gets_ahead::no);
    measurements().push_back({std::move(workload), std::string{about.name}, std::string{about.label},
                              hands_over, usual_size, std::move(run)});
}

template <class Pool>
void add_latencies() {
    using enum producer_gets_ahead;
    add<Pool>("W4", 100'000, no, [](std::size_t n) { return w04_round_trip<Pool>(n, nanoseconds{0}); });
    add<Pool>("W4b", 500, no,
              [](std::size_t n) { return w04_round_trip<Pool>(n, std::chrono::milliseconds{1}); });
}

template <class Pool>
void add_burst() {
    add<Pool>("W8", 200, producer_gets_ahead::no, [](std::size_t n) { return w08_burst<Pool>(n); });
}

template <class Pool>
void add_idle() {
    add<Pool>("W10", 3'000, producer_gets_ahead::no, [](std::size_t n) { return w10_idle<Pool>(n); });
}

template <class Pool>
void add_open_loops() {
    using enum producer_gets_ahead;
    add<Pool>("W12", 100'000, no, [](std::size_t n) { return w12_open_loop<Pool>(n, producer::spins); });
    add<Pool>("W12s", 40'000, no, [](std::size_t n) { return w12_open_loop<Pool>(n, producer::sleeps); });
}

template <class Pool>
void add_futures() {
    using enum producer_gets_ahead;
    add<Pool>("W14", 1'000'000, yes, [](std::size_t n) { return w14_futures<Pool>(n, futures_are::kept); });
    add<Pool>("W14d", 1'000'000, yes,
              [](std::size_t n) { return w14_futures<Pool>(n, futures_are::dropped); });
}

template <class Pool>
void add_floods() {
    using enum producer_gets_ahead;
    add<Pool>("W1", 2'000'000, yes, [](std::size_t n) { return w01_one_producer<Pool>(n, 2); });
    add<Pool>("W1x1", 2'000'000, yes, [](std::size_t n) { return w01_one_producer<Pool>(n, 1); });
    if constexpr (!caller_works<Pool>) {
        add<Pool>("W2", 2'000'000, yes, [](std::size_t n) { return w02_four_producers<Pool>(n); });
    }
    if constexpr (!Pool::about.waits_when_full) {
        add<Pool>("W3", 19, no, [](std::size_t depth) { return w03_tree<Pool>(depth); });
    }
    add<Pool>("W6", 1'000, no, [](std::size_t rounds) { return w06_fan_out<Pool>(rounds); });
    add<Pool>("W7", 100'000, yes, [](std::size_t n) { return w07_uneven<Pool>(n); });
    if constexpr (queues_without_limit<Pool>) {
        add<Pool>("W9", 2'000'000, yes, [](std::size_t n) { return w09_memory<Pool>(n); });
    }
    if constexpr (!caller_works<Pool>) {
        add_open_loops<Pool>();
        add_futures<Pool>();
    }
}

template <class Pool>
void add_pool() {
    add_latencies<Pool>();
    add_idle<Pool>();
    if constexpr (Pool::about.queues) {
        add_floods<Pool>();
    }
    if constexpr (Pool::about.takes_sleepers && !caller_works<Pool>) {
        add_burst<Pool>();
    }
}

}  // namespace bench
