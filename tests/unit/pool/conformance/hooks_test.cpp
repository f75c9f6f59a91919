// The hooks: in Java, a subclass overrides them.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::thread_pool_executor;

struct counting_hooks final : spool::pool_hooks {
    std::atomic<bool> body_finished{false};
    std::atomic<int> before{0};
    std::atomic<int> after{0};
    std::atomic<int> ended{0};
    std::atomic<bool> finished_before_before{true};
    std::atomic<bool> finished_before_after{false};

    void before_execute(const spool::task_info&) override {
        finished_before_before = body_finished.load();
        ++before;
    }
    void after_execute(const spool::task_info&, const std::exception_ptr&) override {
        finished_before_after = body_finished.load();
        ++after;
    }
    void terminated() override { ++ended; }
};

TEST(thread_pool_executor, TPE_065_the_terminated_hook_of_an_unused_pool_runs_within_shutdown) {
    const auto hooks = std::make_shared<counting_hooks>();
    spool::pool_options options = sized(1, 1);
    options.hooks = hooks;
    thread_pool_executor pool{std::move(options)};
    EXPECT_EQ(hooks->ended, 0);
    pool.shutdown();
    EXPECT_EQ(hooks->ended, 1);
    EXPECT_TRUE(pool.is_terminated());
    ASSERT_TRUE(ends(pool));
    EXPECT_EQ(hooks->ended, 1);
}

TEST(thread_pool_executor, TPE_066_a_task_runs_between_its_two_hooks) {
    const auto hooks = std::make_shared<counting_hooks>();
    spool::pool_options options = sized(1, 1);
    options.hooks = hooks;
    thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool};
    pool.execute([hooks] { hooks->body_finished = true; });
    EXPECT_TRUE(test::eventually([&] { return hooks->after == 1; }));
    EXPECT_EQ(hooks->before, 1);
    EXPECT_FALSE(hooks->finished_before_before);
    EXPECT_TRUE(hooks->finished_before_after);
}

}  // namespace
}  // namespace conformance
