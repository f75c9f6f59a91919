// A count-down latch, and a gate that holds tasks back.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "pools/support/figures.hpp"

namespace bench {

/// A count-down latch. Only the last arrive() takes the mutex and notifies; the others just
/// decrement. Reusable through reset() once wait() has returned.
class countdown {
public:
    void reset(std::size_t count) {
        is_zero_ = false;
        left_ = count;
    }
    void arrive() {
        if (left_.fetch_sub(1) == 1) {
            const std::lock_guard lock{mutex_};
            is_zero_ = true;
            zero_.notify_one();  // under the lock, because the waiter may then destroy the latch
        }
    }
    void wait() {
        std::unique_lock lock{mutex_};
        zero_.wait(lock, [this] { return is_zero_; });
    }

private:
    std::atomic<std::size_t> left_{0};
    std::mutex mutex_;
    std::condition_variable zero_;
    bool is_zero_ = false;  // guarded by mutex_
};

/// Tasks block in pass() until open(). await_waiting() lets the opener wait for a number of tasks.
class gate {
public:
    void pass() {
        std::unique_lock lock{mutex_};
        ++waiting_;
        changed_.notify_all();
        changed_.wait(lock, [this] { return open_; });
        first_out_ = std::min(first_out_, clock::now());
    }
    void await_waiting(std::size_t count) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return waiting_ >= count; });
    }
    /// Returns when the first task left pass(); time_point::max() if none has.
    [[nodiscard]] clock::time_point first_out() {
        const std::lock_guard lock{mutex_};
        return first_out_;
    }
    void open() {
        const std::lock_guard lock{mutex_};
        open_ = true;
        changed_.notify_all();
    }

private:
    std::mutex mutex_;  // guards all members below
    std::condition_variable changed_;
    std::size_t waiting_ = 0;
    bool open_ = false;
    clock::time_point first_out_ = clock::time_point::max();
};

}  // namespace bench
