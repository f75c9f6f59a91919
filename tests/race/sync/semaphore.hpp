// A counting semaphore over an event_count, with either of two publication pairs of its protocol.
#pragma once

#include <atomic>
#include <mutex>

#include "spool/sync/event_count.hpp"

namespace test {

/// Pair (S): one seq_cst word.
class atomic_counter {
public:
    void add() { ++count_; }
    [[nodiscard]] bool try_take() {
        int n = count_;
        while (n > 0) {
            if (count_.compare_exchange_weak(n, n - 1)) {
                return true;
            }
        }
        return false;
    }
    [[nodiscard]] int left() const { return count_; }

private:
    std::atomic<int> count_{0};
};

/// Pair (M): a plain number under a mutex.
class guarded_counter {
public:
    void add() {
        const std::lock_guard lock{mutex_};
        ++count_;
    }
    [[nodiscard]] bool try_take() {
        const std::lock_guard lock{mutex_};
        if (count_ == 0) {
            return false;
        }
        --count_;
        return true;
    }
    [[nodiscard]] int left() const {
        const std::lock_guard lock{mutex_};
        return count_;
    }

private:
    mutable std::mutex mutex_;
    int count_ = 0;
};

template <class Parking, class Counter>
class semaphore {
public:
    void release() {
        counter_.add();
        events_.notify_one();  // the pair that the counter implements
    }
    [[nodiscard]] spool::wait_result acquire(const spool::wait_limits& limits) {
        return events_.await([this] { return counter_.try_take(); }, limits);
    }
    [[nodiscard]] int left() const { return counter_.left(); }
    [[nodiscard]] std::uint32_t waiters() const { return events_.waiters(); }

private:
    Counter counter_;
    spool::basic_event_count<Parking> events_;
};

}  // namespace test
