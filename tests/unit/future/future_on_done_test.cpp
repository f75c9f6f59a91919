// on_done(): when, where and in which order the callbacks run, and what they may do to the handles.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using spool::cancel_mode;
using spool::future;
using spool::future_task;
using test::gate;

}  // namespace

TEST(future_on_done, runs_once_after_a_value_can_be_read) {
    future_task<int> t{[] { return 7; }};
    std::vector<int> seen;
    t.on_done([&](const future<int>& f) { seen.push_back(f.result_now()); });
    EXPECT_TRUE(seen.empty());
    t.run();
    t.run();
    EXPECT_EQ(seen, std::vector<int>{7});
}

TEST(future_on_done, runs_once_after_an_exception_can_be_read) {
    future_task<int> t{[]() -> int { throw std::out_of_range("failed"); }};
    int calls = 0;
    std::exception_ptr seen;
    t.on_done([&](const future<int>& f) {
        ++calls;
        seen = f.exception_now();
    });
    t.run();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(seen, t.exception_now());
}

TEST(future_on_done, runs_once_after_a_cancellation_can_be_read) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        future_task<int> t{[] { return 7; }};
        int calls = 0;
        bool cancelled = false;
        t.on_done([&](const future<int>& f) {
            ++calls;
            cancelled = f.is_cancelled();
        });
        t.cancel(mode);
        t.cancel(mode);
        t.run();
        EXPECT_EQ(calls, 1);
        EXPECT_TRUE(cancelled);
    }
}

TEST(future_on_done, runs_once_though_a_cancelled_body_ends_later) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        gate running;
        gate release;
        std::atomic<int> calls{0};
        future_task<int> t{[&] {
            running.open();
            release.wait();
            return 7;
        }};
        std::thread::id called_by;
        t.on_done([&] {
            ++calls;
            called_by = std::this_thread::get_id();
        });
        std::jthread runner{[&] { t.run(); }};
        const test::open_at_end guard{release};
        running.wait();
        t.cancel(mode);
        EXPECT_EQ(calls, 1);  // before the body ends, and on the thread that cancelled
        EXPECT_EQ(called_by, std::this_thread::get_id());
        release.open();
        runner.join();
        EXPECT_EQ(calls, 1);
    }
}

TEST(future_on_done, runs_on_the_thread_that_completes) {
    future_task<int> t{[] { return 7; }};
    std::thread::id called_by;
    t.on_done([&] { called_by = std::this_thread::get_id(); });
    std::thread runner{[&] { t.run(); }};
    const std::thread::id runner_id = runner.get_id();
    runner.join();
    EXPECT_EQ(called_by, runner_id);
}

TEST(future_on_done, runs_after_a_value_was_set_by_hand) {
    future_task<int> t{[] { return 7; }};
    int seen = 0;
    t.on_done([&](const future<int>& f) { seen = f.result_now(); });
    t.set_value(8);
    EXPECT_EQ(seen, 8);
}

TEST(future_on_done, keeps_the_order_of_registration) {
    future_task<int> t{[] { return 7; }};
    std::vector<int> order;
    for (int i = 0; i < 5; ++i) {
        t.on_done([&order, i] { order.push_back(i); });
    }
    t.run();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(future_on_done, runs_here_and_now_when_it_is_done_already) {
    future_task<int> t{[] { return 7; }};
    t.run();
    int seen = 0;
    t.on_done([&](const future<int>& f) { seen = f.result_now(); });
    EXPECT_EQ(seen, 7);
    int calls = 0;
    t.on_done([&] { ++calls; });
    EXPECT_EQ(calls, 1);
}

TEST(future_on_done, registered_by_a_callback_runs_at_once) {
    future_task<int> t{[] { return 7; }};
    std::vector<std::string> order;
    t.on_done([&](const future<int>& f) {
        f.on_done([&] { order.push_back("inner"); });
        order.push_back("outer");
    });
    t.run();
    EXPECT_EQ(order, (std::vector<std::string>{"inner", "outer"}));
}

TEST(future_on_done, gets_a_handle_equal_to_the_one_it_was_registered_through) {
    auto [handle, work] = future_task<int>{[] { return 7; }}.split();
    bool equal = false;
    handle.on_done([&, expected = handle](const future<int>& f) { equal = f == expected; });
    work();
    EXPECT_TRUE(equal);
}

TEST(future_on_done, sees_the_value_though_the_last_other_handle_moves_it_out_meanwhile) {
    auto [handle, work] = future_task<std::string>{[] { return std::string(100, 'x'); }}.split();
    std::string taken;
    std::string seen;
    handle.on_done([&taken, &h = handle] { taken = std::move(h).get(); });
    handle.on_done([&seen](const future<std::string>& f) { seen = f.get(); });
    work();
    EXPECT_EQ(taken, std::string(100, 'x'));
    EXPECT_EQ(seen, std::string(100, 'x'));
}

TEST(future_on_done, may_drop_the_last_handle) {
    std::atomic<int> alive{0};
    auto parts = future_task<test::tracked>{[&] { return test::tracked{alive}; }}.split();
    parts.handle.on_done([&] { parts.handle = {}; });
    parts.work();
    parts.work = nullptr;
    EXPECT_FALSE(parts.handle.valid());
    EXPECT_EQ(alive, 0);
}

TEST(future_on_done, may_drop_the_last_handle_of_a_cancelled_one) {
    std::optional<future_task<int>> t{std::in_place, [] { return 7; }};
    t->on_done([&] { t.reset(); });
    EXPECT_TRUE(t->cancel());
    EXPECT_FALSE(t.has_value());
}

TEST(future_on_done, may_destroy_the_task_that_runs_it) {
    auto t = std::make_unique<future_task<int>>([] { return 7; });
    t->on_done([&] { t.reset(); });
    t->run();
    EXPECT_EQ(t, nullptr);
}

TEST(future_on_done, may_destroy_the_task_that_is_completed_by_hand) {
    auto t = std::make_unique<future_task<int>>([] { return 7; });
    t->on_done([&] { t.reset(); });
    EXPECT_TRUE(t->set_value(8));
    EXPECT_EQ(t, nullptr);
}

TEST(future_on_done, is_destroyed_after_it_ran_and_with_a_future_that_nobody_needs) {
    std::atomic<int> alive{0};
    {
        future_task<int> t{[] { return 7; }};
        t.on_done([held = test::tracked{alive}] {});
        t.on_done([held = test::tracked{alive}](const future<int>&) {});
        EXPECT_EQ(alive, 2);
        t.run();
        EXPECT_EQ(alive, 0);  // completion has destroyed the callbacks
        t.on_done([held = test::tracked{alive}] {});
        EXPECT_EQ(alive, 0);
    }
    {
        const future_task<int> abandoned{[] { return 7; }};
        abandoned.on_done([held = test::tracked{alive}](const future<int>&) {});
    }
    EXPECT_EQ(alive, 0);
}

TEST(future_on_done, refuses_an_empty_callback) {
    const future_task<int> t{[] { return 7; }};
    EXPECT_EQ(test::what_of<std::invalid_argument>([&] { t.on_done(std::function<void()>{}); }),
              "future::on_done: empty callable");
    EXPECT_THROW(t.on_done(std::function<void(const future<int>&)>{}), std::invalid_argument);
}
