// Loops while their pool is shut down, full or drained, and in a forked process.
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "parallel_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using spool::thread_pool_executor;

TEST(loop_pool_end, a_loop_goes_on_after_shutdown) {
    thread_pool_executor pool(test::loop_pool(2, test::stealing_queue()));
    std::atomic<int> calls{0};
    pool.submit([&] {
            spool::parallel_for(pool, 0, 200,
                                [&](int i) {
                                    if (i == 20) {
                                        pool.shutdown();
                                    }
                                    ++calls;
                                },
                                {.chunks = 200});
        })
        .get_for(test::long_delay());
    EXPECT_EQ(calls, 200);
}

TEST(loop_pool_end, a_caller_outside_finishes_its_loop_after_shutdown_now) {
    for (const bool steals : {true, false}) {
        for (int round = 0; round < 20; ++round) {
            thread_pool_executor pool(
                test::loop_pool(2, steals ? test::stealing_queue() : spool::unbounded_fifo()));
            std::atomic<int> calls{0};
            spool::parallel_for(pool, 0, 100,
                                [&](int i) {
                                    if (i == round) {
                                        static_cast<void>(pool.shutdown_now());
                                    }
                                    test::work_a_little();
                                    ++calls;
                                },
                                {.chunks = 100});
            EXPECT_EQ(calls, 100);
        }
    }
}

TEST(loop_pool_end, a_helper_that_shutdown_now_drops_does_not_harm_the_loop) {
    thread_pool_executor pool(test::loop_pool(1));
    std::atomic<int> calls{0};
    {
        const test::busy_workers busy{pool, 1};
        spool::parallel_for(pool, 0, 10,
                            [&](int i) {
                                ++calls;
                                if (i == 0) {
                                    EXPECT_TRUE(pool.shutdown_now().empty());
                                }
                            },
                            {.chunks = 10});
    }
    EXPECT_EQ(calls, 10);
}

TEST(loop_pool_end, a_loop_of_a_task_ends_with_interrupted_after_shutdown_now) {
    test::gate ended;
    std::atomic<bool> was_interrupted{false};
    thread_pool_executor pool(test::loop_pool(2, test::stealing_queue()));
    pool.execute([&] {
        try {
            spool::parallel_for(pool, 0, 1000000, [&](int i) {
                test::work_a_little();
                if (i == 100) {
                    static_cast<void>(pool.shutdown_now());
                }
            });
        } catch (const spool::interrupted&) {
            was_interrupted = true;
        }
        ended.open();
    });
    EXPECT_TRUE(ended.opens());
    EXPECT_TRUE(was_interrupted);
}

TEST(loop_pool_end, a_full_pool_leaves_the_loop_to_the_caller) {
    thread_pool_executor pool(
        test::loop_pool(1, std::make_unique<spool::array_blocking_queue<spool::task>>(1)));
    const test::busy_workers busy{pool, 1};
    pool.execute([] {});  // fills the queue
    std::vector<std::thread::id> by(100);
    spool::parallel_for(pool, 0, by.size(), [&](std::size_t i) { by[i] = std::this_thread::get_id(); },
                        {.chunks = 100});
    EXPECT_EQ(std::count(by.begin(), by.end(), std::this_thread::get_id()), 100);
}

TEST(loop_pool_end, sorts_are_finished_by_the_caller_after_shutdown_now) {
    for (const bool stable : {true, false}) {
        thread_pool_executor pool(test::loop_pool(2, test::stealing_queue()));
        std::vector<int> v = test::random_ints(100000);
        std::atomic<int> left{200000};
        const auto comp = [&](int a, int b) {
            if (--left == 0) {
                static_cast<void>(pool.shutdown_now());
            }
            return a < b;
        };
        stable ? spool::parallel_stable_sort(pool, v, comp) : spool::parallel_sort(pool, v, comp);
        EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    }
}

}  // namespace
