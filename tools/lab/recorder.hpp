// Records the outcome of every task of a real run. Each task has its own entry, which only the
// thread that holds the task writes. The only shared structure is a log of the tasks that are done,
// for the observer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "run_record.hpp"

namespace spool::lab {

using steady = std::chrono::steady_clock;

class recorder {
public:
    recorder(const scenario& what, std::shared_ptr<const std::vector<planned_task>> plan,
             steady::time_point start);

    [[nodiscard]] nanoseconds now() const { return steady::now() - start_; }
    [[nodiscard]] steady::time_point at(nanoseconds t) const { return start_ + t; }

    // ---- Called by the submitter
    /// Call it before execute().
    void submitted(std::uint32_t i) { record_.outcomes[i].submitted = now(); }
    /// Side effects of the last execute(): tasks that the pool rejected or evicted, and whether a
    /// task ran on the submitting thread.
    struct answer {
        std::vector<std::uint32_t> refused{};
        bool ran_here = false;
    };
    [[nodiscard]] answer& last_answer() noexcept { return answer_; }
    /// The task will be retried.
    void forgive(std::uint32_t i) { record_.outcomes[i].how = fate::waiting; }
    /// The task will not be retried.
    void give_up(std::uint32_t i) { append(i); }

    // ---- Called by the task
    void run(std::uint32_t i);
    /// The task was destroyed without having run. On the submitting thread: the pool rejected or
    /// evicted it. On another thread: the run ended.
    void dropped(std::uint32_t i) noexcept;

    // ---- Called by the observer
    /// Calls `f` once for each task that has run or was given up, roughly in order of their ends.
    template <class F>
    void visit_done(F f) {
        for (; seen_ < log_.size(); ++seen_) {
            // acquire: pairs with append(), which publishes the outcome.
            const std::uint32_t entry = log_[seen_].load(std::memory_order_acquire);
            if (entry == 0) {
                return;
            }
            f((*record_.plan)[entry - 1], record_.outcomes[entry - 1]);
        }
    }
    [[nodiscard]] std::size_t done() const noexcept { return seen_; }

    /// All of it may be read once no task runs. During the run each thread uses only its own part:
    /// the observer the samples, the submitter the refusal times and outcomes of rejected tasks.
    [[nodiscard]] run_record& record() noexcept { return record_; }

private:
    void append(std::uint32_t i) noexcept;

    run_record record_;
    const steady::time_point start_;
    answer answer_;                                // only the submitting thread uses it
    std::vector<std::atomic<std::uint32_t>> log_;  // index + 1 of a finished task; 0: none yet
    std::atomic<std::size_t> next_{0};
    std::size_t seen_ = 0;
};

/// The body of a planned task. Its destructor tells the recorder if the task has not run.
class planned_work {
public:
    planned_work(recorder& to, std::uint32_t index) noexcept : to_(&to), index_(index) {}
    planned_work(planned_work&& other) noexcept
        : to_(std::exchange(other.to_, nullptr)), index_(other.index_) {}
    planned_work& operator=(planned_work&&) = delete;
    ~planned_work() {
        if (to_ != nullptr) {
            to_->dropped(index_);
        }
    }
    void operator()() { std::exchange(to_, nullptr)->run(index_); }

private:
    recorder* to_;
    std::uint32_t index_;
};

}  // namespace spool::lab
