// Uses that no manual recommends. Each has a defined outcome.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/behaviour/scripted_queue.hpp"

namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;

TEST(hard_way, a_task_submitted_by_a_task_during_shutdown_now_is_refused_or_handed_back) {
    for (int round = 0; round < 50; ++round) {
        std::atomic<int> accepted{0};
        std::atomic<int> refused{0};
        test::gate busy;
        thread_pool_executor pool({.core_size = 2});
        for (int i = 0; i < 2; ++i) {
            pool.execute([&] {
                busy.open();
                for (bool told = false; !told;) {
                    try {
                        pool.execute([] {});
                        ++accepted;
                    } catch (const spool::rejected_execution& e) {
                        EXPECT_EQ(e.reason(), spool::rejection_reason::shut_down);
                        told = true;
                        ++refused;
                    }
                }
            });
        }
        ASSERT_TRUE(busy.opens());
        const std::size_t handed_back = pool.shutdown_now().size();
        ASSERT_TRUE(pool.await_termination(test::long_delay()));
        const std::size_t late = pool.shutdown_now().size();  // enqueued after the first drain
        const std::uint64_t all = 2 + static_cast<std::uint64_t>(accepted);
        EXPECT_EQ(handed_back + late + pool.completed_task_count(), all);
        EXPECT_LE(refused, 2);
    }
}

TEST(hard_way, caller_runs_may_run_inside_itself_many_times) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    thread_pool_executor pool({.core_size = 1,
                               .maximum_size = 1,
                               .queue = test::synchronous(),
                               .rejection = spool::caller_runs_policy{}});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    std::function<void(int)> again = [&](int left) {
        ++ran;
        if (left > 0) {
            pool.execute([&, left] { again(left - 1); });
        }
    };
    pool.execute([&] { again(200); });
    EXPECT_EQ(ran, 201);
    EXPECT_EQ(pool.rejected_count(), 201U);
}

TEST(hard_way, a_handler_that_submits_again_loses_nothing) {
    std::atomic<int> ran{0};
    std::atomic<std::uint64_t> handled{0};
    const auto insist = [&](spool::task&& work, spool::rejection_reason, thread_pool_executor& pool) {
        ++handled;
        spool::task mine = std::move(work);
        while (pool.try_execute(std::move(mine)) != spool::admission_result::accepted) {
            std::this_thread::yield();
        }
    };
    thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = test::bounded(2), .rejection = insist});
    for (int i = 0; i < 2000; ++i) {
        pool.execute([&ran] { ++ran; });
    }
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 2000);
    EXPECT_EQ(pool.rejected_count(), handled);
}

// Submitters that wait for room in a pool get an answer when the pool is destroyed.
TEST(hard_way, a_pool_destroyed_while_submitters_wait_for_room_refuses_their_tasks) {
    for (int round = 0; round < 20; ++round) {
        test::queue_script script;
        test::gate release;
        test::gate started;
        std::atomic<int> ran{0};
        auto pool = std::make_unique<thread_pool_executor>(
            spool::pool_options{.core_size = 1,
                                .maximum_size = 1,
                                .queue = std::make_unique<test::scripted_queue>(1, script),
                                .rejection = spool::block_policy{}});
        thread_pool_executor& inside = *pool;
        inside.execute([&] {
            started.open();
            release.wait();
        });
        ASSERT_TRUE(started.opens());
        inside.execute([&ran] { ++ran; });  // the queue is full
        std::optional<spool::admission_result> how;
        std::string refusal;
        std::thread waits_for_room([&] { how = inside.execute_for([&ran] { ++ran; }, 1h); });
        std::thread blocked([&] {
            try {
                inside.execute([&ran] { ++ran; });
            } catch (const spool::rejected_execution& e) {
                refusal = e.what();
            }
        });
        EXPECT_TRUE(test::eventually([&] { return script.waiting_for_room == 2; }));
        release.open();
        pool.reset();
        waits_for_room.join();
        blocked.join();
        // Each submitter found room before the end, or learns that the pool is shut down.
        const int accepted = (how == spool::admission_result::accepted ? 1 : 0) + (refusal.empty() ? 1 : 0);
        EXPECT_TRUE(accepted > 0 || how == spool::admission_result::shut_down);
        EXPECT_TRUE(refusal.empty() || test::contains(refusal, "shut down")) << refusal;
        EXPECT_EQ(ran, 1 + accepted);
    }
}

// A worker that has timed out submits in a thread_local destructor and waits. The next worker must
// not wait for that thread.
TEST(hard_way, a_thread_local_destructor_of_a_worker_may_submit_and_wait) {
    static std::atomic<int> answers{0};
    struct last_words {
        thread_pool_executor* pool = nullptr;
        ~last_words() {
            answers += pool->submit([] { return 1; }).get();
        }
    };
    answers = 0;
    test::gate known;
    thread_pool_executor pool({.core_size = 1, .keep_alive = 1ms, .core_threads_may_time_out = true});
    pool.execute([&] {
        thread_local last_words here;
        here.pool = &pool;
        known.wait();
    });
    known.open();  // now the pool knows the worker's thread
    EXPECT_TRUE(test::eventually([] { return answers == 1; }));
    ASSERT_TRUE(test::ends(pool));
}

TEST(hard_way, a_thread_local_destructor_that_submits_after_termination_is_refused) {
    static std::atomic<int> refusals{0};
    struct last_words {
        thread_pool_executor* pool = nullptr;
        ~last_words() {
            try {
                pool->execute([] {});
            } catch (const spool::rejected_execution&) {
                ++refusals;
            }
        }
    };
    refusals = 0;
    thread_pool_executor pool({.core_size = 1});
    pool.execute([&pool] {
        thread_local last_words here;
        here.pool = &pool;
    });
    pool.close();  // joins the thread, so the destructor has ended
    EXPECT_EQ(refusals, 1);
}

}  // namespace
