// submit on an executor with a decorator: the decorator wraps the body inside the future.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/executor/direct_executor.hpp"
#include "spool/executor/invoke.hpp"
#include "spool/executor/submit.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using spool::task;
using test::decorated_executor;

task run_as_it_is(task body) {
    return [body = std::move(body)]() mutable { body(); };
}

TEST(submit_decorator, the_wrapper_surrounds_the_body_and_ends_before_the_future_is_done) {
    std::vector<std::string> events;
    spool::future<int> f;
    test::manual_service held;
    decorated_executor where{held, [&](task body) -> task {
                                 return [&, body = std::move(body)]() mutable {
                                     events.push_back("before");
                                     body();
                                     events.push_back(f.is_done() ? "after, too late" : "after");
                                 };
                             }};
    f = spool::submit(where, [&] {
        events.push_back("body");
        return 7;
    });
    f.on_done([&] { events.push_back("done"); });
    held.run_all();
    EXPECT_EQ(events, (std::vector<std::string>{"before", "body", "after", "done"}));
    EXPECT_EQ(f.get(), 7);
}

TEST(submit_decorator, is_called_once_for_each_task_that_becomes_a_future_and_never_for_a_plain_one) {
    int decorated = 0;
    spool::direct_executor here;
    decorated_executor where{here, [&](task body) {
                                 ++decorated;
                                 return body;
                             }};
    where.execute([] {});
    EXPECT_EQ(decorated, 0);
    spool::submit(where, [] {}).get();
    EXPECT_EQ(spool::submit(
                  where, [] {}, 7)
                  .get(),
              7);
    EXPECT_EQ(decorated, 2);
    const std::vector<std::function<int()>> two(2, [] { return 1; });
    EXPECT_EQ(spool::invoke_all(where, two).size(), 2U);
    EXPECT_EQ(spool::invoke_any(where, two), 1);
    EXPECT_EQ(decorated, 6);
}

TEST(submit_decorator, an_exception_of_the_body_passes_through_the_wrapper_into_the_future) {
    bool seen = false;
    spool::direct_executor here;
    decorated_executor where{here, [&](task body) -> task {
                                 return [&, body = std::move(body)]() mutable {
                                     try {
                                         body();
                                     } catch (const std::domain_error&) {
                                         seen = true;
                                         throw;
                                     }
                                 };
                             }};
    const auto f = spool::submit(where, []() -> int { throw std::domain_error{"disk full"}; });
    EXPECT_EQ(test::what_of<std::domain_error>([&] { f.get(); }), "disk full");
    EXPECT_TRUE(seen);
}

TEST(submit_decorator, an_exception_of_the_wrapper_after_the_body_fails_the_future) {
    spool::direct_executor here;
    decorated_executor where{here, [](task body) -> task {
                                 return [body = std::move(body)]() mutable {
                                     body();
                                     throw std::domain_error{"wrapper"};
                                 };
                             }};
    const auto f = spool::submit(where, [] { return 7; });
    EXPECT_EQ(test::what_of<std::domain_error>([&] { f.get(); }), "wrapper");
}

TEST(submit_decorator, a_decorator_that_throws_makes_submit_throw_and_nothing_is_executed) {
    std::atomic<int> alive{0};
    test::manual_service held;
    decorated_executor where{held, [](task) -> task { throw std::domain_error{"decorator"}; }};
    EXPECT_THROW((void)spool::submit(where, [guard = test::tracked{alive}] {}), std::domain_error);
    EXPECT_EQ(held.held(), 0U);
    EXPECT_EQ(alive, 0);
}

TEST(submit_decorator, a_decorator_that_returns_an_empty_task_is_refused_and_nothing_is_executed) {
    test::manual_service held;
    decorated_executor where{held, [](task) { return task{}; }};
    const auto run = [&] { (void)spool::submit(where, [] { return 7; }); };
    EXPECT_EQ(test::what_of<std::invalid_argument>(run),
              "submit: the executor's decorator returned an empty task");
    EXPECT_EQ(held.held(), 0U);
}

TEST(submit_decorator, a_wrapper_that_never_runs_the_body_makes_get_throw_cancelled) {
    std::atomic<int> alive{0};
    spool::direct_executor here;
    decorated_executor where{here, [](task) -> task { return [] {}; }};
    const auto value = spool::submit(where, [guard = test::tracked{alive}] { return 7; });
    EXPECT_THROW(value.get(), spool::cancelled);
    const auto nothing = spool::submit(where, [] {});
    EXPECT_THROW(nothing.get(), spool::cancelled);
    EXPECT_EQ(alive, 0);
}

TEST(submit_decorator, an_empty_callable_is_refused_before_the_decorator_is_asked) {
    int asked = 0;
    spool::direct_executor here;
    decorated_executor where{here, [&](task body) {
                                 ++asked;
                                 return body;
                             }};
    EXPECT_THROW((void)spool::submit(where, std::function<int()>{}), std::invalid_argument);
    EXPECT_THROW((void)spool::submit(where, std::function<void()>{}, 7), std::invalid_argument);
    EXPECT_EQ(asked, 0);
}

TEST(submit_decorator, results_that_can_only_be_moved_come_through) {
    spool::direct_executor here;
    decorated_executor where{here, run_as_it_is};
    auto f = spool::submit(where, [p = std::make_unique<int>(7)]() mutable { return std::move(p); });
    EXPECT_EQ(*std::move(f).get(), 7);
}

TEST(submit_decorator, references_come_through_as_the_same_object) {
    int object = 7;
    const int constant = 8;
    spool::direct_executor here;
    decorated_executor where{here, run_as_it_is};
    const spool::future<int&> f = spool::submit(where, [&]() -> int& { return object; });
    EXPECT_EQ(&f.get(), &object);
    const spool::future<const int&> g = spool::submit(where, [&]() -> const int& { return constant; });
    EXPECT_EQ(&g.get(), &constant);
}

TEST(submit_decorator, an_action_without_a_result_completes) {
    bool ran = false;
    spool::direct_executor here;
    decorated_executor where{here, run_as_it_is};
    const spool::future<void> f = spool::submit(where, [&] { ran = true; });
    EXPECT_NO_THROW(f.get());
    EXPECT_TRUE(ran);
}

TEST(submit_decorator, cancelling_the_future_stops_the_decorated_body) {
    test::gate running;
    test::gate stopped;
    spool::thread_per_task_executor threads;
    decorated_executor where{threads, run_as_it_is};
    const auto f = spool::submit(where, [&](std::stop_token stop) {
        running.open();
        test::gate woken;
        const std::stop_callback on_stop{stop, [&] { woken.open(); }};
        if (woken.opens()) {
            stopped.open();
        }
    });
    ASSERT_TRUE(running.opens());
    EXPECT_TRUE(f.cancel());
    EXPECT_TRUE(stopped.opens());
}

TEST(submit_decorator, cancelling_before_the_start_destroys_wrapper_and_body) {
    std::atomic<int> alive{0};
    test::manual_service held;
    decorated_executor where{held, run_as_it_is};
    const auto f = spool::submit(where, [guard = test::tracked{alive}] { return 7; });
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(f.cancel());
    EXPECT_EQ(alive, 0);
    held.run_all();
    EXPECT_TRUE(f.is_cancelled());
}

}  // namespace
