// A deadlock is reported once, and the report names the workers in it.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/pool/deadlock/deadlock_helpers.hpp"

namespace {

using spool::deadlock_policy;
using spool::thread_pool_executor;
using namespace std::chrono_literals;

TEST(deadlock_report, names_the_tasks_the_workers_and_the_pool) {
    test::reports told;
    test::circle_of_two circle;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::report(told.handler())));
    circle.start(pool, pool);
    ASSERT_TRUE(circle.close());
    ASSERT_TRUE(told.come());
    const spool::deadlock_report report = told.first();
    ASSERT_EQ(report.workers.size(), 2U);
    EXPECT_EQ((std::set<std::string>{report.workers[0].worker, report.workers[1].worker}),
              (std::set<std::string>{"a-1", "a-2"}));
    EXPECT_EQ((std::set{report.workers[0].task, report.workers[1].task}),
              (std::set{circle.first.id(), circle.second.id()}));
    EXPECT_TRUE(told.names(circle.first) && told.names(circle.second)) << to_string(report);
    EXPECT_TRUE(test::contains(to_string(report), "worker a-1 of pool \"a\"")) << to_string(report);
    EXPECT_EQ(report.remedy, "");
    circle.first.cancel();  // breaks the circle from outside
    EXPECT_THROW(circle.second.get(), spool::cancelled);
    EXPECT_EQ(pool.submit([] { return 7; }).get(), 7);
}

TEST(deadlock_report, without_a_handler_it_is_written_on_stderr) {
    const spool::deadlock_report report{
        .workers = {{.pool = "a", .worker = "a-1", .task = 5, .waits_for = 6, .why = "for task 6"}},
        .remedy = "an extra thread is lent"};
    testing::internal::CaptureStderr();
    deadlock_policy::report()(report);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "spool: deadlock: 1 worker(s) wait for each other, and nobody else can help them; an extra "
              "thread is lent"
              "\n  worker a-1 of pool \"a\", in task 5, waits for task 6\n");
}

TEST(deadlock_report, it_comes_only_once) {
    test::reports told;
    test::circle_of_two circle;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::report(told.handler())));
    circle.start(pool, pool);
    ASSERT_TRUE(circle.close());
    ASSERT_TRUE(told.come());
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(spool::deadlock_watch::check(), 0U);
    }
    EXPECT_EQ(told.size(), 1U);
    circle.first.cancel();
}

TEST(deadlock_report, of_tasks_queued_behind_each_other_in_two_pools) {
    test::reports told;
    test::two_pools_that_wait waits;
    thread_pool_executor a(test::of_size(1, "a", deadlock_policy::report(told.handler())));
    thread_pool_executor b(test::of_size(1, "b", deadlock_policy::report(told.handler())));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    ASSERT_TRUE(told.come());
    const spool::deadlock_report report = told.first();
    EXPECT_EQ(report.workers.size(), 2U);
    EXPECT_TRUE(test::contains(to_string(report), "queued in pool \"b\"")) << to_string(report);
    a.set_maximum_size(2);
    a.set_core_size(2);  // a second worker resolves the deadlock
    EXPECT_EQ(waits.first.get() + waits.second.get(), 2);
    EXPECT_EQ(told.size(), 1U);
}

TEST(deadlock_report, over_three_pools) {
    test::reports told;
    std::array<spool::future<int>, 3> futures;
    std::array<test::gate, 3> begun;
    test::gate known;
    const auto policy = deadlock_policy::report(told.handler());
    std::array<std::unique_ptr<thread_pool_executor>, 3> pools;
    for (std::size_t i = 0; i < 3; ++i) {
        pools[i] =
            std::make_unique<thread_pool_executor>(test::of_size(1, std::string(1, char('a' + i)), policy));
    }
    for (std::size_t i = 0; i < 3; ++i) {
        futures[i] = pools[i]->submit([&, i] {
            begun[i].open();
            known.wait();
            return futures[(i + 1) % 3].get();
        });
    }
    for (test::gate& g : begun) {
        ASSERT_TRUE(g.opens());
    }
    known.open();
    ASSERT_TRUE(told.come());
    std::set<std::string> names;
    for (const spool::deadlocked_worker& w : told.first().workers) {
        names.insert(w.pool);
    }
    EXPECT_EQ(names, (std::set<std::string>{"a", "b", "c"}));
    futures[0].cancel();
}

TEST(deadlock_report, leaves_out_who_only_waits_for_the_circle) {
    test::reports told;
    test::circle_of_two circle;
    test::gate outsider_waits;
    thread_pool_executor pool(test::of_size(3, "a", deadlock_policy::report(told.handler())));
    circle.start(pool, pool);
    const auto outsider = pool.submit([&] {
        outsider_waits.open();
        return circle.first.get();
    });
    ASSERT_TRUE(outsider_waits.opens());
    ASSERT_TRUE(circle.close());
    ASSERT_TRUE(told.come());
    EXPECT_EQ(told.first().workers.size(), 2U) << to_string(told.first());
    circle.second.cancel();
    EXPECT_THROW(outsider.get(), spool::cancelled);
    EXPECT_EQ(told.size(), 1U);
}

// The outermost wait begins last, and the finder visits the newest wait first. The report must
// still contain the circle alone.
TEST(deadlock_report, leaves_out_who_waits_for_one_who_waits_for_the_circle) {
    test::reports told;
    test::two_pools_that_wait waits;
    const auto policy = deadlock_policy::report(told.handler());
    thread_pool_executor a(test::of_size(1, "a", policy));
    thread_pool_executor b(
        {.name = "b", .core_size = 1, .maximum_size = 2, .queue = test::bounded(5), .on_deadlock = policy});
    test::gate middle_runs;
    thread_pool_executor others(test::of_size(2, "others", policy));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    const spool::future<int> middle = others.submit([&] {
        middle_runs.open();
        return waits.first.get();
    });
    ASSERT_TRUE(middle_runs.opens());  // otherwise the outer task would run it itself
    ASSERT_TRUE(test::eventually([] { return spool::deadlock_watch::waiting() == 3; }));
    const spool::future<int> outer = others.submit([&] { return middle.get(); });
    ASSERT_TRUE(test::eventually([] { return spool::deadlock_watch::waiting() == 4; }));
    EXPECT_EQ(told.size(), 0U);
    b.set_maximum_size(1);  // b cannot grow any more: now it is a deadlock
    ASSERT_TRUE(told.come());
    EXPECT_EQ(told.first().workers.size(), 2U) << to_string(told.first());
    b.set_maximum_size(2);
    b.set_core_size(2);
    EXPECT_EQ(outer.get() + waits.second.get(), 2);
    EXPECT_EQ(told.size(), 1U);
}

// A wait for any of very many futures takes long to examine. During that time another thread
// cancels the future that the other worker waits for.
TEST(deadlock_report, a_future_may_be_cancelled_while_its_waiter_is_looked_at) {
    constexpr std::size_t many = 10'000;
    const auto policy = deadlock_policy::report([](const auto&) {});
    for (int round = 0; round < 4; ++round) {
        test::gate begun;
        test::gate known;
        spool::future<int> waiter;
        thread_pool_executor a(test::of_size(1, "a", policy));
        thread_pool_executor b({.name = "b",
                                .core_size = 1,
                                .maximum_size = 2,
                                .queue = test::bounded(many),
                                .on_deadlock = policy});
        const auto blocker = b.submit([&] {
            begun.open();
            known.wait();
            return waiter.get();
        });
        ASSERT_TRUE(begun.opens());
        waiter =
            a.submit([&] { return b.invoke_any(std::vector<std::function<int()>>(many, [] { return 1; })); });
        ASSERT_TRUE(test::eventually([] { return spool::deadlock_watch::waiting() == 1; }));
        known.open();
        ASSERT_TRUE(test::eventually([] { return spool::deadlock_watch::waiting() == 2; }));
        const auto start = std::chrono::steady_clock::now();
        EXPECT_EQ(spool::deadlock_watch::check(), 0U);
        const auto middle = (std::chrono::steady_clock::now() - start) * (1 + round) / 6;
        b.set_maximum_size(1);  // b cannot grow any more
        std::atomic<bool> looks{false};
        std::jthread looker{[&] {
            looks = true;
            static_cast<void>(spool::deadlock_watch::check());
        }};
        while (!looks) {}
        for (const auto at = std::chrono::steady_clock::now() + middle;
             std::chrono::steady_clock::now() < at;) {}
        waiter.cancel();
        EXPECT_THROW(blocker.get(), spool::cancelled);
    }
}

TEST(deadlock_report, of_a_group_whose_child_waits_for_the_one_that_joins) {
    spool::future<void> parent;
    test::gate known;
    test::gate child_runs;
    test::reports told;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::report(told.handler())));
    parent = pool.submit([&] {
        known.wait();
        spool::task_group group{pool};
        group.run([&] {
            child_runs.open();
            try {
                parent.wait();
            } catch (const spool::interrupted&) {}
        });
        child_runs.wait();
        group.wait();
    });
    known.open();
    ASSERT_TRUE(told.come());
    EXPECT_TRUE(test::contains(to_string(told.first()), "children of a task_group"))
        << to_string(told.first());
    parent.cancel();
}

TEST(deadlock_report, of_a_task_that_waits_for_room_in_its_own_pool) {
    test::reports told;
    thread_pool_executor pool({.name = "a",
                               .core_size = 1,
                               .maximum_size = 1,
                               .queue = test::bounded(1),
                               .on_deadlock = deadlock_policy::report(told.handler())});
    const auto task = pool.submit([&] {
        pool.execute([] {});
        return pool.execute_for([] {}, std::chrono::nanoseconds::max());
    });
    ASSERT_TRUE(told.come());
    EXPECT_TRUE(test::contains(to_string(told.first()), "for room in the queue of pool \"a\""));
    pool.set_maximum_size(2);
    EXPECT_EQ(task.get(), spool::admission_result::accepted);
}

TEST(deadlock_report, of_invoke_any_and_invoke_all) {
    for (const bool any : {true, false}) {
        test::reports told;
        spool::future<int> waiter;
        test::gate b_waits;
        test::gate known;
        thread_pool_executor a(test::of_size(1, "a", deadlock_policy::report(told.handler())));
        thread_pool_executor b(test::of_size(1, "b", deadlock_policy::report(told.handler())));
        waiter = a.submit([&] {
            known.wait();
            std::vector<std::function<int()>> jobs{[] { return 1; }, [] { return 2; }};
            return any ? b.invoke_any(jobs) : b.invoke_all(jobs).front().get();
        });
        const auto blocker = b.submit([&] {
            b_waits.open();
            return waiter.get();
        });
        ASSERT_TRUE(b_waits.opens());
        known.open();
        ASSERT_TRUE(told.come());
        EXPECT_EQ(told.first().workers.size(), 2U);
        waiter.cancel();
        EXPECT_THROW(blocker.get(), spool::cancelled);
    }
}

TEST(deadlock_report, in_a_scheduled_pool_too) {
    test::gate both;
    std::array<test::gate, 2> begun;
    test::reports told;
    spool::scheduled_thread_pool_executor timers(
        {.name = "t", .core_size = 1, .on_deadlock = deadlock_policy::report(told.handler())});
    thread_pool_executor b(test::of_size(1, "b", deadlock_policy::report(told.handler())));
    const auto first = timers.submit([&] {
        begun[0].open();
        both.wait();
        return b.submit([] { return 1; }).get();
    });
    const auto second = b.submit([&] {
        begun[1].open();
        both.wait();
        return timers.submit([] { return 1; }).get();
    });
    ASSERT_TRUE(begun[0].opens() && begun[1].opens());
    both.open();
    ASSERT_TRUE(told.come());
    EXPECT_EQ(told.first().workers.size(), 2U);
    b.set_maximum_size(2);
    b.set_core_size(2);
    EXPECT_EQ(first.get() + second.get(), 2);
}

TEST(deadlock_report, a_handler_that_throws_does_no_harm) {
    test::circle_of_two circle;
    std::atomic<int> called{0};
    thread_pool_executor pool(
        test::of_size(2, "a", deadlock_policy::report([&](const spool::deadlock_report&) {
                          ++called;
                          throw std::runtime_error("from the handler");
                      })));
    circle.start(pool, pool);
    ASSERT_TRUE(circle.close());
    EXPECT_TRUE(test::eventually([&] { return called == 1; }));
    circle.first.cancel();
}

// The thread that finds a deadlock calls its handler. While that handler blocks, other deadlocks
// must still be found and reported.
TEST(deadlock_report, of_a_second_circle_comes_while_a_handler_holds_the_first_one_up) {
    test::gate reported;
    test::gate may_return;
    test::reports told;
    test::circle_of_two first;
    test::circle_of_two second;
    thread_pool_executor a(test::of_size(2, "a", deadlock_policy::report([&](const auto&) {
                                             reported.open();
                                             may_return.wait();
                                         })));
    thread_pool_executor b(test::of_size(2, "b", deadlock_policy::report(told.handler())));
    const test::open_at_end let_return{may_return};
    first.start(a, a);
    ASSERT_TRUE(first.close());
    ASSERT_TRUE(reported.opens());
    second.start(b, b);
    ASSERT_TRUE(second.close());
    EXPECT_TRUE(told.come());
    may_return.open();
    first.first.cancel();
    second.first.cancel();
}

}  // namespace
