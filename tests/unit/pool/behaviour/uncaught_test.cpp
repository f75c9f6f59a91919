// What happens to exceptions that leave a task given to execute().
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using steps = std::vector<std::string>;

// Runs one task that throws, in a pool with this policy. For death tests: it must not return.
void throw_under(spool::uncaught_policy policy) {
    spool::thread_pool_executor pool({.name = "doomed", .core_size = 1, .uncaught = std::move(policy)});
    pool.execute([] { throw std::runtime_error("thrown on purpose"); });
    pool.close();
}

}  // namespace

TEST(pool_uncaught, is_reported_in_one_line_with_pool_thread_and_what) {
    testing::internal::CaptureStderr();
    {
        spool::thread_pool_executor pool({.name = "report", .core_size = 1});
        pool.execute([] { throw std::runtime_error("disk full"); });
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "spool: uncaught exception in pool \"report\", thread report-1: disk full\n");
}

TEST(pool_uncaught, reports_an_exception_that_is_no_std_exception_too) {
    testing::internal::CaptureStderr();
    {
        spool::thread_pool_executor pool({.name = "odd", .core_size = 1});
        pool.execute([] { throw 17; });
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(test::contains(text, "\"odd\", thread odd-1: ")) << text;
}

TEST(pool_uncaught, says_nothing_about_what_a_future_keeps) {
    testing::internal::CaptureStderr();
    {
        spool::thread_pool_executor pool({.core_size = 1});
        EXPECT_THROW(pool.submit([] { throw std::logic_error("kept"); }).get(), std::logic_error);
        // The worker was not replaced.
        EXPECT_EQ(pool.submit([] { return test::own_thread_name(); }).get(), "pool-1");
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(pool_uncaught, goes_to_a_handler_on_the_worker_instead) {
    test::record<std::string> handled;
    testing::internal::CaptureStderr();
    {
        spool::thread_pool_executor pool(
            {.name = "hand",
             .core_size = 1,
             .uncaught = [&](const spool::worker_info& w, const std::exception_ptr& e) {
                 handled.add(w.pool + " " + w.name + " " + test::own_thread_name() + " " +
                             spool::describe(e));
             }});
        pool.execute([] { throw std::runtime_error("first"); });
        pool.execute([] { throw std::runtime_error("second"); });
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(handled.all(), (steps{"hand hand-1 hand-1 first", "hand hand-2 hand-2 second"}));
}

TEST(pool_uncaught, a_handler_that_throws_is_reported_and_the_pool_goes_on) {
    testing::internal::CaptureStderr();
    {
        spool::thread_pool_executor pool(
            {.name = "worse",
             .core_size = 1,
             .uncaught = [](const spool::worker_info&, const std::exception_ptr&) {
                 throw std::runtime_error("handler broke");
             }});
        pool.execute([] { throw std::runtime_error("task broke"); });
        EXPECT_EQ(pool.submit([] { return 2; }).get(), 2);
    }
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(test::contains(text, "\"worse\"") && test::contains(text, "handler broke")) << text;
}

TEST(pool_uncaught, replaces_the_worker_by_another_thread) {
    spool::thread_pool_executor pool({.name = "again", .core_size = 1, .uncaught = test::quiet()});
    for (int i = 1; i <= 5; ++i) {
        const auto name = pool.submit([] { return test::own_thread_name(); });
        EXPECT_EQ(name.get(), "again-" + std::to_string(i));
        pool.execute([] { throw std::runtime_error("on purpose"); });
    }
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 10U);
}

// A worker's slot passes to its successor, so the pool never has more workers than its maximum.
TEST(pool_uncaught, a_replacement_does_not_count_as_growth) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .uncaught = test::quiet()});
    for (int i = 0; i < 5; ++i) {
        pool.execute([] { throw std::runtime_error("on purpose"); });
    }
    pool.submit([] {}).get();
    EXPECT_EQ(pool.pool_size(), 1U);
    EXPECT_EQ(pool.largest_pool_size(), 1U);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_uncaught, every_queued_task_runs_although_each_one_throws) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 2, .uncaught = test::quiet()});
    for (int i = 0; i < 100; ++i) {
        pool.execute([&ran] {
            ++ran;
            throw std::runtime_error("on purpose");
        });
    }
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(pool.completed_task_count(), 100U);
}

TEST(pool_uncaught, interrupted_after_a_stop_request_is_a_normal_end) {
    std::atomic<int> reports{0};
    test::gate started;
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .uncaught = [&](const spool::worker_info&, const std::exception_ptr&) { ++reports; }});
    pool.execute([&] {
        started.open();
        spool::this_task::sleep_for(1h);
    });
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(reports, 0);
}

TEST(pool_uncaught, interrupted_without_a_stop_request_is_uncaught) {
    test::record<std::string> handled;
    spool::thread_pool_executor pool(
        {.core_size = 1, .uncaught = [&](const spool::worker_info&, const std::exception_ptr& e) {
             handled.add(spool::describe(e));
         }});
    pool.execute([] { throw spool::interrupted("by nobody"); });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(handled.all(), steps{"by nobody"});
}

TEST(pool_uncaught, only_the_policy_terminate_says_that_it_ends_the_process) {
    EXPECT_TRUE(spool::uncaught_policy::terminate().terminates());
    EXPECT_FALSE(spool::uncaught_policy::report().terminates());
    EXPECT_FALSE(spool::uncaught_policy{}.terminates());
}

TEST(pool_uncaught, terminate_lets_tasks_run_that_throw_nothing) {
    spool::thread_pool_executor pool({.core_size = 1, .uncaught = spool::uncaught_policy::terminate()});
    int runs = 0;
    pool.execute([&] { ++runs; });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(runs, 1);
}

TEST(pool_uncaught_death, terminate_ends_the_process_naming_what_was_thrown) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "death tests and ThreadSanitizer do not go together";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(throw_under(spool::uncaught_policy::terminate()), "thrown on purpose");
}

TEST(pool_uncaught_death, terminate_leaves_interrupted_after_a_stop_request_a_normal_end) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "death tests and ThreadSanitizer do not go together";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto stop_a_sleeper = [] {
        test::gate started;
        spool::thread_pool_executor pool({.core_size = 1, .uncaught = spool::uncaught_policy::terminate()});
        pool.execute([&] {
            started.open();
            spool::this_task::sleep_for(1h);
        });
        static_cast<void>(started.opens());
        static_cast<void>(pool.shutdown_now());
        pool.close();
        std::_Exit(0);
    };
    EXPECT_EXIT(stop_a_sleeper(), testing::ExitedWithCode(0), "");
}
