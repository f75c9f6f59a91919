// A thread that forgets the body of its worker, and starts another on its way out.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "scripted_queue.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;

// The first thread drops its body once the gate opens, which makes the pool start the second. The
// factory returns the second thread only when that has ended and is about to join the first.
struct forgetful {
    spool::thread_pool_executor* pool = nullptr;
    std::atomic<int> calls{0};
    test::gate forget;

    spool::worker_thread make(spool::task body) {
        if (++calls == 1) {
            return std::thread{[this, dropped = std::move(body)] { forget.wait(); }};
        }
        std::thread second{std::move(body)};
        EXPECT_TRUE(test::eventually([this] { return pool->completed_task_count() == 1; }));
        EXPECT_TRUE(test::eventually([this] { return !test::contains(pool->describe(), "forgetful-2"); }));
        return second;
    }
};

}  // namespace

TEST(pool_forgetful_factory, a_thread_that_others_may_join_joins_none_of_them) {
    std::atomic<int> ran{0};
    const std::size_t before = test::thread_count();
    forgetful factory;
    {
        spool::thread_pool_executor pool({.name = "forgetful",
                                          .core_size = 1,
                                          .keep_alive = 1ms,
                                          .core_threads_may_time_out = true,
                                          .thread_factory =
                                              [&factory](spool::task body, const spool::worker_info&) {
                                                  return factory.make(std::move(body));
                                              },
                                          .uncaught = test::quiet()});
        factory.pool = &pool;
        pool.execute([&ran] { ++ran; });
        factory.forget.open();
        EXPECT_TRUE(
            test::eventually([&] { return factory.calls == 2 && test::thread_count() <= before + 1; }));
    }
    EXPECT_EQ(ran, 1);
    EXPECT_TRUE(test::eventually([&] { return test::thread_count() <= before; }));
}

TEST(pool_forgetful_factory, a_task_whose_second_submission_makes_the_queue_throw_counts_as_rejected) {
    std::atomic<int> calls{0};
    std::atomic<int> ran{0};
    std::atomic<int> alive{0};
    test::queue_script script;
    test::gate forget;
    test::gate release;
    spool::thread_pool_executor pool(
        {.name = "forgetful",
         .core_size = 2,
         .queue = std::make_unique<test::scripted_queue>(8, script),
         .thread_factory =
             [&](spool::task body, const spool::worker_info&) {
                 switch (++calls) {
                     case 1:
                         return spool::worker_thread{
                             std::thread{[&forget, dropped = std::move(body)] { forget.wait(); }}};
                     case 2: return spool::worker_thread{std::thread{std::move(body)}};
                     default: throw std::runtime_error("no more threads");
                 }
             },
         .uncaught = test::quiet()});
    // The first task is on the forgetful thread; the second keeps the other worker alive.
    pool.execute([&ran, counted = test::tracked{alive}] { ++ran; });
    pool.execute([&release] { release.wait(); });
    script.before_push.arm([] { throw std::runtime_error("the queue is broken"); });
    forget.open();
    EXPECT_TRUE(test::eventually([&] { return pool.snapshot().rejected == 1; }));
    release.open();
    pool.close();
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(pool.completed_task_count(), 1U);
}
