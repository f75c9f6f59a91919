// submit() with a stop token from outside, and future::cancel_on().
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spool/executor/direct_executor.hpp"
#include "spool/executor/submit.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "spool/future/future_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using spool::future;
using spool::future_task;

// Keeps every task and runs none.
struct keeper : spool::executor {
    void execute(spool::task work) override { kept.push_back(std::move(work)); }
    std::vector<spool::task> kept;
};

TEST(submit_with_a_stop_token, returns_the_result_if_no_stop_is_requested) {
    spool::direct_executor here;
    const std::stop_source outer;
    EXPECT_EQ(spool::submit(here, outer.get_token(), [] { return 7; }).get(), 7);
    EXPECT_EQ(spool::submit(here, std::stop_token{}, [] { return 8; }).get(), 8);
}

TEST(submit_with_a_stop_token, a_stop_cancels_a_task_that_has_not_begun) {
    std::atomic<int> alive{0};
    keeper later;
    std::stop_source outer;
    const auto f = spool::submit(later, outer.get_token(), [counted = test::tracked{alive}] {});
    EXPECT_EQ(alive, 1);
    outer.request_stop();
    EXPECT_TRUE(f.is_cancelled());
    EXPECT_EQ(alive, 0);
}

TEST(submit_with_a_stop_token, a_stop_interrupts_a_task_that_runs) {
    test::gate runs;
    test::gate stopped;
    spool::thread_per_task_executor threads;
    std::stop_source outer;
    const auto f = threads.submit(outer.get_token(), [&](const std::stop_token& stop) {
        const std::stop_callback on_stop{stop, [&] { stopped.open(); }};
        runs.open();
        EXPECT_TRUE(stopped.opens());
    });
    ASSERT_TRUE(runs.opens());
    outer.request_stop();
    EXPECT_TRUE(f.is_cancelled());
    EXPECT_TRUE(stopped.opens());
}

TEST(submit_with_a_stop_token, a_stop_requested_before_submits_nothing) {
    keeper later;
    std::stop_source outer;
    outer.request_stop();
    const auto f = spool::submit(later, outer.get_token(), [] { return 7; });
    EXPECT_TRUE(f.is_cancelled());
    EXPECT_TRUE(later.kept.empty());
}

// When the future has ended, nothing of it stays registered with the stop token.
TEST(submit_with_a_stop_token, the_connection_ends_with_the_future) {
    keeper later;
    std::atomic<int> alive{0};
    std::stop_source outer;
    {
        auto f = spool::submit(later, outer.get_token(), [] { return std::string(100, 'x'); });
        f.on_done([counted = test::tracked{alive}] {});
        EXPECT_EQ(alive, 1);
        later.kept.front()();
        later.kept.clear();
        EXPECT_EQ(std::move(f).get(), std::string(100, 'x'));
    }
    EXPECT_EQ(alive, 0);
    EXPECT_TRUE(outer.request_stop());  // calls nothing that is gone
}

TEST(submit_with_a_stop_token, a_refused_task_leaves_no_connection) {
    struct refuser : spool::executor {
        void execute(spool::task) override { throw std::runtime_error{"full"}; }
    };
    refuser never;
    std::atomic<int> alive{0};
    std::stop_source outer;
    const auto submit = [&] {
        static_cast<void>(spool::submit(never, outer.get_token(), [counted = test::tracked{alive}] {}));
    };
    EXPECT_EQ(test::what_of<std::runtime_error>(submit), "full");
    EXPECT_EQ(alive, 0);
    outer.request_stop();
}

TEST(future_cancel_on, an_exception_of_a_callback_is_reported_and_changes_nothing_else) {
    const future_task<int> work{[] { return 7; }};
    const future<int> f = work;
    std::stop_source outer;
    f.on_done([] { throw std::runtime_error{"from a callback"}; });
    f.cancel_on(outer.get_token());
    testing::internal::CaptureStderr();
    outer.request_stop();
    EXPECT_NE(testing::internal::GetCapturedStderr().find("from a callback"), std::string::npos);
    EXPECT_TRUE(f.is_cancelled());
}

TEST(future_cancel_on, accepts_several_tokens) {
    const future_task<int> work{[] { return 7; }};
    const future<int> f = work;
    std::stop_source first;
    std::stop_source second;
    f.cancel_on(first.get_token());
    f.cancel_on(second.get_token());
    second.request_stop();
    EXPECT_TRUE(f.is_cancelled());
    first.request_stop();
}

TEST(future_cancel_on, a_stop_may_come_while_it_is_being_connected_and_while_the_body_ends) {
    for (int round = 0; round < 500; ++round) {
        std::stop_source outer;
        future_task<std::string> work{[] { return std::string(100, 'x'); }};
        const future<std::string> f = work;
        test::gate start;
        std::thread stopper{[&] {
            start.wait();
            outer.request_stop();
        }};
        std::thread runner{[&] {
            start.wait();
            work.run();
        }};
        start.open();
        f.cancel_on(outer.get_token());
        stopper.join();
        runner.join();
        EXPECT_TRUE(f.is_done());
    }
}

TEST(cancelled_result, names_its_task) {
    const future_task<int> work{[] { return 7; }};
    const future<int> f = work;
    f.cancel();
    EXPECT_EQ(test::what_of<spool::cancelled>([&] { static_cast<void>(f.get()); }),
              "task " + std::to_string(f.id()) + " was cancelled");
}

}  // namespace
