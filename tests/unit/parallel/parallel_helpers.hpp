// Helpers that the tests of the part `parallel` share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spool/parallel/parallel.hpp>
#include <spool/spool.hpp>

#include "support/delays.hpp"
#include "support/gate.hpp"

namespace test {

inline spool::pool_options loop_pool(
    std::size_t n, std::unique_ptr<spool::blocking_queue<spool::task>> queue = spool::unbounded_fifo()) {
    // A submitter waits for room; a loop never does.
    return {.name = "loop",
            .core_size = n,
            .maximum_size = n,
            .queue = std::move(queue),
            .rejection = spool::block_policy{long_delay()}};
}
inline std::unique_ptr<spool::blocking_queue<spool::task>> stealing_queue() {
    return std::make_unique<spool::work_stealing_queue<spool::task>>();
}

/// Takes long enough for a loop of some hundred elements to be forked.
inline void work_a_little() {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds{2};
    while (std::chrono::steady_clock::now() < until) {}
}

/// Holds every worker of a pool until it is destroyed.
class busy_workers {
public:
    explicit busy_workers(spool::thread_pool_executor& pool, std::size_t count) {
        std::vector<std::unique_ptr<gate>> begun;
        for (std::size_t i = 0; i < count; ++i) {
            begun.push_back(std::make_unique<gate>());
            pool.execute([this, &g = *begun.back()] {
                g.open();
                release_.wait();
                ++left_;
            });
        }
        count_ = count;
        for (const auto& g : begun) {
            if (!g->opens()) {
                std::abort();
            }
        }
    }
    busy_workers(const busy_workers&) = delete;
    busy_workers& operator=(const busy_workers&) = delete;
    ~busy_workers() {
        release_.open();
        while (left_ != count_) {
            std::this_thread::yield();
        }
    }

private:
    gate release_;
    std::size_t count_ = 0;
    std::atomic<std::size_t> left_{0};
};

inline std::vector<int> random_ints(std::size_t n, int most = 1000000000) {
    std::mt19937 random{42};
    std::vector<int> v(n);
    for (int& x : v) {
        x = static_cast<int>(random() % static_cast<unsigned>(most));
    }
    return v;
}

}  // namespace test
