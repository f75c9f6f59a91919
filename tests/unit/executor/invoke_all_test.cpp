#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "spool/executor/direct_executor.hpp"
#include "spool/executor/invoke.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "spool/sync/this_task.hpp"
#include "support/any_timeout.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/tracked.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using namespace std::chrono_literals;
using spool::invoke_all;
using spool::task;

struct move_only_answer {
    std::unique_ptr<int> answer;
    int operator()() const { return *answer; }
};

/// Blocks until its stop is requested, and counts the stop.
struct counts_its_stop {
    std::atomic<int>* running;
    std::atomic<int>* stopped;
    void operator()(std::stop_token stop) const {
        test::gate woken;
        const std::stop_callback on_stop{stop, [&] { woken.open(); }};
        ++*running;
        *stopped += woken.opens() ? 1 : 0;
    }
};

TEST(invoke_all, moves_the_callables_out_of_an_rvalue_vector) {
    std::vector<move_only_answer> tasks;
    for (int i = 0; i < 3; ++i) {
        tasks.push_back({std::make_unique<int>(i)});
    }
    spool::direct_executor here;
    const auto futures = invoke_all(here, std::move(tasks));
    ASSERT_EQ(futures.size(), 3U);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), i);
    }
}

TEST(invoke_all, copies_the_callables_of_an_lvalue_which_stay_usable) {
    std::vector<std::function<std::string()>> tasks(2, [] { return std::string{"good"}; });
    spool::direct_executor here;
    for (int round = 0; round < 2; ++round) {
        for (const auto& f : invoke_all(here, tasks)) {
            EXPECT_EQ(f.get(), "good");
        }
    }
}

TEST(invoke_all, takes_a_view_and_does_not_change_the_viewed_range) {
    std::array<std::function<std::string()>, 2> tasks{[] { return "a"; }, [] { return "b"; }};
    spool::direct_executor here;
    for (int round = 0; round < 2; ++round) {
        const auto futures = invoke_all(here, std::span{tasks});
        ASSERT_EQ(futures.size(), 2U);
        EXPECT_EQ(futures[0].get(), "a");
        EXPECT_EQ(futures[1].get(), "b");
    }
}

TEST(invoke_all, takes_a_view_that_makes_its_callables_on_the_way) {
    spool::direct_executor here;
    const auto futures = invoke_all(
        here, std::views::iota(0, 4) | std::views::transform([](int i) { return [i] { return i * i; }; }));
    ASSERT_EQ(futures.size(), 4U);
    EXPECT_EQ(futures[3].get(), 9);
}

TEST(invoke_all, returns_move_only_results) {
    spool::thread_per_task_executor threads;
    const auto make = [] { return std::make_unique<int>(7); };
    auto futures = threads.invoke_all(std::vector{make, make});
    for (auto& f : futures) {
        EXPECT_EQ(*std::move(f).get(), 7);
    }
}

TEST(invoke_all, returns_references_and_void) {
    int object = 7;
    spool::direct_executor here;
    const auto same = [&]() -> int& { return object; };
    EXPECT_EQ(&invoke_all(here, std::vector{same})[0].get(), &object);
    const std::vector<spool::future<void>> done = invoke_all(here, std::vector{[&] { ++object; }});
    EXPECT_NO_THROW(done[0].get());
    EXPECT_EQ(object, 8);
}

TEST(invoke_all, waits_for_tasks_on_other_threads_and_keeps_their_order) {
    std::array<test::gate, 3> gates;
    spool::thread_per_task_executor threads;
    std::vector<std::function<int()>> tasks;
    for (int i = 0; i < 3; ++i) {
        tasks.push_back([&gates, i] {  // ends only after its successor in the range
            const auto n = static_cast<std::size_t>(i);
            const bool ok = n + 1 >= gates.size() || gates[n + 1].opens();
            gates[n].open();
            return ok ? i : -1;
        });
    }
    const auto futures = threads.invoke_all(tasks);
    ASSERT_EQ(futures.size(), 3U);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(futures[static_cast<std::size_t>(i)].is_done());
        EXPECT_EQ(futures[static_cast<std::size_t>(i)].get(), i);
    }
}

TEST(invoke_all, an_empty_callable_anywhere_keeps_all_from_starting) {
    for (std::size_t where_empty = 0; where_empty < 3; ++where_empty) {
        std::atomic<int> alive{0};
        int ran = 0;
        std::vector<std::function<void()>> tasks(3, [&, guard = test::tracked{alive}] { ++ran; });
        tasks[where_empty] = nullptr;
        spool::direct_executor here;
        EXPECT_THROW((void)invoke_all(here, tasks), std::invalid_argument);
        EXPECT_EQ(ran, 0);
        EXPECT_EQ(alive, 2);  // only those in `tasks`
    }
}

TEST(invoke_all, cancels_all_tasks_and_rethrows_if_execute_throws) {
    std::atomic<int> alive{0};
    int ran = 0;
    std::vector<task> accepted;
    test::executor_of full_after_two{[&](task work) {
        if (accepted.size() == 2) {
            throw std::domain_error{"full"};
        }
        accepted.push_back(std::move(work));
    }};
    {
        const std::vector<std::function<void()>> tasks(4, [&, guard = test::tracked{alive}] { ++ran; });
        EXPECT_THROW((void)invoke_all(full_after_two, tasks), std::domain_error);
    }
    // The executor still holds two tasks, but both were cancelled before their start.
    EXPECT_EQ(alive, 0);
    for (task& work : accepted) {
        work();
    }
    EXPECT_EQ(ran, 0);
}

TEST(invoke_all, interrupted_while_waiting_it_cancels_all) {
    std::atomic<int> running{0};
    std::atomic<int> stopped{0};
    test::gate was_interrupted;
    spool::thread_per_task_executor threads;
    spool::thread_per_task_executor caller;
    caller.execute([&] {
        try {
            (void)threads.invoke_all(std::vector(3, counts_its_stop{&running, &stopped}));
        } catch (const spool::interrupted&) {
            was_interrupted.open();
        }
    });
    ASSERT_TRUE(test::eventually([&] { return running == 3; }));
    caller.shutdown_now();
    EXPECT_TRUE(was_interrupted.opens());
    threads.close();
    EXPECT_EQ(stopped, 3);
}

TEST(invoke_all, returns_a_cancelled_future_for_a_task_that_the_executor_drops) {
    test::executor_of drops{[](task) {}};
    const auto futures = invoke_all(drops, std::vector(2, [] { return 1; }));
    ASSERT_EQ(futures.size(), 2U);
    EXPECT_TRUE(futures[0].is_cancelled());
    EXPECT_TRUE(futures[1].is_cancelled());
}

TEST(invoke_all, no_time_starts_nothing_and_cancels_all) {
    test::for_any_timeout([](auto timeout) {
        if (timeout.count() > 0) {
            return;
        }
        int ran = 0;
        spool::direct_executor here;
        const auto futures = invoke_all(here, std::vector(2, [&] { ++ran; }), timeout);
        ASSERT_EQ(futures.size(), 2U);
        EXPECT_TRUE(futures[0].is_cancelled());
        EXPECT_TRUE(futures[1].is_cancelled());
        EXPECT_EQ(ran, 0);
    });
}

TEST(invoke_all, a_huge_time_limit_is_no_limit) {
    test::gate release;
    spool::thread_per_task_executor threads;
    const auto waits = [&] {
        release.wait();
        return 7;
    };
    std::jthread opener{[&] { release.open(); }};
    for (const auto& f : threads.invoke_all(std::vector(2, waits), std::chrono::hours::max())) {
        EXPECT_EQ(f.get(), 7);
    }
}

TEST(invoke_all, stops_and_cancels_running_tasks_at_the_time_limit) {
    std::atomic<int> running{0};
    std::atomic<int> stopped{0};
    spool::thread_per_task_executor threads;
    const auto futures =
        threads.invoke_all(std::vector(3, counts_its_stop{&running, &stopped}), test::short_delay());
    ASSERT_EQ(futures.size(), 3U);
    for (const auto& f : futures) {
        EXPECT_TRUE(f.is_cancelled());
    }
    threads.close();
    // On a slow machine, some tasks may be cancelled before their start.
    EXPECT_EQ(stopped, running);
}

TEST(invoke_all, a_present_result_takes_precedence_over_an_interruption) {
    spool::thread_per_task_executor caller;
    const auto f = caller.submit([] {
        spool::task_scope::current()->interrupt().request_stop();
        spool::direct_executor here;
        return invoke_all(here, std::vector(2, [] { return 7; }))[1].result_now();
    });
    EXPECT_EQ(f.get(), 7);
}

}  // namespace
