// Many short rounds in which two or more threads act at the same moment.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace test {

/// The seed of this test: SPOOL_TEST_SEED, or a new one. Tests put it into a SCOPED_TRACE.
inline std::uint32_t race_seed() {
    const char* const text = std::getenv("SPOOL_TEST_SEED");
    return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10))
                           : std::random_device{}();
}
inline std::string seed_text(std::uint32_t seed) {
    return "SPOOL_TEST_SEED=" + std::to_string(seed);
}

/// Random delays from a few instructions to a few microseconds. Each thread needs its own object.
class jitter {
public:
    jitter(std::uint32_t seed, std::uint32_t thread) : engine_(seed * 31 + thread) {}
    /// Short delays are more frequent than long ones, because a few instructions decide a race.
    /// Sometimes yields the CPU, so that threads also interleave if they share one CPU.
    void wait() {
        if (below(8) == 0) {
            std::this_thread::yield();
            return;
        }
        const std::uint32_t limit = 1U << below(9);
        for (std::uint32_t i = below(limit); i != 0; --i) {
            static_cast<void>(engine_());  // not optimized away: it changes the later numbers
        }
    }
    [[nodiscard]] std::uint32_t below(std::uint32_t n) {
        return std::uniform_int_distribution<std::uint32_t>{0, n - 1}(engine_);
    }
    [[nodiscard]] bool coin() { return below(2) == 0; }

private:
    std::minstd_rand engine_;
};

/// Releases threads at the same moment. A barrier alone wakes the threads one after the other, and
/// the first is often done before the last wakes. At the starting line all threads are awake.
class starting_line {
public:
    explicit starting_line(int threads) : threads_(threads) {}
    void meet() {
        ++arrived_;
        for (int spins = 0; arrived_ != threads_; ++spins) {
            if (spins > 1000) {  // fewer CPUs than threads
                std::this_thread::yield();
            }
        }
    }
    /// Resets the line for the next round. Precondition: no thread is at the line.
    void clear() { arrived_ = 0; }

private:
    const int threads_;
    std::atomic<int> arrived_{0};
};

/// A participant of a race, called once per round, at the same time as the other contestants.
using contestant = std::function<void(jitter&)>;

/// Runs rounds of `prepare()`, all contestants at once, `check()`. Each contestant keeps its thread
/// for all rounds. Stops after the first failed check.
template <class Prepare, class Check>
void run_rounds(int count, std::uint32_t seed, Prepare prepare, std::initializer_list<contestant> contestants,
                Check check) {
    std::barrier<> round_edge{static_cast<std::ptrdiff_t>(contestants.size()) + 1};
    starting_line line{static_cast<int>(contestants.size())};
    bool over = false;  // changed between the rounds only
    std::vector<std::jthread> threads;
    for (const contestant& c : contestants) {
        const auto number = static_cast<std::uint32_t>(threads.size());
        threads.emplace_back([&, &c = c, number] {
            jitter delays{seed, number};
            for (;;) {
                round_edge.arrive_and_wait();
                if (over) {
                    return;
                }
                line.meet();
                delays.wait();
                c(delays);
                round_edge.arrive_and_wait();
            }
        });
    }
    for (int round = 0; round < count && !testing::Test::HasFailure(); ++round) {
        prepare();
        line.clear();
        round_edge.arrive_and_wait();
        round_edge.arrive_and_wait();
        check();
    }
    over = true;
    round_edge.arrive_and_wait();
}

}  // namespace test
