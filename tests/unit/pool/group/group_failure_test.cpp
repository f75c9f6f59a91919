// Children that throw, and groups that are cancelled, interrupted or left by an exception: what
// still runs, and what wait() throws.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "group_helpers.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;

class group_of_one : public testing::Test {
protected:
    // Runs `f` on the only worker. So no child begins before wait(), which then runs the newest
    // child first.
    template <class F>
    auto in_pool(F f) {
        return test::in_time(pool_.submit(std::move(f)));
    }
    thread_pool_executor pool_{test::of_size(1, test::stealing())};
    std::atomic<int> ran_{0};
};

TEST_F(group_of_one, throws_the_first_exception_and_does_not_begin_the_siblings) {
    in_pool([this] {
        task_group children{pool_};
        children.run([this] { ++ran_; });
        children.run([this] { ++ran_; });
        children.run([] { throw std::runtime_error("first"); });  // the newest, so the first to run
        EXPECT_EQ(test::what_of<std::runtime_error>([&] { children.wait(); }), "first");
        EXPECT_EQ(ran_, 0);
        EXPECT_FALSE(children.is_cancelled());
        children.run([this] { ++ran_; });
        children.wait();
        EXPECT_EQ(ran_, 1);
    });
}

TEST_F(group_of_one, keeps_the_first_of_two_exceptions) {
    test::gate thrown;
    test::gate started;
    thread_pool_executor two(test::of_size(2));
    task_group children{two};
    children.run([&] {
        started.open();
        thrown.wait();
        throw std::logic_error("second");
    });
    EXPECT_TRUE(started.opens());
    children.run([] { throw std::runtime_error("first"); });
    EXPECT_TRUE(test::eventually([&] { return children.is_cancelled(); }));
    thrown.open();
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { children.wait(); }), "first");
}

TEST_F(group_of_one, cancelled_never_begins_what_has_not_begun_and_destroys_it) {
    std::atomic<int> alive{0};
    in_pool([&] {
        task_group children{pool_};
        for (int i = 0; i < 3; ++i) {
            children.run([this, held = test::tracked{alive}] { ++ran_; });
        }
        children.cancel();
        EXPECT_TRUE(children.is_cancelled());
        children.run([this] { ++ran_; });  // a later child does not run either
        EXPECT_NO_THROW(children.wait());
        EXPECT_EQ(alive, 0);
        EXPECT_FALSE(children.is_cancelled());
    });
    EXPECT_EQ(ran_, 0);
}

TEST_F(group_of_one, cancelled_asks_the_child_that_runs_to_stop) {
    test::gate started;
    task_group children{pool_};
    children.run([&](std::stop_token stop) {
        started.open();
        EXPECT_TRUE(test::eventually([&] { return stop.stop_requested(); }));
    });
    ASSERT_TRUE(started.opens());
    children.cancel();
    children.wait();
    children.run([&](std::stop_token stop) { ran_ += stop.stop_requested() ? 100 : 1; });
    children.wait();
    EXPECT_EQ(ran_, 1);  // the stop token of the group was reset
}

TEST_F(group_of_one, fails_and_so_asks_the_sibling_that_runs_to_stop) {
    test::gate started;
    thread_pool_executor two(test::of_size(2));
    task_group children{two};
    children.run([&](const std::stop_token& stop) {
        started.open();
        EXPECT_TRUE(test::eventually([&] { return stop.stop_requested(); }));
    });
    children.run([&] {
        started.wait();
        throw std::runtime_error("stop them");
    });
    EXPECT_THROW(children.wait(), std::runtime_error);
}

TEST_F(group_of_one, interrupted_in_its_sleep_waits_for_all_and_throws_interrupted) {
    test::gate started;
    std::atomic<bool> ended{false};
    test::in_background waiter{[&] {
        task_group children{pool_};
        children.run([&](std::stop_token stop) {
            started.open();
            EXPECT_TRUE(test::eventually([&] { return stop.stop_requested(); }));
            ended = true;
        });
        EXPECT_TRUE(started.opens());  // otherwise this thread would run the child itself
        try {
            children.wait();
        } catch (const spool::interrupted&) {
            EXPECT_TRUE(ended);
            EXPECT_FALSE(children.is_cancelled());
            throw;
        }
    }};
    ASSERT_TRUE(started.opens());
    ASSERT_TRUE(waiter.falls_asleep());
    waiter.interrupt();
    ASSERT_TRUE(waiter.ends());
    EXPECT_TRUE(waiter.was_interrupted());
}

TEST_F(group_of_one, interrupted_while_it_runs_a_child_itself_begins_no_other) {
    spool::future<void> outer;
    test::gate handle_is_there;
    test::gate ended;
    std::atomic<bool> was_interrupted{false};
    outer = pool_.submit([&] {
        handle_is_there.wait();
        task_group children{pool_};
        children.run([this] { ++ran_; });
        children.run([&] { outer.cancel(); });  // the newest, so the first to run
        try {
            children.wait();
        } catch (const spool::interrupted&) {
            was_interrupted = true;
        }
        ended.open();
    });
    handle_is_there.open();
    ASSERT_TRUE(ended.opens());
    EXPECT_TRUE(was_interrupted);
    EXPECT_EQ(ran_, 0);
}

TEST_F(group_of_one, destroyed_waits_for_its_children) {
    {
        task_group children{pool_};
        children.run([this] {
            spool::this_task::sleep_for(test::short_delay());
            ++ran_;
        });
    }
    EXPECT_EQ(ran_, 1);
}

TEST_F(group_of_one, left_by_an_exception_cancels_its_children_first) {
    std::atomic<int> alive{0};
    in_pool([&] {
        try {
            task_group children{pool_};
            children.run([this, held = test::tracked{alive}] { ++ran_; });
            throw std::runtime_error("on the way");
        } catch (const std::runtime_error&) {
            EXPECT_EQ(alive, 0);
        }
    });
    EXPECT_EQ(ran_, 0);
}

TEST_F(group_of_one, destroyed_reports_an_exception_that_nobody_waited_for) {
    testing::internal::CaptureStderr();
    {
        task_group children{pool_};
        children.run([] { throw std::runtime_error("nobody asked"); });
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(test::contains(text, "nobody asked")) << text;
    EXPECT_TRUE(test::contains(text, "task_group")) << text;
}

TEST_F(group_of_one, refuses_an_empty_callable_and_says_who) {
    task_group children{pool_};
    const std::function<void()> none;
    EXPECT_EQ(test::what_of<std::invalid_argument>([&] { children.run(none); }),
              "task_group::run: empty callable");
    EXPECT_NO_THROW(children.wait());
}

TEST_F(group_of_one, goes_on_after_a_callable_whose_copy_throws) {
    struct thrower {
        thrower() = default;
        thrower(const thrower&) { throw std::runtime_error("no copy"); }
        void operator()() const {}
    };
    const thrower one;
    task_group children{pool_};
    children.run([this] { ++ran_; });
    EXPECT_EQ(test::what_of<std::runtime_error>([&] { children.run(one); }), "no copy");
    EXPECT_FALSE(children.is_cancelled());
    children.run([this] { ++ran_; });
    EXPECT_NO_THROW(children.wait());
    EXPECT_EQ(ran_, 2);
}

}  // namespace
