// Writes down what becomes of every task of a real run. Each task has its own place, written by whoever has the task; nothing is
// shared on the way but a log of those that are done, for who looks on.
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

    // ---- By the submitter
    /// Before it gives the task away.
    void submitted(std::uint32_t i) { record_.outcomes[i].submitted = now(); }
    /// What its last execute() led to, besides a task taken: tasks that were refused or pushed out, and whether one ran right here.
    struct answer {
        std::vector<std::uint32_t> refused{};
        bool ran_here = false;
    };
    [[nodiscard]] answer& last_answer() noexcept { return answer_; }
    /// It will come again.
    void forgive(std::uint32_t i) { record_.outcomes[i].how = fate::waiting; }
    /// It will not.
    void give_up(std::uint32_t i) { append(i); }

    // ---- By the task
    void run(std::uint32_t i);
    /// It was destroyed before it ran: by the submitter's thread if it was refused or pushed out, else because the run ended.
    void dropped(std::uint32_t i) noexcept;

    // ---- By who looks on
    /// Tasks that are done with, one way or the other, in about the order of their ends; each is told once.
    template <class F>
    void visit_done(F f) {
        for (; seen_ < log_.size(); ++seen_) {
            const std::uint32_t entry =
                log_[seen_].load(std::memory_order_acquire);  // hands over the outcome
            if (entry == 0) {
                return;
            }
            f((*record_.plan)[entry - 1], record_.outcomes[entry - 1]);
        }
    }
    [[nodiscard]] std::size_t done() const noexcept { return seen_; }

    /// Only when nothing runs any more.
    [[nodiscard]] run_record& record() noexcept { return record_; }

private:
    void append(std::uint32_t i) noexcept;

    run_record record_;
    const steady::time_point start_;
    answer answer_;                                // the submitting thread's alone
    std::vector<std::atomic<std::uint32_t>> log_;  // index + 1 of a task that is done; 0: not written yet
    std::atomic<std::size_t> next_{0};
    std::size_t seen_ = 0;
};

/// The body of a planned task. Destroyed without having run, it tells the recorder.
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
