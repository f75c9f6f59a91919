// deadlock_policy::throw_: the wait that began last throws.
#include <array>

#include <gtest/gtest.h>

#include "unit/pool/deadlock/deadlock_helpers.hpp"

namespace {

using spool::deadlock_policy;
using spool::thread_pool_executor;

TEST(deadlock_throw, one_of_them_gets_the_exception_and_the_others_go_on) {
    std::atomic<int> thrown{0};
    spool::future<int> first;
    spool::future<int> second;
    test::gate known;
    std::array<test::gate, 2> begun;
    const auto wait_for = [&](const spool::future<int>& other, test::gate& here) {
        here.open();
        known.wait();
        try {
            return other.get();
        } catch (const spool::deadlock& e) {
            ++thrown;
            return test::contains(e.what(), "wait for each other") ? 7 : 0;
        }
    };
    test::reports told;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::throw_(told.handler())));
    first = pool.submit([&] { return wait_for(second, begun[0]); });
    second = pool.submit([&] { return wait_for(first, begun[1]); });
    ASSERT_TRUE(begun[0].opens() && begun[1].opens());
    known.open();
    EXPECT_EQ(first.get(), 7);
    EXPECT_EQ(second.get(), 7);
    EXPECT_EQ(thrown, 1);
    EXPECT_EQ(told.size(), 1U);
    EXPECT_TRUE(test::contains(told.first().remedy, "throws"));
}

TEST(deadlock_throw, it_is_the_youngest_waiter) {
    spool::future<int> first;
    spool::future<int> second;
    test::gate second_runs;
    test::gate go_on;
    test::gate known;
    thread_pool_executor old_pool(test::of_size(1, "old", deadlock_policy::throw_([](const auto&) {})));
    thread_pool_executor young_pool(test::of_size(1, "young", deadlock_policy::throw_([](const auto&) {})));
    const auto wait_for = [](const spool::future<int>& other, int if_thrown) {
        try {
            return other.get();
        } catch (const spool::deadlock&) {
            return if_thrown;
        }
    };
    first = old_pool.submit([&] {
        known.wait();
        return wait_for(second, 1);
    });
    second = young_pool.submit([&] {
        second_runs.open();
        go_on.wait();
        return wait_for(first, 2);
    });
    ASSERT_TRUE(second_runs.opens());
    known.open();
    ASSERT_TRUE(test::eventually([] { return spool::deadlock_watch::waiting() == 1; }));
    go_on.open();
    EXPECT_EQ(second.get(), 2);
    EXPECT_EQ(first.get(), 2);  // the result of the second task
}

TEST(deadlock_throw, a_wait_for_room_throws_and_the_task_is_not_lost) {
    std::atomic<int> ran{0};
    thread_pool_executor pool({.name = "a",
                               .core_size = 1,
                               .maximum_size = 1,
                               .queue = test::bounded(1),
                               .on_deadlock = deadlock_policy::throw_([](const auto&) {})});
    const auto task = pool.submit([&] {
        pool.execute([&] { ++ran; });
        spool::task more = [&] { ++ran; };
        try {
            static_cast<void>(pool.execute_for(std::move(more), std::chrono::nanoseconds::max()));
            return 1;
        } catch (const spool::deadlock&) {
            more();  // the refused task is not lost
            return 2;
        }
    });
    EXPECT_EQ(task.get(), 2);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 2);
}

}  // namespace
