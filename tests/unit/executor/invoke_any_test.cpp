#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/executor/direct_executor.hpp"
#include "spool/executor/invoke.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/any_timeout.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using namespace std::chrono_literals;
using spool::invoke_any;
using spool::task;
using functions = std::vector<std::function<int(std::stop_token)>>;

auto answers(int n) {
    return [n](const std::stop_token&) { return n; };
}
auto fails(std::string what) {
    return [what = std::move(what)](const std::stop_token&) -> int { throw std::domain_error{what}; };
}
/// Opens `running`, blocks until its stop is requested, and opens `stopped`.
auto waits_for_its_stop(test::gate& running, test::gate& stopped) {
    return [&](const std::stop_token& stop) {
        test::gate woken;
        const std::stop_callback on_stop{stop, [&] { woken.open(); }};
        running.open();
        if (woken.opens()) {
            stopped.open();
        }
        return -1;
    };
}

TEST(invoke_any, returns_the_first_result_and_stops_the_losers) {
    test::gate loser_runs;
    test::gate loser_stopped;
    spool::thread_per_task_executor threads;
    const functions tasks{waits_for_its_stop(loser_runs, loser_stopped),
                          [&](const std::stop_token&) { return loser_runs.opens() ? 7 : -1; }};
    EXPECT_EQ(threads.invoke_any(tasks), 7);
    EXPECT_TRUE(loser_stopped.opens());
}

TEST(invoke_any, starts_no_further_task_once_a_result_is_there) {
    int started = 0;
    spool::direct_executor here;
    test::executor_of counting{[&](task work) {
        ++started;
        here.execute(std::move(work));
    }};
    EXPECT_EQ(invoke_any(counting, functions{fails("first"), answers(2), answers(3)}), 2);
    EXPECT_EQ(started, 2);
}

TEST(invoke_any, the_callables_that_were_not_started_are_destroyed) {
    std::atomic<int> alive{0};
    spool::direct_executor here;
    {
        const std::vector<std::function<int()>> tasks(5, [guard = test::tracked{alive}] { return 1; });
        EXPECT_EQ(invoke_any(here, tasks), 1);
        EXPECT_EQ(alive, 5);
    }
    EXPECT_EQ(alive, 0);
}

TEST(invoke_any, throws_the_last_failure_if_all_tasks_fail) {
    spool::direct_executor here;
    const functions tasks{fails("first"), fails("second"), fails("third")};
    EXPECT_EQ(test::what_of<std::domain_error>([&] { invoke_any(here, tasks); }), "third");
}

TEST(invoke_any, the_last_failure_is_the_last_in_time_not_in_the_range) {
    test::gate second_failed;
    spool::thread_per_task_executor threads;
    int n = 0;
    test::executor_of first_on_a_thread{[&](task work) {
        if (++n == 1) {
            threads.execute(std::move(work));
        } else {
            work();
            second_failed.open();
        }
    }};
    const functions tasks{[&](const std::stop_token&) -> int {
                              second_failed.wait();
                              throw std::domain_error{"first"};
                          },
                          fails("second")};
    EXPECT_EQ(test::what_of<std::domain_error>([&] { invoke_any(first_on_a_thread, tasks); }), "first");
}

TEST(invoke_any, when_the_executor_drops_all_it_throws_cancelled) {
    test::executor_of drops{[](task) {}};
    EXPECT_THROW(invoke_any(drops, functions{answers(1), answers(2)}), spool::cancelled);
}

TEST(invoke_any, uses_the_other_results_if_the_executor_drops_some_tasks) {
    spool::direct_executor here;
    int n = 0;
    test::executor_of drops_the_first{[&](task work) {
        if (++n > 1) {
            here.execute(std::move(work));
        }
    }};
    EXPECT_EQ(invoke_any(drops_the_first, functions{answers(1), answers(2)}), 2);
}

TEST(invoke_any, stops_all_tasks_and_rethrows_if_execute_throws) {
    test::gate running;
    test::gate stopped;
    spool::thread_per_task_executor threads;
    int n = 0;
    test::executor_of full_after_one{[&](task work) {
        if (++n == 2) {
            EXPECT_TRUE(running.opens());
            throw std::length_error{"full"};
        }
        threads.execute(std::move(work));
    }};
    const functions tasks{waits_for_its_stop(running, stopped), answers(2), answers(3)};
    EXPECT_THROW(invoke_any(full_after_one, tasks), std::length_error);
    EXPECT_EQ(n, 2);
    EXPECT_TRUE(stopped.opens());
}

TEST(invoke_any, returns_move_only_results) {
    spool::thread_per_task_executor threads;
    const auto make = [] { return std::make_unique<int>(7); };
    EXPECT_EQ(*threads.invoke_any(std::vector{make, make}), 7);
}

TEST(invoke_any, returns_references_and_void) {
    int object = 7;
    spool::direct_executor here;
    const auto same = [&]() -> int& { return object; };
    EXPECT_EQ(&invoke_any(here, std::vector{same}), &object);
    const auto increments = [&] { ++object; };
    static_assert(std::is_void_v<decltype(invoke_any(here, std::vector{increments}))>);
    invoke_any(here, std::vector{increments, increments});
    EXPECT_EQ(object, 8);
}

struct move_only_answer {
    std::unique_ptr<int> answer;
    int operator()() const { return *answer; }
};

TEST(invoke_any, moves_the_callables_out_of_an_rvalue_vector) {
    std::vector<move_only_answer> tasks;
    tasks.push_back({std::make_unique<int>(7)});
    spool::direct_executor here;
    EXPECT_EQ(invoke_any(here, std::move(tasks)), 7);
}

TEST(invoke_any, when_none_succeeds_in_time_it_throws_timed_out_and_stops_them) {
    test::gate running;
    test::gate stopped;
    spool::thread_per_task_executor threads;
    test::executor_of waits_for_the_start{[&](task work) {
        threads.execute(std::move(work));
        EXPECT_TRUE(running.opens());
    }};
    const functions tasks{waits_for_its_stop(running, stopped)};
    const auto run = [&] { invoke_any(waits_for_the_start, tasks, test::short_delay()); };
    EXPECT_EQ(test::what_of<spool::timed_out>(run), "invoke_any: none of 1 tasks succeeded in time");
    EXPECT_TRUE(stopped.opens());
}

TEST(invoke_any, a_present_result_takes_precedence_over_the_time_out) {
    spool::direct_executor here;
    test::for_any_timeout([&](auto timeout) {
        EXPECT_EQ(invoke_any(here, functions{answers(7)}, timeout), 7) << timeout.count();
    });
}

TEST(invoke_any, interrupted_while_waiting_it_stops_all) {
    test::gate running;
    test::gate stopped;
    test::gate was_interrupted;
    spool::thread_per_task_executor threads;
    spool::thread_per_task_executor caller;
    caller.execute([&] {
        try {
            threads.invoke_any(functions{waits_for_its_stop(running, stopped)});
        } catch (const spool::interrupted&) {
            was_interrupted.open();
        }
    });
    ASSERT_TRUE(running.opens());
    caller.shutdown_now();
    EXPECT_TRUE(was_interrupted.opens());
    EXPECT_TRUE(stopped.opens());
}

TEST(invoke_any, an_empty_range_is_refused_by_name) {
    spool::direct_executor here;
    const auto run = [&] { invoke_any(here, functions{}); };
    EXPECT_EQ(test::what_of<std::invalid_argument>(run), "invoke_any: no tasks");
}

}  // namespace
