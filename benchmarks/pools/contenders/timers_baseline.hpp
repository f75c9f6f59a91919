// The obvious timers: a std::map under a mutex, and one thread that waits for its first entry.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "pools/support/figures.hpp"

namespace bench {

class baseline_timers {
public:
    // The number distinguishes equal times.
    using handle = std::pair<clock::time_point, std::uint64_t>;
    static constexpr bool handle_is_timer = false;

    baseline_timers() : thread_([this] { run(); }) {}
    baseline_timers(const baseline_timers&) = delete;
    baseline_timers& operator=(const baseline_timers&) = delete;
    ~baseline_timers() {
        {
            const std::lock_guard lock{mutex_};
            ends_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    template <class F>
    void start(handle& h, nanoseconds delay, F f) {
        bool is_first = false;
        {
            const std::lock_guard lock{mutex_};
            h = {clock::now() + delay, ++number_};
            const auto place = timers_.emplace(h, f).first;
            // A separate statement, so that begin() is called after the insertion.
            is_first = place == timers_.begin();
        }
        if (is_first) {
            changed_.notify_one();
        }
    }
    bool cancel(handle& h) {
        const std::lock_guard lock{mutex_};
        return timers_.erase(h) != 0;
    }
    void settle() {}
    template <class Done>
    void run_until(Done done) {
        while (!done()) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
    }

private:
    void run() {
        std::unique_lock lock{mutex_};
        while (!ends_) {
            if (timers_.empty()) {
                changed_.wait(lock);
                continue;
            }
            const auto first = timers_.begin();
            if (const auto due = first->first.first; due > clock::now()) {
                changed_.wait_until(lock, due);
                continue;
            }
            const std::function<void()> work = std::move(first->second);
            timers_.erase(first);
            lock.unlock();
            work();
            lock.lock();
        }
    }

    std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::map<handle, std::function<void()>> timers_;
    std::uint64_t number_ = 0;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace bench
