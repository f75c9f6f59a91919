// How thread_per_task_executor runs its tasks, and where their exceptions go.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "spool/executor/submit.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "spool/sync/this_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"
#include "unit/executor/stderr_of.hpp"

namespace {

using spool::thread_per_task_executor;

TEST(thread_per_task_running, two_tasks_run_at_the_same_time) {
    test::gate first_runs;
    test::gate second_runs;
    std::atomic<int> met{0};
    {
        thread_per_task_executor threads;
        threads.execute([&] {
            first_runs.open();
            met += second_runs.opens() ? 1 : 0;
        });
        threads.execute([&] {
            second_runs.open();
            met += first_runs.opens() ? 1 : 0;
        });
    }
    EXPECT_EQ(met, 2);
}

TEST(thread_per_task_running, each_task_has_a_thread_of_its_own) {
    thread_per_task_executor threads;
    const auto where = threads.submit([] { return std::this_thread::get_id(); });
    EXPECT_NE(where.get(), std::this_thread::get_id());
}

TEST(thread_per_task_running, thread_count_says_how_many_tasks_run) {
    test::gate release;
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    EXPECT_EQ(threads.thread_count(), 0U);
    for (int i = 0; i < 3; ++i) {
        threads.execute([&] { release.wait(); });
    }
    EXPECT_EQ(threads.thread_count(), 3U);
    release.open();
    threads.close();
    EXPECT_EQ(threads.thread_count(), 0U);
}

TEST(thread_per_task_running, what_came_before_execute_is_visible_to_the_task) {
    int plain = 0;
    int seen = 0;
    {
        thread_per_task_executor threads;
        plain = 7;
        threads.execute([&] { seen = plain; });
    }
    EXPECT_EQ(seen, 7);
}

TEST(thread_per_task_running, the_callable_is_destroyed_before_its_task_counts_as_ended) {
    std::atomic<int> alive{0};
    thread_per_task_executor threads;
    for (int i = 0; i < 10; ++i) {
        threads.execute([guard = test::tracked{alive}] {});
    }
    threads.shutdown();
    ASSERT_TRUE(threads.await_termination(test::long_delay()));
    EXPECT_EQ(alive, 0);
}

TEST(thread_per_task_running, an_empty_task_is_refused_by_name) {
    thread_per_task_executor threads;
    const auto run = [&] { threads.execute(std::function<void()>{}); };
    EXPECT_EQ(test::what_of<std::invalid_argument>(run), "thread_per_task_executor: empty callable");
    EXPECT_EQ(threads.thread_count(), 0U);
}

TEST(thread_per_task_running, a_task_exception_is_one_line_on_stderr_with_executor_and_what) {
    const std::string text = test::stderr_of([] {
        thread_per_task_executor threads{"io"};
        threads.execute([] { throw std::domain_error{"disk full"}; });
    });
    EXPECT_EQ(text, "spool: uncaught exception in thread_per_task_executor \"io\": disk full\n");
}

TEST(thread_per_task_running, an_exception_of_another_type_is_reported_too) {
    const std::string text = test::stderr_of([] {
        thread_per_task_executor threads{"io"};
        threads.execute([] { throw 7; });
    });
    EXPECT_EQ(text, "spool: uncaught exception in thread_per_task_executor \"io\": "
                    "an exception that is no std::exception\n");
}

TEST(thread_per_task_running, an_exception_of_a_submitted_task_goes_into_its_future_only) {
    const std::string text = test::stderr_of([] {
        thread_per_task_executor threads;
        EXPECT_THROW(threads.submit([] { throw std::domain_error{"disk full"}; }).get(), std::domain_error);
    });
    EXPECT_EQ(text, "");
}

TEST(thread_per_task_running, interrupted_leaving_a_stopped_task_is_silent) {
    test::gate running;
    const std::string text = test::stderr_of([&] {
        thread_per_task_executor threads;
        threads.execute([&] {
            running.open();
            spool::this_task::sleep_for(test::long_delay());
        });
        EXPECT_TRUE(running.opens());
        threads.shutdown_now();
    });
    EXPECT_EQ(text, "");
}

TEST(thread_per_task_running, interrupted_leaving_a_task_that_was_not_stopped_is_reported) {
    const std::string text = test::stderr_of([] {
        thread_per_task_executor threads{"io"};
        threads.execute([] { throw spool::interrupted{"by hand"}; });
    });
    EXPECT_EQ(text, "spool: uncaught exception in thread_per_task_executor \"io\": by hand\n");
}

TEST(thread_per_task_running, another_exception_leaving_a_stopped_task_is_reported) {
    test::gate running;
    const std::string text = test::stderr_of([&] {
        thread_per_task_executor threads{"io"};
        threads.execute([&](std::stop_token stop) {
            running.open();
            while (!stop.stop_requested()) {
                std::this_thread::yield();
            }
            throw std::domain_error{"disk full"};
        });
        EXPECT_TRUE(running.opens());
        threads.shutdown_now();
    });
    EXPECT_EQ(text, "spool: uncaught exception in thread_per_task_executor \"io\": disk full\n");
}

TEST(thread_per_task_running, cancelling_a_future_stops_its_task_and_no_other) {
    test::gate first_runs;
    test::gate release;
    test::gate stopped;
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    const auto other = threads.submit([&] {
        release.wait();
        return spool::this_task::stop_requested();
    });
    const auto first = threads.submit([&](std::stop_token stop) {
        const std::stop_callback on_stop{stop, [&] { stopped.open(); }};
        first_runs.open();
        release.wait();
    });
    ASSERT_TRUE(first_runs.opens());
    EXPECT_TRUE(first.cancel());
    EXPECT_TRUE(stopped.is_open());
    release.open();
    EXPECT_FALSE(other.get());
}

/// Calls the executor whenever it is moved, run or destroyed.
class asking {
public:
    explicit asking(const spool::thread_per_task_executor& threads) : threads_(&threads) {}
    asking(asking&& other) noexcept : threads_(other.threads_) { ask(); }
    asking& operator=(asking&&) = delete;
    ~asking() { ask(); }
    void operator()() const { ask(); }

private:
    void ask() const { static_cast<void>(threads_->is_shutdown()); }
    const spool::thread_per_task_executor* threads_;
};

TEST(thread_per_task_running, a_callable_may_call_the_executor_while_it_is_moved_and_destroyed) {
    spool::thread_per_task_executor threads;
    threads.execute(asking{threads});
    spool::submit(threads, asking{threads}).get();
    threads.shutdown();
    EXPECT_THROW(threads.execute(asking{threads}), spool::rejected_execution);
}

}  // namespace
