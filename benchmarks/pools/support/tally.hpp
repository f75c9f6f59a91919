// Counts the tasks that have run: each thread counts in its own slot, and the producer polls the
// sum between sleeps.
//
// A task adds to two numbers that only its thread writes. Slots are 128 bytes apart, so there is no
// read-modify-write and no cache line shared with another worker. The first number counts tasks.
// The second sums the tasks' numbers, which reveals one task lost and another run twice.
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

/// The counts of one thread; only that thread writes them.
struct alignas(128) tally_slot {
    std::atomic<std::uint64_t> tasks{0};
    std::atomic<std::uint64_t> numbers{0};
};

class tally {
public:
    static void add(std::uint64_t number) {
        tally_slot& mine = my_slot();
        // relaxed: only this thread writes its slot.
        mine.numbers.store(mine.numbers.load(std::memory_order_relaxed) + number, std::memory_order_relaxed);
        // release: a now() that reads this count also sees the sum and the task's earlier writes.
        mine.tasks.store(mine.tasks.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    }

    [[nodiscard]] static tally_sum now() {
        tally_sum sum;
        const std::size_t used = std::min(used_.load(), slots_.size());
        for (std::size_t i = 0; i < used; ++i) {
            sum.tasks += slots_[i].tasks.load(std::memory_order_acquire);  // pairs with add()
            // relaxed: the sum is exact once every task is counted.
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

/// Waits for and checks `count` tasks, numbered from `first` on. Construct it before the first of
/// them is posted: it measures time and tallies from its construction.
class expected_tasks {
public:
    explicit expected_tasks(std::size_t count, std::size_t first = 0) : count_(count), first_(first) {}

    [[nodiscard]] double seconds() const { return seconds_since(start_); }

    /// Returns when all tasks have run. Sleeps for 70 % of the estimated rest, between 20 us and
    /// 5 ms: frequent wake-ups would slow the workers down. A sleep is not longer than the time
    /// waited so far (but at least 20 us), so the caller does not oversleep a short run.
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

    /// Call it after the pool is destroyed, so that no duplicate run can come later.
    /// \throws inexact unless each task ran exactly once
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
