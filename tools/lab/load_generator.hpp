// Gives a pool the tasks of a plan, each at its time, whatever has become of those before (open loop). It sleeps until close to the time
// that a task is due, then posts every task that is; how late it was itself is part of the record.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <queue>
#include <spool/pool/thread_pool_executor.hpp>
#include <stop_token>
#include <utility>
#include <vector>

#include "recorder.hpp"

namespace spool::lab {

class load_generator {
public:
    load_generator(thread_pool_executor& pool, recorder& to) : pool_(pool), to_(to) {}

    /// Returns when every task has been given to the pool, or at a stop request. On a thread of its own.
    void run(const std::stop_token& stop);

    /// How many tasks have been due so far.
    [[nodiscard]] std::size_t arrived() const noexcept { return arrived_; }
    /// Everything was given to the pool.
    [[nodiscard]] bool finished() const noexcept { return finished_; }
    /// Only after run().
    [[nodiscard]] std::vector<nanoseconds>& lateness() noexcept { return lateness_; }

private:
    using due_task = std::pair<nanoseconds, std::uint32_t>;

    [[nodiscard]] bool wait_for(nanoseconds due, const std::stop_token& stop) const;
    void submit(std::uint32_t i, nanoseconds due);

    thread_pool_executor& pool_;
    recorder& to_;
    std::priority_queue<due_task, std::vector<due_task>, std::greater<>> retries_;
    std::vector<nanoseconds> lateness_;
    nanoseconds free_since_{0};  // when a task that it had to run itself was done
    std::atomic<std::size_t> arrived_{0};
    std::atomic<bool> finished_{false};
};

}  // namespace spool::lab
