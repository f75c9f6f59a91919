// close() on a worker while queued tasks are not due yet.
#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;

struct later {
    spool::due_time when;
    std::atomic<int>* ran;
    [[nodiscard]] spool::due_time due() const { return when; }
    void operator()() const { ++*ran; }
};

}  // namespace

// The closing worker waits for the last task and runs it. The other worker waits for the same task,
// and must learn that none is left.
TEST(pool_close_with_delays, the_closing_worker_tells_the_others_when_it_has_run_the_last_task) {
    std::atomic<int> ran{0};
    test::gate closed;
    spool::thread_pool_executor pool(
        {.core_size = 2, .maximum_size = 2, .queue = std::make_unique<spool::delay_queue<spool::task>>()});
    pool.execute([&pool] {
        while (!pool.is_shutdown()) {
            std::this_thread::yield();
        }
        // By then the closing worker waits for the task.
        spool::this_task::sleep_for(test::short_delay());
    });
    pool.execute([&] {
        pool.execute(later{std::chrono::steady_clock::now() + test::small_delay(), &ran});
        pool.close();
        closed.open();
    });
    EXPECT_TRUE(closed.opens());
    EXPECT_EQ(ran, 1);
}

TEST(pool_close_with_delays, so_does_that_of_a_scheduled_pool) {
    std::atomic<int> ran{0};
    test::gate closed;
    spool::scheduled_thread_pool_executor pool({.core_size = 2});
    pool.execute([&pool] {
        while (!pool.is_shutdown()) {
            std::this_thread::yield();
        }
        spool::this_task::sleep_for(test::short_delay());
    });
    pool.execute([&] {
        pool.schedule([&ran] { ++ran; }, test::small_delay());
        pool.close();
        closed.open();
    });
    EXPECT_TRUE(closed.opens());
    EXPECT_EQ(ran, 1);
}
