// The rows of the conformance table on waiting for a future_task.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "observed_task.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/sync/this_task.hpp"
#include "support/eventually.hpp"

namespace {

using spool::cancel_mode;
using test::gate;
using test::observed_task;
using test::waiter;

// A wait inside a task scope of its own, whose stop the test requests.
class scoped_waiter {
public:
    template <class Wait>
    explicit scoped_waiter(Wait wait)
        : waiter_([this, wait] {
              spool::task_scope scope;
              scope_ = &scope;
              opened_.open();
              try {
                  wait();
              } catch (...) {
                  may_leave_.wait();  // the scope must outlive interrupt()
                  throw;
              }
              may_leave_.wait();
          }) {
        opened_.wait();
    }
    std::string answer_after_stop() {
        scope_->interrupt().request_stop();
        may_leave_.open();
        return waiter_.answer();
    }

private:
    gate opened_;
    gate may_leave_;
    spool::task_scope* scope_ = nullptr;
    waiter waiter_;
};

}  // namespace

TEST(future_task, FT_016_running_the_task_hands_the_value_to_every_waiter) {
    observed_task t;
    std::atomic<int> plain{0};
    std::atomic<int> timed{0};
    const waiter first{[&] { plain = t.work.get(); }};
    const waiter second{[&] { timed = t.work.get_for(test::long_delay()); }};
    EXPECT_FALSE(t.work.is_done());

    std::thread runner{[&] { t.work.run(); }};
    EXPECT_EQ(first.answer(), "ready");
    EXPECT_EQ(second.answer(), "ready");
    runner.join();

    EXPECT_EQ(plain, 7);
    EXPECT_EQ(timed, 7);
    EXPECT_EQ(t.body_calls, 1);
    test::expect_done_with_value(t, 7);
    test::try_to_confuse(t);
    test::expect_done_with_value(t, 7);
}

TEST(future_task, FT_017_setting_a_value_hands_it_to_every_waiter_without_running) {
    observed_task t;
    std::atomic<int> plain{0};
    std::atomic<int> timed{0};
    const waiter first{[&] { plain = t.work.get(); }};
    const waiter second{[&] { timed = t.work.get_for(test::long_delay()); }};
    EXPECT_FALSE(t.work.is_done());

    EXPECT_TRUE(t.work.set_value(42));
    EXPECT_EQ(first.answer(), "ready");
    EXPECT_EQ(second.answer(), "ready");

    EXPECT_EQ(plain, 42);
    EXPECT_EQ(timed, 42);
    EXPECT_EQ(t.body_calls, 0);
    test::expect_done_with_value(t, 42);
    test::try_to_confuse(t);
    test::expect_done_with_value(t, 42);
}

TEST(future_task, FT_018_cancel_with_let_run_releases_waiters_before_the_body_ends) {
    gate running;
    gate release;
    std::atomic<bool> disturbed{false};
    observed_task t{[&] {
        running.open();
        release.wait();
        disturbed = spool::this_task::stop_requested();
        return 7;
    }};
    const waiter plain{[&] { t.work.get(); }};
    const waiter timed{[&] { t.work.get_for(test::long_delay()); }};
    std::jthread runner{[&] { t.work.run(); }};
    const test::open_at_end guard{release};
    running.wait();
    t.work.run();  // a second run while the first is under way does nothing
    EXPECT_EQ(t.body_calls, 1);

    EXPECT_TRUE(t.work.cancel(cancel_mode::let_run));
    EXPECT_EQ(plain.answer(), "cancelled");
    EXPECT_EQ(timed.answer(), "cancelled");
    EXPECT_FALSE(release.is_open());
    t.work.run();
    EXPECT_EQ(t.body_calls, 1);

    release.open();
    runner.join();
    test::expect_done_cancelled(t);
    EXPECT_FALSE(disturbed);
}

TEST(future_task, FT_019_cancel_with_interrupt_releases_waiters_and_wakes_the_body) {
    gate sleeping;
    gate release;
    std::atomic<bool> woken{false};
    gate body_woken;
    observed_task t{[&] {
        sleeping.open();
        try {
            spool::this_task::sleep_for(test::long_delay());
        } catch (const spool::interrupted&) {
            woken = true;
        }
        body_woken.open();
        release.wait();
        return 7;
    }};
    const waiter plain{[&] { t.work.get(); }};
    const waiter timed{[&] { t.work.get_for(test::long_delay()); }};
    std::jthread runner{[&] { t.work.run(); }};
    const test::open_at_end guard{release};
    sleeping.wait();

    EXPECT_TRUE(t.work.cancel(cancel_mode::interrupt));
    EXPECT_EQ(plain.answer(), "cancelled");
    EXPECT_EQ(timed.answer(), "cancelled");
    EXPECT_TRUE(body_woken.opens());
    EXPECT_TRUE(woken);

    release.open();
    runner.join();
    test::expect_done_cancelled(t);
    test::try_to_confuse(t);
    test::expect_done_cancelled(t);
}

TEST(future_task, FT_022_get_is_interrupted_at_once_or_while_waiting_and_leaves_the_task_alone) {
    observed_task t;
    {
        spool::task_scope scope;
        scope.interrupt().request_stop();
        EXPECT_THROW(t.work.get(), spool::interrupted);
    }
    std::stop_source source;
    const waiter given{[&] { t.work.get(source.get_token()); }};
    scoped_waiter current{[&] { t.work.get(); }};
    source.request_stop();
    EXPECT_EQ(given.answer(), "interrupted");
    EXPECT_EQ(current.answer_after_stop(), "interrupted");
    EXPECT_THROW(t.work.get(source.get_token()), spool::interrupted);

    EXPECT_FALSE(t.work.is_done());
    EXPECT_EQ(t.body_calls, 0);
    EXPECT_EQ(t.done_calls, 0);
    t.work.run();
    test::expect_done_with_value(t, 7);
}

TEST(future_task, FT_023_timed_get_is_interrupted_rather_than_timed_out_for_any_timeout) {
    observed_task t;
    std::stop_source source;
    const waiter given{[&] { t.work.get_for(test::long_delay(), source.get_token()); }};
    scoped_waiter current{[&] { t.work.get_for(test::long_delay()); }};
    source.request_stop();
    EXPECT_EQ(given.answer(), "interrupted");
    EXPECT_EQ(current.answer_after_stop(), "interrupted");

    spool::task_scope scope;
    scope.interrupt().request_stop();
    test::for_any_timeout([&](auto timeout) {
        EXPECT_THROW(t.work.get_for(timeout), spool::interrupted);
        EXPECT_THROW(t.work.get_for(timeout, source.get_token()), spool::interrupted);
    });
    EXPECT_FALSE(t.work.is_done());
    EXPECT_EQ(t.body_calls, 0);
    EXPECT_EQ(t.done_calls, 0);
}

TEST(future_task, FT_024_timed_get_of_an_unrun_task_times_out_no_sooner_than_asked) {
    observed_task t;
    const auto took =
        test::time_of([&] { EXPECT_THROW(t.work.get_for(test::short_delay()), spool::timed_out); });
    EXPECT_GE(took, test::short_delay());
    EXPECT_FALSE(t.work.is_done());
    EXPECT_EQ(t.body_calls, 0);
    EXPECT_EQ(t.done_calls, 0);
}

TEST(future_task, FT_026_timed_get_with_zero_and_negative_limits_times_out_in_every_thread) {
    const observed_task t;
    const std::chrono::nanoseconds limits[] = {std::chrono::nanoseconds{0}, std::chrono::nanoseconds{-1},
                                               std::chrono::nanoseconds::min()};
    std::vector<std::unique_ptr<waiter>> waiters;
    for (int i = 0; i < 10; ++i) {
        waiters.push_back(std::make_unique<waiter>([&] {
            for (const std::chrono::nanoseconds limit : limits) {
                const std::string answer = test::answer_of([&] { t.work.get_for(limit); });
                if (answer != "timed out") {
                    throw std::runtime_error("a limit of " + std::to_string(limit.count()) +
                                             " ns: " + answer);
                }
            }
        }));
    }
    for (const auto& w : waiters) {
        EXPECT_EQ(w->answer(), "ready");
    }
    EXPECT_FALSE(t.work.is_done());
}
