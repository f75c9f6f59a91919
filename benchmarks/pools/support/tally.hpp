// Which tasks have run: each thread counts for itself, and the producer adds up while it sleeps.
//
// A task bumps two numbers that only its thread writes, 128 bytes away from everybody else's: no read-modify-write, no line
// shared with another worker. The first counts tasks, the second sums their numbers, so that one task lost and another run
// twice is noticed too.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>

#include "pools/support/figures.hpp"

namespace bench {

struct tally_sum {
    std::uint64_t tasks = 0;
    std::uint64_t numbers = 0;
};

/// What one thread has done; written by it alone.
struct alignas(128) tally_slot {
    std::atomic<std::uint64_t> tasks{0};
    std::atomic<std::uint64_t> numbers{0};
};

class tally {
public:
    static void add(std::uint64_t number) {
        tally_slot& mine = my_slot();
        // relaxed, owner: only this thread writes its slot.
        mine.numbers.store(mine.numbers.load(std::memory_order_relaxed) + number, std::memory_order_relaxed);
        // release: now() that sees this count also sees the sum, and what the task did before.
        mine.tasks.store(mine.tasks.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    [[nodiscard]] static tally_sum now() {
        tally_sum sum;
        const std::size_t used = std::min(used_.load(), slots_.size());
        for (std::size_t i = 0; i < used; ++i) {
            sum.tasks += slots_[i].tasks.load(std::memory_order_acquire);  // pairs with add()
            // relaxed: exact once the tasks are all counted.
            sum.numbers += slots_[i].numbers.load(std::memory_order_relaxed);
        }
        return sum;
    }

private:
    static tally_slot& my_slot() {
        static thread_local tally_slot* mine = nullptr;
        if (mine == nullptr) {
            const std::size_t index = used_.fetch_add(1);
            if (index >= slots_.size()) {
                throw std::length_error("tally: more threads than slots");
            }
            mine = &slots_[index];
        }
        return *mine;
    }

    static inline std::array<tally_slot, 1024> slots_{};
    static inline std::atomic<std::size_t> used_{0};
};

/// An empty task: eight bytes captured.
struct bump {
    std::size_t number;
    void operator()() const { tally::add(number); }
};

/// `count` tasks numbered from `first` on, from now until all of them have run.
class expected_tasks {
public:
    explicit expected_tasks(std::size_t count, std::size_t first = 0) : count_(count), first_(first) {}

    [[nodiscard]] double seconds() const { return seconds_since(start_); }

    /// Sleeps for most of the time that is probably left, between 20 us and 5 ms: a frequent sleeper beside the workers would slow
    /// all of them down. Never for longer than it has waited so far, so that a short run is not slept through.
    void wait() const {
        const auto first_look = clock::now();
        const std::size_t ran_before = ran();
        for (std::size_t done = ran_before; done < count_; done = ran()) {
            const double waited = seconds_since(first_look);
            const auto news = static_cast<double>(std::max<std::size_t>(done - ran_before, 1));
            const double left = static_cast<double>(count_ - done) * waited / news;
            const double longest = std::clamp(waited, 20e-6, 5e-3);
            std::this_thread::sleep_for(
                std::chrono::duration<double>(std::clamp(0.7 * left, 20e-6, longest)));
        }
    }

    /// After the pool is gone, so that a task run twice cannot come late. \throws inexact
    void check() const {
        require_equal(ran(), count_, "tasks that ran");
        require_equal(tally::now().numbers - before_.numbers, count_ * first_ + count_ * (count_ - 1) / 2,
                      "sum of the tasks' numbers");
    }

private:
    [[nodiscard]] std::size_t ran() const { return tally::now().tasks - before_.tasks; }

    std::size_t count_;
    std::size_t first_;
    tally_sum before_ = tally::now();
    clock::time_point start_ = clock::now();
};

}  // namespace bench
