// Several answers to a wait hold at once: an available result comes first, then the stop, then the
// time-out.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "future_checks.hpp"
#include "spool/detail/task_scope.hpp"
#include "spool/future/future_task.hpp"
#include "support/throws.hpp"

namespace {

using spool::future;
using spool::future_task;
using std::chrono::nanoseconds;

struct named_wait {
    std::string name;
    std::function<void(const future<int>&)> wait;
};

// Turns a boolean answer into what get_for() does.
void in_time(bool done) {
    if (!done) {
        throw spool::timed_out("answered false");
    }
}

std::vector<named_wait> waits_with(const std::stop_token& stop) {
    return {
        {"get", [=](const future<int>& f) { f.get(stop); }},
        {"get&&", [=](const future<int>& f) { future<int>{f}.get(stop); }},
        {"get_for", [=](const future<int>& f) { f.get_for(nanoseconds{0}, stop); }},
        {"get_for&&", [=](const future<int>& f) { future<int>{f}.get_for(nanoseconds{0}, stop); }},
        {"get_for long", [=](const future<int>& f) { f.get_for(test::long_delay(), stop); }},
        {"wait", [=](const future<int>& f) { f.wait(stop); }},
        {"wait_for", [=](const future<int>& f) { in_time(f.wait_for(nanoseconds{-1}, stop)); }},
        {"wait_for long", [=](const future<int>& f) { in_time(f.wait_for(test::long_delay(), stop)); }},
    };
}

std::vector<named_wait> plain_waits() {
    return {
        {"get", [](const future<int>& f) { f.get(); }},
        {"get&&", [](const future<int>& f) { future<int>{f}.get(); }},
        {"get_for", [](const future<int>& f) { f.get_for(nanoseconds{0}); }},
        {"get_for&&", [](const future<int>& f) { future<int>{f}.get_for(nanoseconds{0}); }},
        {"get_for long", [](const future<int>& f) { f.get_for(test::long_delay()); }},
        {"wait", [](const future<int>& f) { f.wait(); }},
        {"wait_for", [](const future<int>& f) { in_time(f.wait_for(nanoseconds{-1})); }},
        {"wait_for long", [](const future<int>& f) { in_time(f.wait_for(test::long_delay())); }},
        {"wait_until",
         [](const future<int>& f) { in_time(f.wait_until(spool::deadline::after(nanoseconds{0}))); }},
    };
}

void expect_answers(const std::vector<named_wait>& waits, const future<int>& f, const std::string& answer) {
    for (const named_wait& w : waits) {
        EXPECT_EQ(test::answer_of([&] { w.wait(f); }), answer) << w.name;
    }
}

future<int> finished() {
    future_task<int> t{[] { return 7; }};
    t.run();
    return t;
}

std::stop_token stopped_token() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}

}  // namespace

TEST(future_wait_answers, a_result_that_is_there_comes_before_a_given_stop) {
    expect_answers(waits_with(stopped_token()), finished(), "ready");
}

TEST(future_wait_answers, a_result_that_is_there_comes_before_the_stop_of_the_current_task) {
    spool::task_scope scope;
    scope.interrupt().request_stop();
    expect_answers(plain_waits(), finished(), "ready");
}

TEST(future_wait_answers, a_given_stop_comes_before_the_time_out) {
    const future_task<int> t{[] { return 7; }};
    expect_answers(waits_with(stopped_token()), t, "interrupted");
    EXPECT_FALSE(t.is_done());
}

TEST(future_wait_answers, the_stop_of_the_current_task_comes_before_the_time_out) {
    const future_task<int> t{[] { return 7; }};
    spool::task_scope scope;
    scope.interrupt().request_stop();
    expect_answers(plain_waits(), t, "interrupted");
    EXPECT_FALSE(t.is_done());
}

TEST(future_wait_answers, a_given_token_takes_the_place_of_the_current_task) {
    const future_task<int> t{[] { return 7; }};
    spool::task_scope scope;
    scope.interrupt().request_stop();
    EXPECT_THROW(t.get_for(nanoseconds{0}, std::stop_token{}), spool::timed_out);
    EXPECT_FALSE(t.wait_for(nanoseconds{0}, std::stop_source{}.get_token()));
}

TEST(future_wait_answers, outside_of_any_task_a_plain_wait_has_no_stop) {
    const future_task<int> t{[] { return 7; }};
    EXPECT_THROW(t.get_for(nanoseconds{0}), spool::timed_out);
    EXPECT_FALSE(t.wait_for(nanoseconds{0}));
}

TEST(future_wait_answers, a_stop_while_waiting_ends_every_kind_of_wait) {
    const future_task<int> t{[] { return 7; }};
    std::stop_source source;
    const std::stop_token stop = source.get_token();
    const test::waiter get{[&] { t.get(stop); }};
    const test::waiter get_for{[&] { t.get_for(test::long_delay(), stop); }};
    const test::waiter wait{[&] { t.wait(stop); }};
    const test::waiter wait_for{[&] { in_time(t.wait_for(test::long_delay(), stop)); }};
    source.request_stop();
    EXPECT_EQ(get.answer(), "interrupted");
    EXPECT_EQ(get_for.answer(), "interrupted");
    EXPECT_EQ(wait.answer(), "interrupted");
    EXPECT_EQ(wait_for.answer(), "interrupted");
    EXPECT_FALSE(t.is_done());
}

TEST(future_wait_answers, cancelling_the_waiting_task_interrupts_its_wait_and_not_the_future) {
    const future_task<int> awaited{[] { return 7; }};
    test::gate running;
    std::string answer;
    future_task<void> waiting{[&] {
        running.open();
        answer = test::answer_of([&] { awaited.get(); });
    }};
    std::jthread runner{[&] { waiting.run(); }};
    running.wait();
    EXPECT_TRUE(waiting.cancel());
    runner.join();
    EXPECT_EQ(answer, "interrupted");
    EXPECT_FALSE(awaited.is_done());
}

TEST(future_wait_answers, name_the_call_and_the_future) {
    const future_task<int> t{[] { return 7; }};
    const std::string task = "future of task " + std::to_string(t.id());
    const std::string late = test::what_of<spool::timed_out>([&] { t.get_for(nanoseconds{0}); });
    EXPECT_TRUE(late.starts_with("future::get_for: ")) << late;
    EXPECT_NE(late.find(task), std::string::npos) << late;
    for (const auto& [name, wait] : waits_with(stopped_token())) {
        const std::string text = test::what_of<spool::interrupted>([&] { wait(t); });
        const std::string call = name.substr(0, name.find_first_of("& "));
        EXPECT_TRUE(text.starts_with("future::" + call + ": ")) << text;
        EXPECT_NE(text.find(task), std::string::npos) << text;
    }
}
