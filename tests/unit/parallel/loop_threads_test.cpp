// Which threads run a loop: others take part, short loops stay here, and strangers' tasks are left
// alone.
#include <gtest/gtest.h>

#include "parallel_helpers.hpp"
#include "support/eventually.hpp"

namespace {

TEST(loop_threads, chunks_run_at_the_same_time) {
    spool::thread_pool_executor pool = spool::work_stealing_pool(2);
    test::gate first;
    test::gate second;
    std::atomic<int> met{0};
    spool::parallel_for(pool, 0, 2,
                        [&](int i) {
                            (i == 0 ? first : second).open();
                            met += (i == 0 ? second : first).opens() ? 1 : 0;
                        },
                        {.chunks = 2});
    EXPECT_EQ(met, 2);
}

TEST(loop_threads, a_long_loop_without_options_is_shared) {
    spool::thread_pool_executor pool = spool::fixed_thread_pool(2);
    const std::thread::id here = std::this_thread::get_id();
    test::gate other_came;
    std::atomic<bool> waited{false};
    spool::parallel_for(pool, 0, 10000, [&](int i) {
        test::work_a_little();
        if (std::this_thread::get_id() != here) {
            other_came.open();
        } else if (i > 5000 - 100 && !waited.exchange(true)) {
            EXPECT_TRUE(other_came.opens());
        }
    });
    EXPECT_TRUE(other_came.is_open());
}

// A thread may lose its CPU in the middle of a loop, which then looks long. One of many is enough.
TEST(loop_threads, a_loop_too_short_to_gain_stays_on_the_callers_thread) {
    bool stayed = false;
    for (int tries = 0; tries < 200 && !stayed; ++tries) {
        spool::thread_pool_executor pool = spool::work_stealing_pool(2);
        std::atomic<int> calls{0};
        spool::parallel_for(pool, 0, 3, [&](int) { ++calls; });
        EXPECT_EQ(calls, 3);
        stayed = pool.pool_size() == 0;  // nothing was forked: no worker was started
    }
    EXPECT_TRUE(stayed);
}

TEST(loop_threads, a_pool_whose_workers_are_busy_leaves_the_loop_to_a_caller_on_a_worker) {
    test::gate release;
    spool::thread_pool_executor pool(test::loop_pool(2));
    const test::open_at_end open{release};
    auto held = pool.submit([&] { release.wait(); });
    auto loop = pool.submit([&] { spool::parallel_for(pool, 0, 300, [](int) { test::work_a_little(); }); });
    EXPECT_NO_THROW(loop.get_for(test::long_delay()));
}

TEST(loop_threads, a_caller_that_waits_runs_no_other_task) {
    for (const bool steals : {true, false}) {
        std::atomic<bool> in_loop{false};
        std::atomic<int> strangers_inside{0};
        std::thread::id caller;
        const auto stranger = [&] {
            strangers_inside += std::this_thread::get_id() == caller && in_loop ? 1 : 0;
        };
        spool::thread_pool_executor pool(
            test::loop_pool(2, steals ? test::stealing_queue() : spool::unbounded_fifo()));
        pool.submit([&] {
                caller = std::this_thread::get_id();
                for (int round = 0; round < 20; ++round) {
                    for (int i = 0; i < 10; ++i) {
                        pool.execute(stranger);
                    }
                    in_loop = true;
                    spool::parallel_for(pool, 0, 20, [&](int) { test::work_a_little(); }, {.chunks = 20});
                    in_loop = false;
                }
            })
            .get_for(test::long_delay());
        EXPECT_EQ(strangers_inside, 0);
    }
}

TEST(loop_threads, a_pool_is_used_by_no_more_threads_than_it_has) {
    std::atomic<int> now{0};
    std::atomic<int> most{0};
    spool::thread_pool_executor pool(test::loop_pool(2, test::stealing_queue()));
    pool.submit([&] {
            spool::parallel_for(pool, 0, 64,
                                [&](int) {
                                    const int mine = ++now;
                                    for (int seen = most;
                                         seen < mine && !most.compare_exchange_weak(seen, mine);) {}
                                    test::work_a_little();
                                    --now;
                                },
                                {.chunks = 64});
        })
        .get_for(test::long_delay());
    EXPECT_LE(most, 2);
}

}  // namespace
