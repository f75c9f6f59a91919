// What a scheduled pool inherits from the ordinary one: nested waits, hooks, decoration, times.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "schedule_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// ---- Nested waits

TEST(scheduled_nested_wait, a_task_that_is_due_runs_in_place_in_a_pool_of_one) {
    test::timed_pool timed;
    const auto outer = timed.pool.submit([&] {
        const auto same = std::this_thread::get_id();
        const auto inner = timed.pool.schedule([] { return std::this_thread::get_id(); }, 0s);
        return inner.get() == same && timed.pool.queue().size() == 0;
    });
    EXPECT_TRUE(outer.get());
    EXPECT_TRUE(test::eventually([&] { return timed.pool.completed_task_count() == 2; }));
}

// The waiter claims the body, as in an ordinary pool. The entry that stays behind counts nowhere.
TEST(scheduled_nested_wait, a_submitted_task_runs_in_place_in_a_pool_of_one) {
    test::timed_pool timed;
    const auto outer = timed.pool.submit([&] {
        const auto same = std::this_thread::get_id();
        const auto inner = timed.pool.submit([] { return std::this_thread::get_id(); });
        return inner.get() == same && timed.pool.snapshot().queued == 0;
    });
    EXPECT_TRUE(outer.get());
    timed.settle();
    EXPECT_EQ(timed.pool.queue().size(), 0U);
    EXPECT_TRUE(test::eventually([&] { return timed.pool.completed_task_count() == 5; }));
}

TEST(scheduled_nested_wait, a_delayed_task_runs_in_place_once_it_is_due) {
    test::timed_pool timed;
    const auto inner = timed.pool.schedule([] { return 5; }, 1h);
    const auto wall = timed.pool.schedule_at([] { return 6; }, timed.clock->wall_now() + 1h);
    const auto outer = timed.pool.submit([&] {
        timed.clock->advance(1h);
        return inner.get() + wall.get();
    });
    EXPECT_EQ(outer.get(), 11);
}

TEST(scheduled_nested_wait, a_task_that_is_not_due_is_waited_for) {
    test::gate waits;
    test::timed_pool timed({.core_size = 2});
    timed.pool.prestart_all_core_threads();
    const auto inner = timed.pool.schedule([] { return std::this_thread::get_id(); }, 1h);
    const auto outer = timed.pool.submit([&] {
        waits.open();
        return inner.get() != std::this_thread::get_id();
    });
    ASSERT_TRUE(waits.opens());
    ASSERT_TRUE(test::others_fall_asleep());
    EXPECT_FALSE(inner.is_done());
    timed.clock->advance(1h);
    EXPECT_TRUE(outer.get());
}

TEST(scheduled_nested_wait, invoke_all_inside_a_pool_of_one_ends) {
    test::timed_pool timed;
    const auto outer = timed.pool.submit([&] {
        std::vector<std::function<int()>> parts;
        for (int i = 0; i < 10; ++i) {
            parts.emplace_back([i] { return i; });
        }
        int sum = 0;
        for (const auto& f : spool::invoke_all(timed.pool, parts)) {
            sum += f.get();
        }
        return sum;
    });
    EXPECT_EQ(outer.get(), 45);
    timed.settle();
    EXPECT_EQ(timed.pool.queue().size(), 0U);
}

TEST(scheduled_nested_wait, a_stop_ends_the_wait_for_a_task_that_is_not_due) {
    test::gate waits;
    test::timed_pool timed;
    const auto inner = timed.pool.schedule([] {}, 1h);
    const auto outer = timed.pool.submit([&] {
        waits.open();
        inner.get();
    });
    ASSERT_TRUE(waits.opens());
    EXPECT_TRUE(outer.cancel());
    timed.settle();
    EXPECT_FALSE(inner.is_done());
}

// ---- submit()

template <class T>
constexpr bool is_plain_future = std::is_same_v<T, spool::future<int>>;
using any_scheduled_pool = spool::scheduled_thread_pool_executor&;
static_assert(is_plain_future<decltype(std::declval<any_scheduled_pool>().submit([] { return 1; }))>);
static_assert(is_plain_future<decltype(std::declval<any_scheduled_pool>().submit([] {}, 1))>);

TEST(scheduled_submit, does_the_same_through_the_interface_of_every_service) {
    test::timed_pool timed;
    spool::executor_service& service = timed.pool;
    std::stop_source stop;
    EXPECT_EQ(service.submit([] { return 1; }).get(), timed.pool.submit([] { return 1; }).get());
    EXPECT_EQ(service.submit([] {}, 2).get(), timed.pool.submit([] {}, 2).get());
    EXPECT_EQ(service.submit(stop.get_token(), [] { return 3; }).get(),
              timed.pool.submit(stop.get_token(), [] { return 3; }).get());
}

TEST(scheduled_submit, a_cancelled_task_stays_in_the_queue_until_a_worker_reaches_it_or_it_is_purged) {
    test::busy_workers busy;
    test::timed_pool timed;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(timed.pool);
    const auto purged = timed.pool.submit([] {});
    EXPECT_TRUE(purged.cancel());
    EXPECT_EQ(timed.pool.queue().size(), 1U);
    EXPECT_EQ(timed.pool.purge(), 1U);
    const auto reached = timed.pool.submit([] {});
    EXPECT_TRUE(reached.cancel());
    busy.release();
    timed.settle();
    EXPECT_EQ(timed.pool.queue().size(), 0U);
}

TEST(scheduled_submit, runs_after_shutdown_whatever_the_policy_for_delayed_tasks) {
    test::busy_workers busy;
    test::timed_pool timed({.core_size = 1, .run_delayed_after_shutdown = false});
    const test::open_at_end open{busy.release_gate()};
    busy.hold(timed.pool);
    const auto now = timed.pool.submit([] { return 1; });
    timed.pool.shutdown();
    busy.release();
    EXPECT_EQ(now.get(), 1);
}

// ---- Hooks and times

struct noting_hooks final : spool::pool_hooks {
    void before_execute(const spool::task_info& info) override { before.add(info); }
    void after_execute(const spool::task_info& info, const std::exception_ptr& thrown) override {
        EXPECT_EQ(thrown, nullptr);
        after.add(info.id);
    }
    void rejected(const spool::task_info& info, spool::rejection_reason) override { refused.add(info.id); }
    void terminated() override { ++ended; }
    test::record<spool::task_info> before;
    test::record<spool::task_id> after;
    test::record<spool::task_id> refused;
    std::atomic<int> ended{0};
};

TEST(scheduled_hooks, are_called_round_every_run_with_the_number_of_the_future) {
    const auto hooks = std::make_shared<noting_hooks>();
    {
        test::timed_pool timed({.core_size = 1, .hooks = hooks, .uncaught = test::quiet()});
        const auto series =
            timed.pool.schedule_at_fixed_rate([] { throw std::runtime_error("mine"); }, 1h, 1h);
        timed.clock->advance(1h);
        ASSERT_TRUE(test::eventually([&] { return hooks->after.count(series.id()) == 1; }));
        timed.clock->advance(1h);
        ASSERT_TRUE(test::eventually([&] { return hooks->after.count(series.id()) == 2; }));
        const auto once = timed.pool.schedule([] {}, 1h);
        timed.pool.shutdown();
        EXPECT_THROW(timed.pool.schedule([] {}, 1h), spool::rejected_execution);
        EXPECT_EQ(hooks->refused.size(), 1U);
        timed.clock->advance(1h);
        once.wait();
        ASSERT_TRUE(test::eventually([&] { return hooks->after.count(once.id()) == 1; }));
    }
    EXPECT_EQ(hooks->before.size(), 3U);
    EXPECT_EQ(hooks->ended, 1);
}

TEST(scheduled_hooks, a_before_execute_that_throws_cancels_the_task_and_ends_the_series) {
    struct refusing final : spool::pool_hooks {
        void before_execute(const spool::task_info&) override {
            if (armed.exchange(false)) {
                throw std::runtime_error("not this one");
            }
        }
        std::atomic<bool> armed{true};
    };
    test::timed_pool timed(
        {.core_size = 1, .hooks = std::make_shared<refusing>(), .uncaught = test::quiet()});
    const auto series = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    timed.clock->advance(1h);
    EXPECT_TRUE(series.wait_for(test::long_delay()));
    EXPECT_TRUE(series.is_cancelled());
    EXPECT_EQ(timed.pool.submit([] { return 2; }).get(), 2);
}

// On the real clocks: a task that waited until it was due has not waited for a worker.
TEST(scheduled_times, waited_counts_from_the_due_time) {
    const auto hooks = std::make_shared<noting_hooks>();
    spool::scheduled_thread_pool_executor pool({.core_size = 1, .hooks = hooks, .task_times = true});
    const auto past = std::chrono::steady_clock::now() - 1h;
    pool.schedule_at([] {}, past).get();
    pool.schedule([] {}, test::medium_delay()).get();
    const auto all = hooks->before.all();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_GE(all[0].waited, 1h);
    EXPECT_LT(all[0].waited, 2h);
    EXPECT_GE(all[1].waited, 0ns);
    EXPECT_LT(all[1].waited, test::long_delay()) << "and not from an hour ago";
    ASSERT_TRUE(test::eventually([&] { return hooks->after.size() == 2; }));
}

// task_times must not change the behaviour of scheduled futures.
TEST(scheduled_times, change_nothing_about_the_futures) {
    test::timed_pool timed({.core_size = 1, .task_times = true});
    const auto timer = timed.pool.schedule([] { return 1; }, 2h);
    const auto removed = timed.pool.schedule([] {}, 2h);
    const auto cancelled = timed.pool.schedule([] {}, 2h);
    const auto wall = timed.pool.schedule_at([] {}, timed.clock->wall_now() + 2h);
    EXPECT_EQ(timer.delay(), 2h);
    EXPECT_TRUE(timed.pool.remove(removed));
    EXPECT_TRUE(cancelled.cancel());
    EXPECT_EQ(timed.pool.queue().size(), 2U);
    timed.clock->set_wall(timed.clock->wall_now() + 3h);
    EXPECT_TRUE(wall.wait_for(test::long_delay()));
    const auto outer = timed.pool.submit([&] {
        timed.clock->advance(2h);
        return timer.get();
    });
    EXPECT_EQ(outer.get(), 1);
}

// ---- Decoration

TEST(scheduled_decorate, wraps_every_run_of_every_kind) {
    std::atomic<int> wrapped{0};
    std::atomic<int> calls{0};
    test::timed_pool timed({.core_size = 1,
                            .decorate =
                                [&](spool::task inner) {
                                    ++wrapped;
                                    return spool::task{[&calls, inner = std::move(inner)]() mutable {
                                        ++calls;
                                        inner();
                                    }};
                                },
                            .uncaught = test::quiet()});
    EXPECT_EQ(timed.pool.schedule([] { return std::string{"text"}; }, 0s).get(), "text");
    int value = 1;
    EXPECT_EQ(&timed.pool.schedule([&]() -> int& { return value; }, 0s).get(), &value);
    const auto fails = timed.pool.schedule([]() -> int { throw std::runtime_error("mine"); }, 0s);
    EXPECT_THROW(fails.get(), std::runtime_error);
    const int before = calls;
    const auto series = timed.pool.schedule_at_fixed_rate(
        [n = 0]() mutable {
            if (++n == 2) {
                throw std::runtime_error("mine");
            }
        },
        1h, 1h);
    for (unsigned i = 1; i <= 4; ++i) {
        timed.clock->advance(1h);
        ASSERT_TRUE(test::eventually(
            [&] { return series.run_count() == i && calls == before + static_cast<int>(i); }));
    }
    EXPECT_TRUE(test::eventually([&] { return series.failure_count() == 1; }));
    EXPECT_EQ(wrapped, 4) << "a series once, for all of its runs";
}

TEST(scheduled_decorate, a_run_that_the_decorator_left_out_is_noticed_every_time) {
    test::timed_pool timed({.core_size = 1,
                            .decorate =
                                [](spool::task inner) {
                                    return spool::task{[n = 0, inner = std::move(inner)]() mutable {
                                        if (++n % 2 == 1) {
                                            inner();
                                        }
                                    }};
                                },
                            .uncaught = test::quiet()});
    const auto series = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    timed.clock->advance(4h);
    EXPECT_TRUE(test::eventually([&] { return series.run_count() == 4; }));
    EXPECT_TRUE(test::eventually([&] { return series.failure_count() == 2; }));
}

}  // namespace
