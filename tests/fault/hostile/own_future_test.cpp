// A task that waits for itself gets an exception that says so, instead of hanging for ever.
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/throws.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;

using handle = spool::future<void>;

struct way_to_wait {
    std::string name;
    std::function<void(const handle&)> wait;
};
std::vector<way_to_wait> ways_without_limit() {
    return {{"future::get", [](const handle& f) { f.get(); }},
            {"future::get", [](const handle& f) { f.get(std::stop_token{}); }},
            {"future::get", [](const handle& f) { handle{f}.get(); }},
            {"future::wait", [](const handle& f) { f.wait(); }},
            {"future::wait", [](const handle& f) { f.wait(std::stop_source{}.get_token()); }},
            {"future::wait_until", [](const handle& f) { (void)f.wait_until(spool::deadline::never()); }},
            {"future::get_for", [](const handle& f) { f.get_for(std::chrono::hours::max()); }}};
}

// Submits a task that knows its own future.
handle with_itself(spool::executor& where, std::function<void(const handle&)> body) {
    const auto self = std::make_shared<handle>();
    const auto known = std::make_shared<test::gate>();
    const handle mine = spool::submit(where, [=] {
        known->wait();
        body(*self);
    });
    *self = mine;
    known->open();
    return mine;
}

void expect_it_names_itself(const handle& mine, const std::string& call) {
    ASSERT_TRUE(mine.wait_for(test::long_delay()));
    EXPECT_EQ(
        test::what_of<std::logic_error>([&] {
            mine.get();
        }).rfind(call + ": the task would wait for itself: future of task " + std::to_string(mine.id()), 0),
        0U)
        << call;
}

TEST(own_future, waited_for_without_limit_is_a_logic_error_that_names_the_task) {
    thread_pool_executor pool({.core_size = 1});
    for (const way_to_wait& way : ways_without_limit()) {
        expect_it_names_itself(with_itself(pool, way.wait), way.name);
    }
}

TEST(own_future, waited_for_with_a_limit_times_out) {
    thread_pool_executor pool({.core_size = 1});
    const handle mine = with_itself(pool, [](const handle& self) {
        EXPECT_FALSE(self.wait_for(1ms));
        EXPECT_THROW(self.get_for(1ms), spool::timed_out);
        EXPECT_FALSE(self.is_done());
    });
    mine.get();
}

TEST(own_future, is_found_through_a_task_that_runs_inside_of_another) {
    thread_pool_executor pool({.core_size = 1});
    const handle outer = with_itself(pool, [&pool](const handle& self) {
        pool.submit([&self] { self.get(); }).get();  // runs here: there is only one worker
    });
    expect_it_names_itself(outer, "future::get");
}

TEST(own_future, is_found_behind_serial_and_other_executors) {
    thread_pool_executor pool({.core_size = 1});
    spool::serial_executor serial{pool};
    expect_it_names_itself(with_itself(serial, [](const handle& self) { self.wait(); }), "future::wait");
    spool::thread_per_task_executor threads;
    expect_it_names_itself(with_itself(threads, [](const handle& self) { self.wait(); }), "future::wait");
}

TEST(own_future, of_a_periodic_task_ends_its_series_with_that_error) {
    const auto self = std::make_shared<spool::scheduled_future<void>>();
    const auto known = std::make_shared<test::gate>();
    spool::scheduled_thread_pool_executor pool({.core_size = 1, .uncaught = test::quiet()});
    const auto series = pool.schedule_at_fixed_rate(
        [=] {
            known->wait();
            self->get();
        },
        0s, 1h, {.on_exception = spool::on_exception::stop});
    *self = series;
    known->open();
    ASSERT_TRUE(series.wait_for(test::long_delay()));
    EXPECT_THROW(series.get(), std::logic_error);
    *self = {};
}

TEST(own_future, of_another_task_that_runs_on_another_thread_can_be_waited_for) {
    test::gate release;
    thread_pool_executor pool({.core_size = 2});
    const test::open_at_end guard{release};
    const auto other = pool.submit([&release] { release.wait(); });
    const auto waiting = pool.submit([&other] { other.get(); });
    EXPECT_FALSE(waiting.wait_for(test::short_delay()));
    release.open();
    waiting.get();
}

// The runner destroys the callable before it completes the future, so no other thread could end the
// wait.
TEST(own_future, waited_for_by_the_destructor_of_its_callable_is_a_logic_error_too) {
    struct asks {
        std::shared_ptr<handle> self;
        std::shared_ptr<std::string> answer;
        asks(std::shared_ptr<handle> s, std::shared_ptr<std::string> a)
            : self(std::move(s)), answer(std::move(a)) {}
        asks(asks&&) noexcept = default;
        ~asks() {
            if (self != nullptr && self->valid()) {
                *answer = test::what_of<std::logic_error>([this] { self->wait(); });
            }
        }
        void operator()() const {}
    };
    const auto self = std::make_shared<handle>();
    const auto answer = std::make_shared<std::string>();
    auto [mine, work] = spool::future_task<void>{asks{self, answer}}.split();
    *self = mine;
    work();
    EXPECT_TRUE(test::contains(*answer, "the task would wait for itself")) << *answer;
    *self = {};
}

TEST(own_future, destroyed_by_its_own_task_as_the_last_handle_is_harmless) {
    thread_pool_executor pool({.core_size = 1});
    for (int i = 0; i < 100; ++i) {
        const auto self = std::make_shared<handle>();
        const auto known = std::make_shared<test::gate>();
        *self = pool.submit([self, known] {
            known->wait();
            *self = {};
        });
        known->open();
    }
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 100U);
}

}  // namespace
