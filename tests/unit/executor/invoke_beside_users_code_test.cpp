// invoke_all and invoke_any do not wait for the destructors of the callables that they cancel.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "spool/executor/invoke.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/gate.hpp"

namespace {

using namespace std::chrono_literals;

struct gates {
    test::gate begun;  // the slow destructor has begun
    test::gate go_on;
};

struct lingers {
    explicit lingers(gates& of) : both(of) {}
    lingers(const lingers&) = delete;
    lingers& operator=(const lingers&) = delete;
    ~lingers() {
        both.begun.open();
        both.go_on.wait();
    }
    gates& both;
};

// Returns `n`. A job with a `slow` part blocks in its destructor. A job with `after` returns only
// once that gate is open.
struct job {
    int n;
    test::gate* after;
    std::unique_ptr<lingers> slow;
    int operator()() const {
        if (after != nullptr) {
            static_cast<void>(after->opens());
        }
        return n;
    }
};

// True if `f` returns while the slow destructor still blocks.
template <class F>
bool returns_before(test::gate& go_on, F f) {
    test::gate returned;
    std::thread caller{[&] {
        f();
        returned.open();
    }};
    const bool in_time = returned.opens_within(test::long_delay() / 4);
    go_on.open();
    caller.join();
    return in_time;
}

TEST(invoke_beside_users_code, any_returns_though_a_loser_is_being_destroyed) {
    gates both;
    spool::thread_per_task_executor threads;
    const test::open_at_end guard{both.go_on};
    std::vector<job> jobs;
    jobs.push_back({1, nullptr, std::make_unique<lingers>(both)});
    jobs.push_back({2, &both.begun, nullptr});
    int result = 0;
    EXPECT_TRUE(returns_before(both.go_on, [&] { result = spool::invoke_any(threads, std::move(jobs)); }));
    EXPECT_EQ(result, 2);
}

TEST(invoke_beside_users_code, all_with_a_limit_returns_though_one_is_being_destroyed) {
    gates both;
    spool::thread_per_task_executor threads;
    const test::open_at_end guard{both.go_on};
    std::vector<job> jobs;
    jobs.push_back({1, nullptr, std::make_unique<lingers>(both)});
    std::vector<spool::future<int>> results;
    EXPECT_TRUE(
        returns_before(both.go_on, [&] { results = spool::invoke_all(threads, std::move(jobs), 50ms); }));
    ASSERT_EQ(results.size(), 1U);
    EXPECT_TRUE(results[0].is_done());
}

}  // namespace
