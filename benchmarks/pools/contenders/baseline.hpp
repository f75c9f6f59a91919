// The obvious pool: a deque under a mutex, and workers that dequeue one task per lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "pools/support/contender.hpp"

namespace bench {

class baseline_pool {
public:
    static constexpr traits about{.name = "baseline", .label = "mutex + condition variable + deque"};

    explicit baseline_pool(pool_shape shape) {
        for (std::size_t i = 0; i < shape.workers; ++i) {
            workers_.emplace_back([this] { run(); });
        }
    }
    baseline_pool(const baseline_pool&) = delete;
    baseline_pool& operator=(const baseline_pool&) = delete;
    ~baseline_pool() {
        {
            const std::lock_guard lock{mutex_};
            ends_ = true;
        }
        changed_.notify_all();
        for (std::thread& worker : workers_) {
            worker.join();
        }
    }

    template <class F>
    void post(F&& f) {
        {
            const std::lock_guard lock{mutex_};
            tasks_.emplace_back(std::forward<F>(f));
        }
        changed_.notify_one();
    }

private:
    void run() {
        for (;;) {
            std::unique_lock lock{mutex_};
            changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
            if (tasks_.empty()) {
                return;
            }
            const std::function<void()> work = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            work();
        }
    }

    std::mutex mutex_;  // guards tasks_ and ends_
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    bool ends_ = false;
    std::vector<std::thread> workers_;
};

/// No pool at all: a detached thread for each task.
class thread_per_task {
public:
    static constexpr traits about{
        .name = "thread-per-task", .label = "std::thread per task, detached", .queues = false};

    explicit thread_per_task(pool_shape) {}

    template <class F>
    void post(F&& f) {
        std::thread{std::forward<F>(f)}.detach();
    }
};

}  // namespace bench
