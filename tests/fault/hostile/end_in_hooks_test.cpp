// A pool is closed or destroyed in one of its own hooks: every task still runs, start and stop
// hooks stay paired, and nothing hangs.
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "fault/hostile/acting_hooks.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;
using test::acting_hooks;
using test::hook;

constexpr int tasks = 20;

// A factory of plain std::threads. The pool joins and detaches them differently from its own
// threads.
spool::thread_factory plain_threads() {
    return [](spool::task body, const spool::worker_info&) { return std::thread{std::move(body)}; };
}

class pool_ended_in_hook : public testing::TestWithParam<std::tuple<hook, bool>> {
protected:
    [[nodiscard]] static hook where() { return std::get<0>(GetParam()); }

    spool::pool_options options(const std::shared_ptr<acting_hooks>& hooks) {
        spool::pool_options o{.name = "hostile", .core_size = 2, .maximum_size = 2, .hooks = hooks};
        if (std::get<1>(GetParam())) {
            o.thread_factory = plain_threads();
        }
        if (where() == hook::worker_stopped) {  // idle workers leave by themselves
            o.keep_alive = 1ms;
            o.core_threads_may_time_out = true;
        }
        o.uncaught = [this](const spool::worker_info&, const std::exception_ptr& e) {
            reported.add(spool::describe(e));
        };
        return o;
    }
    // The last call on the pool from outside.
    void fill(thread_pool_executor& pool, acting_hooks& hooks) {
        for (int i = 0; i < tasks; ++i) {
            pool.execute([this] { ++ran; });
        }
        if (where() == hook::terminated) {
            pool.execute([&pool] { pool.shutdown(); });
        }
        hooks.may_act.open();
    }

    std::atomic<int> ran{0};
    test::record<std::string> reported;
};

TEST_P(pool_ended_in_hook, by_close_runs_everything_and_terminates) {
    const std::size_t before = test::thread_count();
    std::optional<thread_pool_executor> pool;
    const auto hooks = std::make_shared<acting_hooks>(where(), [&pool] { pool->close(); });
    pool.emplace(options(hooks));
    fill(*pool, *hooks);
    ASSERT_TRUE(hooks->acted.opens());
    ASSERT_TRUE(pool->await_termination(test::long_delay()));
    EXPECT_EQ(ran, tasks);
    EXPECT_EQ(hooks->workers, 0);
    EXPECT_EQ(hooks->ends, 1);
    pool.reset();
    EXPECT_TRUE(test::eventually([&] { return test::thread_count() <= before; }));
    EXPECT_EQ(reported.size(), 0U);
}

TEST_P(pool_ended_in_hook, by_its_destructor_runs_everything_and_detaches_one_thread) {
    const std::size_t before = test::thread_count();
    std::unique_ptr<thread_pool_executor> pool;
    const auto hooks = std::make_shared<acting_hooks>(where(), [&pool] { pool.reset(); });
    pool = std::make_unique<thread_pool_executor>(options(hooks));
    fill(*pool, *hooks);
    ASSERT_TRUE(hooks->acted.opens());
    // The last thread of the pool has released the hooks.
    EXPECT_TRUE(test::eventually([&] { return hooks.use_count() == 1; }));
    EXPECT_EQ(ran, tasks);
    EXPECT_EQ(hooks->workers, 0);
    EXPECT_EQ(hooks->ends, 1);
    EXPECT_TRUE(test::eventually([&] { return test::thread_count() <= before; }));
    EXPECT_EQ(reported.size(), 0U);
}

TEST_P(pool_ended_in_hook, by_shutdown_now_hands_back_the_tasks_that_did_not_run) {
    std::optional<thread_pool_executor> pool;
    std::atomic<std::size_t> handed_back{0};
    const auto hooks =
        std::make_shared<acting_hooks>(where(), [&] { handed_back = pool->shutdown_now().size(); });
    pool.emplace(options(hooks));
    fill(*pool, *hooks);
    ASSERT_TRUE(hooks->acted.opens());
    ASSERT_TRUE(pool->await_termination(test::long_delay()));
    const int own = where() == hook::terminated ? 1 : 0;  // the task that shuts down
    EXPECT_EQ(pool->completed_task_count() + handed_back, static_cast<std::size_t>(tasks + own));
    EXPECT_EQ(hooks->workers, 0);
    EXPECT_EQ(hooks->ends, 1);
}

INSTANTIATE_TEST_SUITE_P(every_hook, pool_ended_in_hook,
                         testing::Combine(testing::Values(hook::worker_started, hook::before_execute,
                                                          hook::after_execute, hook::worker_stopped,
                                                          hook::terminated),
                                          testing::Bool()),
                         [](const auto& p) {
                             return test::name_of(std::get<0>(p.param)) +
                                    (std::get<1>(p.param) ? "_std_thread" : "_own_thread");
                         });

TEST(pool_terminated_hook, that_waits_for_the_termination_without_limit_gets_an_error_that_says_so) {
    test::record<std::string> reported;
    std::optional<thread_pool_executor> pool;
    const auto hooks = std::make_shared<acting_hooks>(hook::terminated, [&] {
        EXPECT_FALSE(pool->await_termination(1ms));  // a wait with a limit times out
        static_cast<void>(pool->await_termination(std::chrono::hours::max()));
    });
    hooks->may_act.open();
    pool.emplace(spool::pool_options{
        .name = "hostile", .core_size = 1, .hooks = hooks, .uncaught = [&](auto&&, const auto& e) {
            reported.add(spool::describe(e));
        }});
    pool->execute([] {});
    ASSERT_TRUE(test::ends(*pool));
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_EQ(reported.all().front(),
              "thread_pool_executor \"hostile\": the terminated hook would wait for itself");
}

// The hook runs on the thread that shuts the pool down, inside that call.
TEST(pool_terminated_hook, may_destroy_the_pool_that_an_outside_thread_shuts_down) {
    std::unique_ptr<thread_pool_executor> pool;
    const auto hooks = std::make_shared<acting_hooks>(hook::terminated, [&pool] { pool.reset(); });
    hooks->may_act.open();
    pool = std::make_unique<thread_pool_executor>(spool::pool_options{.core_size = 1, .hooks = hooks});
    pool->shutdown();
    EXPECT_EQ(hooks.use_count(), 1);
    EXPECT_EQ(hooks->ends, 1);
}

// Two workers leave at once, and both close the pool while they leave.
TEST(pool_ended_in_hooks, close_in_worker_stopped_of_several_workers_at_once_does_not_hang) {
    struct closing_hooks : spool::pool_hooks {
        void worker_stopped(const spool::worker_info&) override {
            pool->close();
            ++closed;
        }
        thread_pool_executor* pool = nullptr;
        std::atomic<int> closed{0};
    };
    for (int round = 0; round < 20; ++round) {
        const auto hooks = std::make_shared<closing_hooks>();
        thread_pool_executor pool({.core_size = 4, .hooks = hooks});
        hooks->pool = &pool;
        ASSERT_EQ(pool.prestart_all_core_threads(), 4U);
        ASSERT_TRUE(test::ends(pool));
        EXPECT_EQ(hooks->closed, 4);
    }
}

}  // namespace
