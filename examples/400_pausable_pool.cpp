// Hooks: a pool that can pause between tasks, and that shutdown_now() still ends at once.
// prints: paused: 0 ran\nresumed: 1 ran\nstopped while paused: 1 handed back\nended: yes, 1 ran\n
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>

#include <spool/spool.hpp>

// [pausable]
class pausable : public spool::pool_hooks {
public:
    void pause(bool on) {
        const std::lock_guard lock{mutex_};
        paused_ = on;
        changed_.notify_all();
    }
    void await_arrival(int n) {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return arrived_ >= n; });
    }
    // Runs on the worker and waits with the task's stop token, so shutdown_now() ends the pause.
    void before_execute(const spool::task_info&) override {
        std::unique_lock lock{mutex_};
        ++arrived_;
        changed_.notify_all();
        changed_.wait(lock, spool::this_task::stop_token(), [&] { return !paused_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool paused_ = false;
    int arrived_ = 0;
};
// [/pausable]

int main() {
    std::atomic<int> ran{0};
    const auto count = [&] { ran += spool::this_task::stop_requested() ? 0 : 1; };
    const auto hooks = std::make_shared<pausable>();
    spool::thread_pool_executor pool({.name = "pausable", .core_size = 1, .hooks = hooks});

    hooks->pause(true);
    const auto first = pool.submit(count);
    std::printf("paused: %d ran\n", ran.load());
    hooks->pause(false);
    first.wait();
    std::printf("resumed: %d ran\n", ran.load());
    hooks->pause(true);
    pool.execute(count);
    pool.execute(count);
    hooks->await_arrival(2);
    std::printf("stopped while paused: %zu handed back\n", pool.shutdown_now().size());
    const bool ended = pool.await_termination(std::chrono::minutes{1});
    std::printf("ended: %s, %d ran\n", ended ? "yes" : "no", ran.load());
}
