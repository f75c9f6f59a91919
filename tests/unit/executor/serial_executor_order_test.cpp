// serial_executor: one task at a time, in order; it returns the thread to its target now and then.
#include "spool/executor/serial_executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "spool/executor/direct_executor.hpp"
#include "spool/executor/submit.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "spool/sync/this_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"
#include "unit/executor/stderr_of.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using spool::serial_executor;

std::vector<int> one_to(int n) {
    std::vector<int> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 1);
    return numbers;
}

TEST(serial_executor_order, tasks_run_in_the_order_of_submission_on_threads) {
    std::vector<int> order;  // needs no lock: the lane serialises the tasks
    spool::thread_per_task_executor threads;
    serial_executor lane{threads};
    for (int i = 1; i <= 500; ++i) {
        lane.execute([&order, i] { order.push_back(i); });
    }
    spool::submit(lane, [] {}).get();
    EXPECT_EQ(order, one_to(500));
}

TEST(serial_executor_order, tasks_never_overlap_and_see_the_writes_of_earlier_ones) {
    constexpr int per_thread = 300;
    int plain = 0;  // needs neither lock nor atomic
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    spool::thread_per_task_executor threads;
    serial_executor lane{threads};
    {
        std::vector<std::jthread> submitters;
        for (int t = 0; t < 4; ++t) {
            submitters.emplace_back([&] {
                for (int i = 0; i < per_thread; ++i) {
                    lane.execute([&] {
                        most = std::max(most.load(), ++inside);
                        ++plain;
                        --inside;
                    });
                }
            });
        }
    }
    spool::submit(lane, [] {}).get();
    EXPECT_EQ(plain, 4 * per_thread);
    EXPECT_EQ(most, 1);
}

TEST(serial_executor_order, a_task_added_by_a_task_runs_after_it_not_inside_it) {
    spool::direct_executor here;
    serial_executor lane{here};
    std::vector<std::string> events;
    lane.execute([&] {
        events.push_back("first begins");
        lane.execute([&] { events.push_back("second"); });
        events.push_back("first ends");
    });
    EXPECT_EQ(events, (std::vector<std::string>{"first begins", "first ends", "second"}));
}

TEST(serial_executor_order, two_lanes_on_one_target_do_not_wait_for_each_other) {
    test::gate first_runs;
    test::gate second_runs;
    std::atomic<int> met{0};
    {
        spool::thread_per_task_executor threads;
        serial_executor one{threads};
        serial_executor two{threads};
        one.execute([&] {
            first_runs.open();
            met += second_runs.opens() ? 1 : 0;
        });
        two.execute([&] {
            second_runs.open();
            met += first_runs.opens() ? 1 : 0;
        });
    }
    EXPECT_EQ(met, 2);
}

TEST(serial_executor_order, the_target_is_asked_once_and_gets_its_thread_back_after_32_tasks) {
    int ran = 0;
    test::manual_service target;
    serial_executor lane{target};
    for (int i = 0; i < 100; ++i) {
        lane.execute([&] { ++ran; });
    }
    EXPECT_EQ(target.held(), 1U);
    for (const int expected : {32, 64, 96}) {
        EXPECT_TRUE(target.run_one());
        EXPECT_EQ(ran, expected);
        EXPECT_EQ(target.held(), 1U);
    }
    EXPECT_TRUE(target.run_one());
    EXPECT_EQ(ran, 100);
    EXPECT_EQ(target.held(), 0U);
}

TEST(serial_executor_order, the_target_is_not_asked_again_when_exactly_32_tasks_have_run) {
    int ran = 0;
    test::manual_service target;
    serial_executor lane{target};
    for (int i = 0; i < 32; ++i) {
        lane.execute([&] { ++ran; });
    }
    EXPECT_TRUE(target.run_one());
    EXPECT_EQ(ran, 32);
    EXPECT_EQ(target.held(), 0U);
    lane.execute([&] { ++ran; });
    EXPECT_EQ(target.held(), 1U);
    target.run_all();
    EXPECT_EQ(ran, 33);
}

TEST(serial_executor_order, an_exception_reaches_the_target_and_does_not_hold_up_the_next) {
    std::vector<int> order;
    test::manual_service target;
    serial_executor lane{target};
    lane.execute([&] { order.push_back(1); });
    lane.execute([] { throw std::domain_error{"disk full"}; });
    lane.execute([&] { order.push_back(2); });
    EXPECT_EQ(test::what_of<std::domain_error>([&] { target.run_one(); }), "disk full");
    EXPECT_EQ(target.held(), 1U);
    target.run_all();
    EXPECT_EQ(order, one_to(2));
}

TEST(serial_executor_order,
     execute_on_a_direct_target_runs_the_rest_before_it_throws_the_exception_of_a_task) {
    spool::direct_executor here;
    serial_executor lane{here};
    bool ran = false;
    const auto run = [&] {
        lane.execute([&] {
            lane.execute([&] { ran = true; });
            throw std::domain_error{"disk full"};
        });
    };
    EXPECT_EQ(test::what_of<std::domain_error>(run), "disk full");
    EXPECT_TRUE(ran);
    EXPECT_NO_THROW(lane.execute([] {}));
}

TEST(serial_executor_order, execute_on_a_direct_target_throws_the_first_exception_and_reports_the_second) {
    spool::direct_executor here;
    serial_executor lane{here};
    std::string thrown;
    const std::string text = test::stderr_of([&] {
        thrown = test::what_of<std::domain_error>([&] {
            lane.execute([&] {
                lane.execute([] { throw std::domain_error{"second"}; });
                throw std::domain_error{"first"};
            });
        });
    });
    EXPECT_EQ(thrown, "first");
    EXPECT_EQ(text, "spool: uncaught exception in a task of serial_executor: second\n");
}

TEST(serial_executor_order, an_exception_on_a_thread_is_reported_by_the_target) {
    std::atomic<bool> next_ran{false};
    const std::string text = test::stderr_of([&] {
        spool::thread_per_task_executor threads{"io"};
        serial_executor lane{threads};
        lane.execute([] { throw std::domain_error{"disk full"}; });
        spool::submit(lane, [&] { next_ran = true; }).get();
    });
    EXPECT_EQ(text, "spool: uncaught exception in thread_per_task_executor \"io\": disk full\n");
    EXPECT_TRUE(next_ran);
}

TEST(serial_executor_order, cancelling_a_task_of_the_lane_stops_that_one_only) {
    test::gate running;
    std::atomic<bool> was_stopped{false};
    spool::thread_per_task_executor threads;
    serial_executor lane{threads};
    const auto first = spool::submit(lane, [&](std::stop_token stop) {
        running.open();
        test::gate stopped;
        const std::stop_callback on_stop{stop, [&] { stopped.open(); }};
        was_stopped = stopped.opens();
    });
    const auto second = spool::submit(lane, [] { return spool::this_task::stop_requested(); });
    ASSERT_TRUE(running.opens());
    EXPECT_TRUE(first.cancel());
    EXPECT_FALSE(second.get());
    EXPECT_TRUE(was_stopped);
}

TEST(serial_executor_order, each_callable_is_destroyed_before_the_next_task_runs) {
    std::atomic<int> alive{0};
    int alive_during_second = -1;
    test::manual_service target;
    serial_executor lane{target};
    lane.execute([guard = test::tracked{alive}] {});
    lane.execute([&] { alive_during_second = alive; });
    target.run_all();
    EXPECT_EQ(alive_during_second, 0);
}

TEST(serial_executor_order, destroyed_while_tasks_wait_they_still_run) {
    std::vector<int> order;
    test::manual_service target;
    auto lane = std::make_unique<serial_executor>(target);
    for (int i = 1; i <= 100; ++i) {
        lane->execute([&order, i] { order.push_back(i); });
    }
    lane.reset();
    target.run_all();
    EXPECT_EQ(order, one_to(100));
}

TEST(serial_executor_order, the_other_tasks_run_after_one_destroys_the_executor) {
    std::atomic<int> ran{0};
    {
        spool::thread_per_task_executor threads;
        auto lane = std::make_unique<serial_executor>(threads);
        test::gate added;
        serial_executor& the_lane = *lane;
        the_lane.execute([&, mine = std::move(lane)]() mutable {
            added.wait();
            mine.reset();
        });
        for (int i = 0; i < 40; ++i) {
            the_lane.execute([&] { ++ran; });
        }
        added.open();
        threads.close();
    }
    EXPECT_EQ(ran, 40);
}

// How much stack a chain of `n` tasks uses when each adds the next and all run in place.
std::uintptr_t stack_of_a_chain(int n, bool throwing) {
    spool::direct_executor here;
    serial_executor lane{here};
    std::uintptr_t lowest = UINTPTR_MAX;
    std::uintptr_t highest = 0;
    int left = n;
    std::function<void()> step = [&] {
        const auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest = std::min(lowest, at);
        highest = std::max(highest, at);
        if (--left > 0) {
            lane.execute(step);
        }
        if (throwing) {
            throw std::domain_error{"again"};
        }
    };
    try {
        lane.execute(step);
    } catch (const std::domain_error&) {}
    EXPECT_EQ(left, 0);
    return highest - lowest;
}

TEST(serial_executor_order, a_long_chain_of_tasks_on_a_direct_target_does_not_use_up_the_stack) {
    EXPECT_LT(stack_of_a_chain(32 * 200, false), 32U * 1024);
}

TEST(serial_executor_order, a_long_chain_of_throwing_tasks_on_a_direct_target_does_not_use_up_the_stack) {
    std::uintptr_t used = 0;
    (void)test::stderr_of([&] { used = stack_of_a_chain(200, true); });
    EXPECT_LT(used, 32U * 1024);
}

}  // namespace
