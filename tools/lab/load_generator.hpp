// Submits the tasks of a plan to a pool, each at its arrival time, regardless of the progress of
// earlier tasks (open loop). The generator sleeps until a task is due, then submits every task that
// is due. Its own lateness is part of the record.
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

    /// Submits every task; returns when all are submitted, or at a stop request. The caller must
    /// run it on a dedicated thread.
    void run(const std::stop_token& stop);

    /// Returns how many tasks of the plan have been due so far.
    [[nodiscard]] std::size_t arrived() const noexcept { return arrived_; }
    /// Whether every task was submitted, retries included.
    [[nodiscard]] bool finished() const noexcept { return finished_; }
    /// How late each submission was. Precondition: run() has returned.
    [[nodiscard]] std::vector<nanoseconds>& lateness() noexcept { return lateness_; }

private:
    using due_task = std::pair<nanoseconds, std::uint32_t>;

    [[nodiscard]] bool wait_for(nanoseconds due, const std::stop_token& stop) const;
    void submit(std::uint32_t i, nanoseconds due);

    thread_pool_executor& pool_;
    recorder& to_;
    std::priority_queue<due_task, std::vector<due_task>, std::greater<>> retries_;
    std::vector<nanoseconds> lateness_;
    nanoseconds free_since_{0};  // when it last finished a task that it had to run itself
    std::atomic<std::size_t> arrived_{0};
    std::atomic<bool> finished_{false};
};

}  // namespace spool::lab
