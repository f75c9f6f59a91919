// asks_for_size: an element that shows whether a queue destroys elements under its lock.
#pragma once

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "spool/queue/blocking_queue.hpp"
#include "spool/queue/delay_queue.hpp"
#include "support/gate.hpp"

namespace test {

/// When destroyed, asks for the queue's size from another thread. If the destroying thread holds
/// the queue's lock, the answer does not come in time. So the test fails instead of deadlocking.
class asks_for_size {
public:
    struct answers {
        explicit answers(const spool::blocking_queue<asks_for_size>& q) : queue(q) {}
        answers(const answers&) = delete;
        answers& operator=(const answers&) = delete;
        ~answers() {
            for (std::thread& thread : threads) {
                thread.join();
            }
        }
        const spool::blocking_queue<asks_for_size>& queue;
        std::vector<std::thread> threads{};
        int given = 0;
        int refused = 0;
    };

    explicit asks_for_size(answers& a, int rank = 0) : answers_(&a), rank_(rank) {}
    asks_for_size(asks_for_size&& other) noexcept
        : answers_(std::exchange(other.answers_, nullptr)), rank_(other.rank_) {}
    asks_for_size& operator=(asks_for_size&& other) noexcept {
        std::swap(answers_, other.answers_);
        std::swap(rank_, other.rank_);
        return *this;
    }
    ~asks_for_size() {
        if (answers_ == nullptr) {
            return;
        }
        auto answered = std::make_shared<gate>();
        answers_->threads.emplace_back([queue = &answers_->queue, answered] {
            static_cast<void>(queue->size());
            answered->open();
        });
        ++(answered->opens() ? answers_->given : answers_->refused);
    }
    [[nodiscard]] spool::due_time due() const { return spool::due_time{} + std::chrono::seconds{rank_}; }
    bool operator<(const asks_for_size& other) const { return rank_ < other.rank_; }

private:
    answers* answers_;
    int rank_;
};

}  // namespace test
