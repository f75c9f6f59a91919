// Hooks, tasks and handlers that call every public member of their own pool.
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fault/hostile/acting_hooks.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;
using test::acting_hooks;
using test::hook;

// Counts the tasks that the pool accepted and those that ran; both must be equal at the end.
struct caller {
    std::atomic<int> accepted{0};
    std::atomic<int> ran{0};

    [[nodiscard]] std::function<void()> body() {
        return [this] { ++ran; };
    }
    void take(spool::admission_result how) { accepted += how == spool::admission_result::accepted ? 1 : 0; }
    void if_accepted(const std::function<void()>& submit, int how_many = 1) {
        try {
            submit();
            accepted += how_many;
        } catch (const spool::rejected_execution&) {  // the pool is shut down
        }
    }

    void call_all(thread_pool_executor& pool) {
        if_accepted([&] { pool.execute(body()); });
        if_accepted([&] { static_cast<void>(pool.submit(body())); });
        if_accepted([&] { static_cast<void>(pool.submit(body(), 7)); });
        take(pool.try_execute(body()));
        take(pool.execute_for(body(), 1ms));
        const std::vector<std::function<void()>> two(2, body());
        if_accepted([&] { pool.execute_all(two); }, 2);
        if_accepted([&] { static_cast<void>(pool.submit_all(two)); }, 2);
        look_at(pool);
        change(pool);
        EXPECT_FALSE(pool.remove(spool::task_id{1}));
        EXPECT_EQ(pool.purge(), 0U);
        static_cast<void>(pool.prestart_core_thread());
        static_cast<void>(pool.prestart_all_core_threads());
    }
    static void look_at(thread_pool_executor& pool) {
        EXPECT_EQ(pool.name(), "hostile");
        EXPECT_FALSE(pool.is_terminated());
        EXPECT_EQ(pool.is_terminating(), pool.is_shutdown());
        EXPECT_LE(pool.state(), spool::run_state::tidying);
        EXPECT_FALSE(pool.await_termination(0s));
        EXPECT_LE(pool.active_count(), 100U);
        EXPECT_LE(pool.largest_pool_size(), 100U);
        EXPECT_LE(pool.completed_task_count(), 100U);
        EXPECT_LE(pool.task_count(), 100U);
        EXPECT_LE(pool.rejected_count(), 100U);
        EXPECT_TRUE(test::contains(pool.describe(), "hostile"));
        EXPECT_LE(pool.queue().size(), 100U);
        EXPECT_EQ(pool.decorator(), nullptr);
    }
    static void change(thread_pool_executor& pool) {
        pool.set_maximum_size(pool.maximum_size() + 1);
        pool.set_core_size(pool.core_size() + 1);
        pool.set_keep_alive(pool.keep_alive() + 1s);
        pool.allow_core_threads_to_time_out(!pool.core_threads_may_time_out());
        pool.set_rejection(pool.rejection());
        pool.set_thread_factory(pool.thread_factory());
    }
};

class pool_members : public testing::TestWithParam<hook> {};

TEST_P(pool_members, may_all_be_called_in_a_hook) {
    caller calls;
    std::optional<thread_pool_executor> pool;
    const auto hooks = std::make_shared<acting_hooks>(GetParam(), [&] { calls.call_all(*pool); });
    pool.emplace(spool::pool_options{.name = "hostile", .core_size = 2, .maximum_size = 2, .hooks = hooks});
    for (int i = 0; i < 3; ++i) {
        pool->execute(calls.body());
        ++calls.accepted;
    }
    hooks->may_act.open();
    if (GetParam() == hook::worker_stopped || GetParam() == hook::terminated) {
        pool->shutdown();
    }
    ASSERT_TRUE(hooks->acted.opens());
    ASSERT_TRUE(test::ends(*pool));
    EXPECT_EQ(calls.ran, calls.accepted);
    EXPECT_EQ(pool->completed_task_count(), static_cast<std::uint64_t>(calls.ran));
    EXPECT_EQ(hooks->workers, 0);
    EXPECT_EQ(hooks->ends, 1);
}
INSTANTIATE_TEST_SUITE_P(every_hook, pool_members,
                         testing::Values(hook::worker_started, hook::before_execute, hook::after_execute,
                                         hook::worker_stopped, hook::terminated),
                         [](const auto& p) { return test::name_of(p.param); });

TEST(pool_members_elsewhere, may_be_called_in_the_rejected_hook) {
    struct rejection_hooks : spool::pool_hooks {
        explicit rejection_hooks(std::function<void()> f) : act(std::move(f)) {}
        void rejected(const spool::task_info&, spool::rejection_reason) override { act(); }
        std::function<void()> act;
    };
    caller calls;
    std::atomic<int> depth{0};
    std::optional<thread_pool_executor> pool;
    test::busy_workers busy;
    pool.emplace(spool::pool_options{.name = "hostile",
                                     .core_size = 1,
                                     .maximum_size = 1,
                                     .queue = test::bounded(1),
                                     .hooks = std::make_shared<rejection_hooks>([&] {
                                         if (depth.fetch_add(1) == 0) {
                                             calls.call_all(*pool);
                                         }
                                     })});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(*pool);
    pool->execute(calls.body());
    EXPECT_THROW(pool->execute(calls.body()), spool::rejected_execution);
    EXPECT_GE(depth, 2);
    busy.release();
    ASSERT_TRUE(test::ends(*pool));
    EXPECT_EQ(pool->completed_task_count(), static_cast<std::uint64_t>(calls.ran) + 1);
}

TEST(pool_members_elsewhere, may_be_called_in_the_handler_of_uncaught_exceptions) {
    caller calls;
    test::gate called;
    std::optional<thread_pool_executor> pool;
    pool.emplace(spool::pool_options{.name = "hostile", .core_size = 1, .uncaught = [&](auto&&...) {
                                         calls.call_all(*pool);
                                         called.open();
                                     }});
    pool->execute([] { throw std::runtime_error("on purpose"); });
    ASSERT_TRUE(called.opens());
    ASSERT_TRUE(test::ends(*pool));
    EXPECT_EQ(calls.ran, calls.accepted);
}

TEST(pool_members_elsewhere, may_be_called_in_the_thread_factory) {
    caller calls;
    std::atomic<int> depth{0};
    std::optional<thread_pool_executor> pool;
    pool.emplace(spool::pool_options{.name = "hostile",
                                     .core_size = 1,
                                     .thread_factory = [&](spool::task body, const spool::worker_info& info) {
                                         if (depth.fetch_add(1) == 0) {
                                             calls.call_all(*pool);
                                         }
                                         return spool::worker_thread_factory()(std::move(body), info);
                                     }});
    pool->execute(calls.body());
    ++calls.accepted;
    ASSERT_TRUE(test::ends(*pool));
    EXPECT_EQ(calls.ran, calls.accepted);
}

}  // namespace
