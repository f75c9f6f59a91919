// An on_done() callback throws: the outcome stays, the other callbacks run, and the completing call
// throws the exception.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "spool/future/future_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"

namespace {

using spool::cancel_mode;
using spool::future_task;

// A task with a callback that throws, followed by one that counts.
struct troubled_task {
    int later_calls = 0;
    future_task<int> work{[] { return 7; }};

    troubled_task() {
        work.on_done([] { throw std::range_error("from the callback"); });
        work.on_done([this] { ++later_calls; });
    }
};

}  // namespace

TEST(future_on_done_errors, come_out_of_run_and_leave_the_value) {
    troubled_task t;
    EXPECT_EQ(test::what_of<std::range_error>([&] { t.work.run(); }), "from the callback");
    EXPECT_EQ(t.later_calls, 1);
    EXPECT_EQ(t.work.get(), 7);
}

TEST(future_on_done_errors, come_out_of_run_and_leave_the_failure_of_the_body) {
    future_task<int> t{[]() -> int { throw std::out_of_range("from the body"); }};
    t.on_done([] { throw std::range_error("from the callback"); });
    EXPECT_THROW(t.run(), std::range_error);
    EXPECT_THROW(t.get(), std::out_of_range);
}

TEST(future_on_done_errors, come_out_of_the_split_off_task) {
    auto [handle, work] = future_task<int>{[] { return 7; }}.split();
    handle.on_done([] { throw std::range_error("from the callback"); });
    EXPECT_THROW(work(), std::range_error);
    EXPECT_EQ(handle.get(), 7);
    work();  // a second call does nothing and throws nothing
}

TEST(future_on_done_errors, come_out_of_set_value_and_leave_the_value) {
    troubled_task t;
    EXPECT_THROW(t.work.set_value(8), std::range_error);
    EXPECT_EQ(t.later_calls, 1);
    EXPECT_EQ(t.work.get(), 8);
}

TEST(future_on_done_errors, come_out_of_set_exception_and_leave_the_exception) {
    troubled_task t;
    EXPECT_THROW(t.work.set_exception(std::make_exception_ptr(std::out_of_range("by hand"))),
                 std::range_error);
    EXPECT_EQ(t.later_calls, 1);
    EXPECT_THROW(t.work.get(), std::out_of_range);
}

TEST(future_on_done_errors, come_out_of_cancel_and_leave_it_cancelled) {
    troubled_task t;
    EXPECT_THROW(t.work.cancel(), std::range_error);
    EXPECT_EQ(t.later_calls, 1);
    EXPECT_TRUE(t.work.is_cancelled());
}

TEST(future_on_done_errors, come_out_of_cancel_of_a_running_body_and_not_out_of_its_run) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        test::gate running;
        test::gate release;
        bool run_threw = false;
        future_task<int> t{[&] {
            running.open();
            release.wait();
            return 7;
        }};
        t.on_done([] { throw std::range_error("from the callback"); });
        std::jthread runner{[&] {
            try {
                t.run();
            } catch (...) {
                run_threw = true;
            }
        }};
        const test::open_at_end guard{release};
        running.wait();
        EXPECT_THROW(t.cancel(mode), std::range_error);
        EXPECT_TRUE(t.is_cancelled());
        release.open();
        runner.join();
        EXPECT_FALSE(run_threw);
    }
}

TEST(future_on_done_errors, come_out_of_on_done_when_it_is_done_already) {
    future_task<int> t{[] { return 7; }};
    t.run();
    EXPECT_THROW(t.on_done([] { throw std::range_error("from the callback"); }), std::range_error);
    EXPECT_EQ(t.get(), 7);
}

TEST(future_on_done_errors, come_out_of_run_and_reset_when_the_body_fails) {
    future_task<int> t{[]() -> int { throw std::out_of_range("from the body"); }};
    t.on_done([] { throw std::range_error("from the callback"); });
    EXPECT_THROW(t.run_and_reset(), std::range_error);
    EXPECT_THROW(t.get(), std::out_of_range);
}

TEST(future_on_done_errors, beyond_the_first_are_reported_on_stderr) {
    future_task<int> t{[] { return 7; }};
    t.on_done([] { throw std::range_error("the first"); });
    t.on_done([] { throw std::range_error("the second"); });
    testing::internal::CaptureStderr();
    const std::string first = test::what_of<std::range_error>([&] { t.run(); });
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(first, "the first");
    EXPECT_NE(text.find("the second"), std::string::npos) << text;
    EXPECT_EQ(text.find("the first"), std::string::npos) << text;
    EXPECT_NE(text.find("future of task " + std::to_string(t.id())), std::string::npos) << text;
}

TEST(future_on_done_errors, are_reported_also_after_a_callback_destroyed_the_task) {
    auto t = std::make_unique<future_task<int>>([] { return 7; });
    t->on_done([&] {
        t.reset();
        throw std::range_error("the first");
    });
    t->on_done([] { throw std::range_error("the second"); });
    testing::internal::CaptureStderr();
    const std::string first = test::what_of<std::range_error>([&] { t->run(); });
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(first, "the first");
    EXPECT_NE(text.find("the second"), std::string::npos) << text;
}
