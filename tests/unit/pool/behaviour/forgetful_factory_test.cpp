// A thread that forgets the body of its worker, and starts another on its way out.
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;

// The first thread forgets its body once it is let. The second, which the first makes the pool start, is handed over only when it has ended
// and is about to join the first.
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
