// cancel() before the start and after the end, and the destruction of the callable.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "future_checks.hpp"
#include "spool/future/future_task.hpp"
#include "support/tracked.hpp"

namespace {

using spool::cancel_mode;
using spool::future;
using spool::future_task;

// What a callable sees of its future while it is destroyed.
struct last_look {
    int times = 0;
    bool done = true;
    bool cancel_answer = true;
    bool set_answer = true;
};

// A task whose callable examines its own future when it is destroyed.
struct looking_task {
    future<int> handle;
    last_look look;
    future_task<int> work;

    template <class Body>
    explicit looking_task(Body body)
        : work([body, last = test::at_end([this] {
                          ++look.times;
                          look.done = handle.is_done();
                          look.cancel_answer = handle.cancel();
                          look.set_answer = work.valid() && work.set_value(-1);
                      })] { return body(); }) {
        handle = work;
    }
};

void expect_gone_before_done(const last_look& look) {
    EXPECT_EQ(look.times, 1);
    EXPECT_FALSE(look.done);
    EXPECT_FALSE(look.cancel_answer);  // returned without hanging
    EXPECT_FALSE(look.set_answer);
}

}  // namespace

TEST(future_cancel_before_run, releases_a_waiter_and_tells_it) {
    const future_task<int> t{[] { return 7; }};
    const test::waiter plain{[&] { t.get(); }};
    const test::waiter any_outcome{[&] { t.wait(); }};
    EXPECT_TRUE(t.cancel());
    EXPECT_EQ(plain.answer(), "cancelled");
    EXPECT_EQ(any_outcome.answer(), "ready");
}

TEST(future_cancel_before_run, destroys_the_callable_at_once_though_the_task_still_waits) {
    std::atomic<int> alive{0};
    auto [handle, work] = future_task<int>{[held = test::tracked{alive}] { return 7; }}.split();
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(handle.cancel());
    EXPECT_EQ(alive, 0);
    EXPECT_FALSE(work.empty());
    work();  // the remaining task does nothing
    EXPECT_TRUE(handle.is_cancelled());
    EXPECT_EQ(alive, 0);
}

TEST(future_cancel_before_run, destroys_the_callable_before_the_future_is_done) {
    for (const cancel_mode mode : {cancel_mode::let_run, cancel_mode::interrupt}) {
        looking_task t{[] { return 7; }};
        EXPECT_TRUE(t.handle.cancel(mode));
        expect_gone_before_done(t.look);
        EXPECT_TRUE(t.handle.is_cancelled());
    }
}

TEST(future_callable_end, comes_before_the_future_is_done_on_success) {
    looking_task t{[] { return 7; }};
    t.work.run();
    expect_gone_before_done(t.look);
    EXPECT_EQ(t.handle.get(), 7);
}

TEST(future_callable_end, comes_before_the_future_is_done_on_failure) {
    looking_task t{[]() -> int { throw std::out_of_range("failed"); }};
    t.work.run();
    expect_gone_before_done(t.look);
    EXPECT_THROW(t.handle.get(), std::out_of_range);
}

TEST(future_callable_end, comes_before_the_future_is_done_when_completed_by_hand) {
    looking_task by_value{[] { return 7; }};
    EXPECT_TRUE(by_value.work.set_value(8));
    expect_gone_before_done(by_value.look);
    EXPECT_EQ(by_value.handle.get(), 8);

    looking_task by_error{[] { return 7; }};
    EXPECT_TRUE(by_error.work.set_exception(std::make_exception_ptr(1)));
    expect_gone_before_done(by_error.look);
    EXPECT_THROW(by_error.handle.get(), int);
}

TEST(future_callable_end, comes_before_the_future_is_done_when_the_task_is_dropped) {
    looking_task t{[] { return 7; }};
    {
        const spool::task dropped = std::move(t.work).split().work;
        EXPECT_EQ(t.look.times, 0);
    }
    expect_gone_before_done(t.look);
    EXPECT_TRUE(t.handle.is_cancelled());
}

TEST(future_callable_end, comes_once_after_the_last_of_several_runs) {
    looking_task t{[] { return 7; }};
    EXPECT_TRUE(t.work.run_and_reset());
    EXPECT_TRUE(t.work.run_and_reset());
    EXPECT_EQ(t.look.times, 0);
    t.work.run();
    expect_gone_before_done(t.look);
}

TEST(future_cancel_before_run, answers_false_the_second_time_and_it_is_done) {
    const future_task<int> t{[] { return 7; }};
    EXPECT_TRUE(t.cancel(cancel_mode::interrupt));
    EXPECT_FALSE(t.cancel(cancel_mode::interrupt));
    EXPECT_FALSE(t.cancel(cancel_mode::let_run));
    EXPECT_TRUE(t.is_done());
    EXPECT_TRUE(t.is_cancelled());
}

TEST(future_cancel_after_end, answers_false_and_keeps_a_failure) {
    future_task<int> t{[]() -> int { throw std::out_of_range("kept"); }};
    t.run();
    EXPECT_FALSE(t.cancel());
    EXPECT_FALSE(t.is_cancelled());
    EXPECT_THROW(t.get(), std::out_of_range);
}

TEST(future_cancel_after_end, answers_false_to_a_callback_of_the_completion) {
    future_task<int> t{[] { return 7; }};
    bool answer = true;
    t.on_done([&](const future<int>& f) { answer = f.cancel(); });
    t.run();
    EXPECT_FALSE(answer);
    EXPECT_EQ(t.get(), 7);
}

TEST(future_cancel_from_result, answers_false_while_the_result_is_moved_in) {
    struct cancels_when_moved {
        future<cancels_when_moved>* target;
        std::vector<bool>* answers;
        cancels_when_moved(future<cancels_when_moved>* f, std::vector<bool>* a) : target(f), answers(a) {}
        cancels_when_moved(cancels_when_moved&& other) noexcept
            : target(other.target), answers(other.answers) {
            answers->push_back(target->cancel(cancel_mode::let_run));
        }
    };
    future<cancels_when_moved> handle;
    std::vector<bool> answers;
    future_task<cancels_when_moved> t{[] { return cancels_when_moved{nullptr, nullptr}; }};
    handle = t;
    EXPECT_TRUE(t.set_value(cancels_when_moved{&handle, &answers}));
    // The completion itself calls cancel(): it is refused and does not hang.
    EXPECT_EQ(answers, std::vector<bool>{false});
    EXPECT_EQ(t.state(), spool::future_state::succeeded);
}
