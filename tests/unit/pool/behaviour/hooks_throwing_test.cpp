// Hooks that throw: the exception goes to `uncaught`, the pool replaces the worker and carries on.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using steps = std::vector<std::string>;

// Each hook throws as many times as its counter says.
class throwing_hooks : public spool::pool_hooks {
public:
    void before_execute(const spool::task_info&) override { throw_if(before, "before"); }
    void after_execute(const spool::task_info&, const std::exception_ptr&) override {
        ++after_calls;
        throw_if(after, "after");
    }
    void worker_started(const spool::worker_info&) override {
        ++workers;
        throw_if(started, "started");
    }
    void worker_stopped(const spool::worker_info&) override {
        --workers;
        throw_if(stopped, "stopped");
    }
    void rejected(const spool::task_info&, spool::rejection_reason) override { throw_if(refused, "refused"); }
    void terminated() override {
        ++ends;
        throw_if(ended, "ended");
    }

    std::atomic<int> before{0};
    std::atomic<int> after{0};
    std::atomic<int> started{0};
    std::atomic<int> stopped{0};
    std::atomic<int> refused{0};
    std::atomic<int> ended{0};
    std::atomic<int> after_calls{0};
    std::atomic<int> workers{0};
    std::atomic<int> ends{0};

private:
    static void throw_if(std::atomic<int>& left, const char* what) {
        if (left > 0) {
            --left;
            throw std::runtime_error(what);
        }
    }
};

class pool_hooks_throwing : public testing::Test {
protected:
    const std::shared_ptr<throwing_hooks> hooks = std::make_shared<throwing_hooks>();
    test::record<std::string> reported;
    spool::thread_pool_executor pool{
        {.name = "t",
         .core_size = 1,
         .hooks = hooks,
         .uncaught = [this](const spool::worker_info& w, const std::exception_ptr& e) {
             reported.add(w.name + " " + spool::describe(e));
         }}};
};

}  // namespace

TEST_F(pool_hooks_throwing, before_execute_skips_body_and_after_and_counts_the_task_and_cancels_its_future) {
    hooks->before = 1;
    std::atomic<int> ran{0};
    const auto skipped = pool.submit([&ran] { ++ran; });
    EXPECT_THROW(skipped.get(), spool::cancelled);
    const std::string next_worker = pool.submit([] { return test::own_thread_name(); }).get();
    EXPECT_EQ(next_worker, "t-2");
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(hooks->after_calls, 1);  // for the second task
    EXPECT_EQ(pool.completed_task_count(), 2U);
    EXPECT_EQ(reported.all(), steps{"t-1 before"});
    EXPECT_EQ(hooks->workers, 0);
}

TEST_F(pool_hooks_throwing, before_execute_of_a_plain_task_destroys_it_unrun) {
    hooks->before = 1;
    std::atomic<int> ran{0};
    const auto token = std::make_shared<int>(0);
    pool.execute([&ran, token] { ++ran; });
    EXPECT_TRUE(test::eventually([&] { return token.use_count() == 1; }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(pool.completed_task_count(), 1U);
}

TEST_F(pool_hooks_throwing, before_execute_of_a_task_run_by_its_waiter_cancels_it_there) {
    std::atomic<int> ran{0};
    bool was_cancelled = false;
    pool.submit([&] {
            hooks->before = 1;
            const auto inner = pool.submit([&ran] { ++ran; });
            try {
                inner.get();
            } catch (const spool::cancelled&) {
                was_cancelled = true;
            }
        })
        .get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_TRUE(was_cancelled);
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(reported.all(), steps{"t-1 before"});
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST_F(pool_hooks_throwing, after_execute_keeps_the_result_and_replaces_the_worker) {
    hooks->after = 1;
    EXPECT_EQ(pool.submit([] { return 6; }).get(), 6);
    EXPECT_EQ(pool.submit([] { return test::own_thread_name(); }).get(), "t-2");
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(reported.all(), steps{"t-1 after"});
    EXPECT_EQ(pool.completed_task_count(), 2U);
    EXPECT_EQ(hooks->workers, 0);
}

TEST_F(pool_hooks_throwing, after_execute_and_body_are_both_reported) {
    hooks->after = 1;
    pool.execute([] { throw std::runtime_error("body"); });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(reported.count("t-1 after"), 1U);
    EXPECT_EQ(reported.count("t-1 body"), 1U);
    EXPECT_EQ(pool.completed_task_count(), 1U);
}

TEST_F(pool_hooks_throwing, worker_started_is_reported_and_the_task_still_runs) {
    hooks->started = 1;
    EXPECT_EQ(pool.submit([] { return 4; }).get(), 4);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(reported.all(), steps{"t-1 started"});
    EXPECT_EQ(hooks->workers, 0);
}

TEST_F(pool_hooks_throwing, worker_stopped_is_reported_and_the_pool_still_ends) {
    hooks->stopped = 1;
    pool.execute([] {});
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(reported.all(), steps{"t-1 stopped"});
    EXPECT_EQ(hooks->ends, 1);
}

TEST_F(pool_hooks_throwing, terminated_is_reported_and_the_state_still_ends_terminated) {
    hooks->ended = 1;
    pool.execute([] {});
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.state(), spool::run_state::terminated);
    EXPECT_EQ(hooks->ends, 1);
    EXPECT_EQ(reported.all(), steps{"t ended"});
}

TEST_F(pool_hooks_throwing, rejected_throws_to_the_submitter_and_harms_nothing) {
    pool.shutdown();
    hooks->refused = 1;
    EXPECT_THROW(pool.execute([] {}), std::runtime_error);
    EXPECT_THROW(pool.execute([] {}), spool::rejected_execution);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.rejected_count(), 2U);
}
