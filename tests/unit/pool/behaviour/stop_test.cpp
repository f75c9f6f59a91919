// Which tasks are asked to stop, and when: only shutdown_now() does it, to every running task and
// to no other.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

using namespace std::chrono_literals;

}  // namespace

TEST(pool_stop, shutdown_now_reaches_every_running_task_and_shutdown_none) {
    std::atomic<int> stopped{0};
    std::atomic<int> started{0};
    spool::thread_pool_executor pool({.core_size = 3});
    std::vector<std::stop_token> tokens(3);
    for (int i = 0; i < 3; ++i) {
        pool.execute([&, i](std::stop_token stop) {
            tokens[static_cast<std::size_t>(i)] = stop;
            ++started;
            try {
                spool::this_task::sleep_for(1h);
            } catch (const spool::interrupted&) {
                ++stopped;
            }
        });
    }
    ASSERT_TRUE(test::eventually([&] { return started == 3; }));
    pool.shutdown();
    EXPECT_FALSE(pool.await_termination(test::short_delay()));
    for (const std::stop_token& token : tokens) {
        EXPECT_FALSE(token.stop_requested());
    }
    EXPECT_TRUE(pool.shutdown_now().empty());
    for (const std::stop_token& token : tokens) {
        EXPECT_TRUE(token.stop_requested());
    }
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(stopped, 3);
}

// The worker has its first task, but has not started it when shutdown_now() is called.
TEST(pool_stop, a_task_just_about_to_start_is_stopped_too) {
    struct slow_start : spool::pool_hooks {
        void worker_started(const spool::worker_info&) override { release.wait(); }
        test::gate release;
    };
    const auto hooks = std::make_shared<slow_start>();
    const test::open_at_end guard{hooks->release};
    std::atomic<bool> asked{false};
    std::atomic<bool> token_says_so{false};
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks});
    pool.execute([&](std::stop_token stop) {
        asked = spool::this_task::stop_requested();
        token_says_so = stop.stop_requested();
    });
    EXPECT_TRUE(pool.shutdown_now().empty());  // the task has a worker: it is not handed back
    hooks->release.open();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(asked);
    EXPECT_TRUE(token_says_so);
}

TEST(pool_stop, stop_callbacks_run_before_shutdown_now_returns_and_may_use_the_pool) {
    std::atomic<bool> called{false};
    test::gate started;
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{release};
    pool.execute([&](std::stop_token stop) {
        const std::stop_callback on_stop(stop, [&] {
            called = pool.pool_size() == 1 && !pool.describe().empty();
            release.open();
        });
        started.open();
        release.wait();
    });
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    EXPECT_TRUE(called);
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(pool_stop, a_later_task_never_sees_the_stop_of_an_earlier_one) {
    spool::thread_pool_executor pool({.core_size = 1});
    for (int i = 0; i < 50; ++i) {
        test::gate started;
        std::stop_token earlier;
        const auto sleeper = pool.submit([&](std::stop_token stop) {
            earlier = stop;
            started.open();
            spool::this_task::sleep_for(1h);
        });
        ASSERT_TRUE(started.opens());
        ASSERT_TRUE(sleeper.cancel());
        const auto later = pool.submit([](std::stop_token stop) {
            return !spool::this_task::stop_requested() && !stop.stop_requested();
        });
        EXPECT_TRUE(later.get());
        EXPECT_TRUE(earlier.stop_requested());
    }
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_stop, a_token_kept_after_its_task_is_never_stopped_by_what_happens_to_a_later_one) {
    std::stop_token kept;
    test::gate started;
    spool::thread_pool_executor pool({.core_size = 1});
    pool.execute([&](std::stop_token stop) { kept = std::move(stop); });
    pool.execute([&] {
        started.open();
        spool::this_task::sleep_for(1h);
    });
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_FALSE(kept.stop_requested());
}

TEST(pool_stop, tasks_that_were_handed_back_are_whole_and_can_run_elsewhere) {
    test::busy_workers busy;
    std::vector<int> order;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    std::vector<spool::task_id> ids;
    for (int i = 0; i < 3; ++i) {
        spool::task work = [&order, i] { order.push_back(i); };
        ids.push_back(work.id());
        pool.execute(std::move(work));
    }
    const auto pending = pool.submit([&order] { order.push_back(3); });
    auto back = pool.shutdown_now();
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    ASSERT_EQ(back.size(), 4U);
    EXPECT_FALSE(pending.is_done());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(back[i].id(), ids[i]);
    }
    for (spool::task& work : back) {
        work();
    }
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(pending.state(), spool::future_state::succeeded);
}

TEST(pool_stop, shutdown_now_inside_a_task_stops_that_very_task) {
    std::atomic<bool> stopped{false};
    spool::thread_pool_executor pool({.core_size = 1});
    pool.execute([&](std::stop_token stop) {
        static_cast<void>(pool.shutdown_now());
        stopped = stop.stop_requested() && spool::this_task::stop_requested();
    });
    ASSERT_TRUE(test::eventually([&] { return pool.is_terminated(); }));
    EXPECT_TRUE(stopped);
}

TEST(pool_stop, a_task_that_waits_for_the_end_of_another_pool_is_interrupted_there) {
    test::gate waits;
    std::string said;
    spool::thread_pool_executor goes_on({.name = "goes on", .core_size = 1});
    spool::thread_pool_executor pool({.core_size = 1});
    pool.execute([&] {
        waits.open();
        said = test::what_of<spool::interrupted>([&] { static_cast<void>(goes_on.await_termination(1h)); });
    });
    ASSERT_TRUE(waits.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(said, "thread_pool_executor \"goes on\": stop requested while waiting for its termination");
}
