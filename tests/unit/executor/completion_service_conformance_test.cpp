// What ExecutorCompletionService guarantees.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/executor/completion_service.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using namespace std::chrono_literals;
using spool::completion_service;
using strings = completion_service<std::string>;
using string_queue = spool::linked_blocking_queue<spool::future<std::string>>;

TEST(completion_service, ECS_001_it_cannot_be_made_without_an_executor) {
    static_assert(std::constructible_from<strings, spool::executor&>);
    static_assert(!std::constructible_from<strings>);
    static_assert(!std::constructible_from<strings, std::nullptr_t>);
    static_assert(!std::constructible_from<strings, spool::executor*>);
    static_assert(!std::constructible_from<strings, std::nullptr_t, std::shared_ptr<string_queue>>);
}

TEST(completion_service, ECS_002_a_null_queue_is_refused) {
    spool::thread_per_task_executor threads;
    const auto make = [&] { const strings made(threads, nullptr); };
    EXPECT_EQ(test::what_of<std::invalid_argument>(make), "completion_service: the queue is null");
}

TEST(completion_service, ECS_003_an_empty_function_is_refused) {
    spool::thread_per_task_executor threads;
    strings done{threads};
    EXPECT_THROW(done.submit(std::function<std::string()>{}), std::invalid_argument);
    EXPECT_FALSE(done.poll().has_value());
}

TEST(completion_service, ECS_004_an_empty_action_with_a_value_is_refused) {
    spool::thread_per_task_executor threads;
    strings done{threads};
    EXPECT_THROW(done.submit(std::function<void()>{}, "value"), std::invalid_argument);
    EXPECT_FALSE(done.poll().has_value());
}

TEST(completion_service, ECS_005_take_returns_a_future_that_is_done_and_holds_the_value) {
    spool::thread_per_task_executor threads;
    strings done{threads};
    (void)done.submit([] { return "value"; });
    const spool::future<std::string> f = done.take();
    EXPECT_TRUE(f.is_done());
    EXPECT_EQ(f.get(), "value");
}

TEST(completion_service, ECS_006_take_returns_the_future_that_submit_returned) {
    spool::thread_per_task_executor threads;
    strings done{threads};
    const spool::future<std::string> submitted = done.submit([] { return "value"; });
    EXPECT_EQ(done.take(), submitted);
}

TEST(completion_service, ECS_007_poll_returns_nothing_before_a_submission_and_later_a_done_future) {
    spool::thread_per_task_executor threads;
    strings done{threads};
    EXPECT_FALSE(done.poll().has_value());
    (void)done.submit([] { return "value"; });
    std::optional<spool::future<std::string>> f;
    EXPECT_TRUE(test::eventually([&] {
        f = done.poll();
        return f.has_value();
    }));
    EXPECT_TRUE(f->is_done());
    EXPECT_EQ(f->get(), "value");
}

TEST(completion_service, ECS_008_timed_poll_times_out_or_returns_a_done_future) {
    spool::thread_per_task_executor threads;
    strings done{threads};
    EXPECT_FALSE(done.poll_for(0ns).has_value());
    (void)done.submit([] { return "value"; });
    std::optional<spool::future<std::string>> f;
    EXPECT_TRUE(test::eventually([&] {
        const auto took = test::time_of([&] { f = done.poll_for(test::short_delay()); });
        EXPECT_TRUE(f.has_value() || took >= test::short_delay());
        return f.has_value();
    }));
    EXPECT_TRUE(f->is_done());
    EXPECT_EQ(f->get(), "value");
}

TEST(completion_service, ECS_009_polls_give_nothing_while_the_only_task_is_blocked) {
    test::gate release;
    spool::thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    strings done{threads};
    (void)done.submit([&] {
        release.wait();
        return "value";
    });
    EXPECT_FALSE(done.poll().has_value());
    EXPECT_FALSE(done.poll_for(0ns).has_value());
    EXPECT_FALSE(done.poll_for(std::chrono::nanoseconds::min()).has_value());
    const auto took = test::time_of([&] { EXPECT_FALSE(done.poll_for(test::short_delay()).has_value()); });
    EXPECT_GE(took, test::short_delay());
    release.open();
    EXPECT_EQ(done.take().get(), "value");
}

TEST(completion_service, ECS_010_good_and_failed_tasks_all_come_out_with_their_own_outcome) {
    spool::thread_per_task_executor threads;
    strings done{threads};
    const std::exception_ptr thrown = std::make_exception_ptr(std::domain_error{"bad"});
    for (int round = 0; round < 2; ++round) {
        (void)done.submit([] { return "good"; });
        (void)done.submit([&]() -> std::string { std::rethrow_exception(thrown); });
        (void)done.submit([&] { std::rethrow_exception(thrown); }, "never brought");
    }
    int normal = 0;
    int failed = 0;
    for (int i = 0; i < 6; ++i) {
        const spool::future<std::string> f = done.take();
        if (f.state() == spool::future_state::succeeded) {
            EXPECT_EQ(f.get(), "good");
            ++normal;
        } else {
            EXPECT_EQ(f.exception_now(), thrown);
            ++failed;
        }
    }
    EXPECT_EQ(normal, 2);
    EXPECT_EQ(failed, 4);
    EXPECT_FALSE(done.poll().has_value());
}

// A decorator that takes a while after the body. A take() that does not wait for it returns too
// early.
spool::task_decorator counting_after_the_body(std::atomic<int>& after) {
    return [&after](spool::task body) -> spool::task {
        return [&after, body = std::move(body)]() mutable {
            body();
            spool::this_task::sleep_for(test::short_delay());
            ++after;
        };
    };
}

TEST(completion_service, ECS_011_take_returns_after_the_decorator_of_a_function_has_finished) {
    std::atomic<int> after{0};
    spool::thread_per_task_executor threads;
    test::decorated_executor decorated{threads, counting_after_the_body(after)};
    strings done{decorated};
    const spool::future<std::string> submitted = done.submit([] { return "value"; });
    const spool::future<std::string> taken = done.take();
    EXPECT_EQ(after, 1);
    EXPECT_EQ(taken, submitted);
    EXPECT_EQ(taken.get(), "value");
}

TEST(completion_service, ECS_012_take_returns_after_the_decorator_of_an_action_has_finished) {
    std::atomic<int> after{0};
    std::atomic<bool> ran{false};
    spool::thread_per_task_executor threads;
    test::decorated_executor decorated{threads, counting_after_the_body(after)};
    strings done{decorated};
    const spool::future<std::string> submitted = done.submit([&] { ran = true; }, "value");
    const spool::future<std::string> taken = done.take();
    EXPECT_EQ(after, 1);
    EXPECT_TRUE(ran);
    EXPECT_EQ(taken, submitted);
    EXPECT_EQ(taken.get(), "value");
}

using solver = std::function<std::optional<int>()>;

TEST(completion_service, ECS_013_taking_as_often_as_submitted_collects_every_answer) {
    spool::thread_per_task_executor threads;
    completion_service<std::optional<int>> done{threads};
    const std::vector<std::optional<int>> answers{std::nullopt, 1, 2, 3, std::nullopt};
    for (const auto& answer : answers) {
        (void)done.submit([answer] { return answer; });
    }
    std::vector<int> found;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (const std::optional<int> answer = done.take().get()) {
            found.push_back(*answer);
        }
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, (std::vector<int>{1, 2, 3}));
    EXPECT_FALSE(done.poll().has_value());
}

TEST(completion_service, ECS_014_the_first_answer_can_be_used_and_the_rest_cancelled) {
    spool::thread_per_task_executor threads;
    completion_service<std::optional<int>> done{threads};
    const std::vector<solver> solvers{[]() -> std::optional<int> { throw std::domain_error{"bad"}; },
                                      []() -> std::optional<int> { return std::nullopt; },
                                      []() -> std::optional<int> { return 1; },
                                      []() -> std::optional<int> { return 2; }};
    std::vector<spool::future<std::optional<int>>> all;
    for (const solver& s : solvers) {
        all.push_back(done.submit(s));
    }
    std::optional<int> first;
    for (std::size_t i = 0; i < solvers.size() && !first.has_value(); ++i) {
        const auto f = done.take();
        if (f.state() == spool::future_state::succeeded) {
            first = f.get();
        }
    }
    for (const auto& f : all) {
        f.cancel(spool::cancel_mode::interrupt);
        EXPECT_TRUE(f.is_done());
    }
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(first == 1 || first == 2);
}

}  // namespace
