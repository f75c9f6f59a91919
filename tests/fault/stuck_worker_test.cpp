// One worker stops at an arbitrary place, as if it had no CPU: the other worker runs the tasks.
#include <poll.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;

std::atomic<bool> stands_still{false};
std::atomic<bool> must_stand_still{false};

void stand_still(int) {
    stands_still = true;
    while (must_stand_still) {
        poll(nullptr, 0, 1);
    }
    stands_still = false;
}

// While an object of it lives, the thread runs nothing but a signal handler.
class held_thread {
public:
    explicit held_thread(pthread_t thread) {
        struct sigaction action {};
        action.sa_handler = stand_still;
        action.sa_flags = SA_RESTART;
        sigaction(SIGUSR2, &action, &before_);
        must_stand_still = true;
        pthread_kill(thread, SIGUSR2);
    }
    held_thread(const held_thread&) = delete;
    held_thread& operator=(const held_thread&) = delete;
    ~held_thread() {
        must_stand_still = false;
        EXPECT_TRUE(test::eventually([] { return !stands_still; }));
        sigaction(SIGUSR2, &before_, nullptr);
    }
    [[nodiscard]] bool is_held() const {
        return test::eventually([] { return stands_still.load(); });
    }

private:
    struct sigaction before_ {};
};

struct known_threads : spool::pool_hooks {
    void worker_started(const spool::worker_info&) override {
        const std::lock_guard lock{mutex};
        ids.push_back(pthread_self());
    }
    [[nodiscard]] std::size_t count() {
        const std::lock_guard lock{mutex};
        return ids.size();
    }
    std::mutex mutex;
    std::vector<pthread_t> ids;
};

// Whichever of the two workers is stopped, a task runs before that worker continues.
void expect_tasks_run_whoever_stands_still(spool::thread_pool_executor& pool, known_threads& threads) {
    pool.prestart_all_core_threads();
    ASSERT_TRUE(test::eventually([&] { return threads.count() == 2; }));
    for (int round = 0; round < 10; ++round) {
        for (const pthread_t thread : threads.ids) {
            const held_thread held{thread};
            ASSERT_TRUE(held.is_held());
            // Shared, because a task may be left when the round ends.
            const auto ran = std::make_shared<std::atomic<int>>(0);
            EXPECT_TRUE(test::eventually([&] {
                pool.execute([ran] { ++*ran; });
                return *ran > 0;
            })) << "round "
                << round;
            EXPECT_TRUE(test::eventually([&] { return pool.snapshot().queued <= 1; }));
            must_stand_still = false;
            ASSERT_TRUE(
                test::eventually([&] { return pool.snapshot().queued <= 1 && pool.snapshot().active == 0; }));
        }
    }
}

TEST(stuck_worker, does_not_stop_a_fixed_pool) {
    const auto threads = std::make_shared<known_threads>();
    spool::thread_pool_executor pool({.core_size = 2, .hooks = threads});
    expect_tasks_run_whoever_stands_still(pool, *threads);
}

TEST(stuck_worker, does_not_stop_a_stealing_pool) {
    const auto threads = std::make_shared<known_threads>();
    spool::thread_pool_executor pool({.core_size = 2,
                                      .queue = std::make_unique<spool::work_stealing_queue<spool::task>>(),
                                      .hooks = threads});
    expect_tasks_run_whoever_stands_still(pool, *threads);
}

TEST(stuck_worker, does_not_stop_a_scheduled_pool_with_no_timer_or_a_distant_one) {
    const auto threads = std::make_shared<known_threads>();
    spool::scheduled_thread_pool_executor pool({.core_size = 2, .hooks = threads});
    expect_tasks_run_whoever_stands_still(pool, *threads);
    const auto far_off = pool.schedule([] {}, 1h);
    expect_tasks_run_whoever_stands_still(pool, *threads);
}

}  // namespace
