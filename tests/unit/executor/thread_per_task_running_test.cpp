// How thread_per_task_executor runs its tasks, and where their exceptions go.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "spool/executor/submit.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/gate.hpp"
#include "unit/executor/stderr_of.hpp"

namespace {

using spool::thread_per_task_executor;

TEST(thread_per_task_running, thread_count_is_the_number_of_running_tasks) {
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
