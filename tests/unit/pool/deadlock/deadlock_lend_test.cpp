// deadlock_policy::lend: an extra thread, for as long as it takes.
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "unit/pool/deadlock/deadlock_helpers.hpp"

namespace {

using spool::deadlock_policy;
using spool::thread_pool_executor;

TEST(deadlock_lend, an_extra_thread_runs_the_task_that_is_waited_for_and_leaves) {
    test::reports told;
    test::two_pools_that_wait waits;
    thread_pool_executor a(test::of_size(1, "a", deadlock_policy::lend(told.handler())));
    thread_pool_executor b(test::of_size(1, "b", deadlock_policy::lend(told.handler())));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    EXPECT_EQ(waits.first.get() + waits.second.get(), 2);
    EXPECT_EQ(told.size(), 1U);
    EXPECT_TRUE(test::contains(told.first().remedy, "extra thread")) << told.first().remedy;
    EXPECT_EQ(a.largest_pool_size() + b.largest_pool_size(), 3U);
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
    EXPECT_TRUE(test::ends(a) && test::ends(b));
    EXPECT_EQ(a.completed_task_count() + b.completed_task_count(), 4U);
}

TEST(deadlock_lend, a_chain_of_deadlocks_gets_a_thread_for_each) {
    test::reports told;
    thread_pool_executor a(test::of_size(1, "a", deadlock_policy::lend(told.handler())));
    thread_pool_executor b(test::of_size(1, "b", deadlock_policy::lend(told.handler())));
    // Each waits for the next, in the other pool, whose threads all wait.
    const std::function<int(int)> down = [&](int depth) -> int {
        return depth == 0 ? 0
                          : 1 + (depth % 2 == 0 ? a : b).submit([&, depth] { return down(depth - 1); }).get();
    };
    EXPECT_EQ(a.submit([&] { return down(5); }).get(), 5);
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
}

TEST(deadlock_lend, a_thread_beyond_the_core_size_leaves_too) {
    test::two_pools_that_wait waits;
    const auto options = [](const char* name) {
        return spool::pool_options{.name = name,
                                   .core_size = 1,
                                   .maximum_size = 4,
                                   .keep_alive = std::chrono::hours{1},
                                   .on_deadlock = deadlock_policy::lend([](const auto&) {})};
    };
    thread_pool_executor a(options("a"));
    thread_pool_executor b(options("b"));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    EXPECT_EQ(waits.first.get() + waits.second.get(), 2);
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
}

TEST(deadlock_lend, a_wait_for_room_is_helped) {
    test::reports told;
    thread_pool_executor pool({.name = "a",
                               .core_size = 1,
                               .maximum_size = 1,
                               .queue = test::bounded(1),
                               .on_deadlock = deadlock_policy::lend(told.handler())});
    const auto task = pool.submit([&] {
        pool.execute([] {});
        return pool.execute_for([] {}, std::chrono::nanoseconds::max());
    });
    EXPECT_EQ(task.get(), spool::admission_result::accepted);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 3U);
}

TEST(deadlock_lend, a_thread_that_cannot_be_started_is_told_to_uncaught_and_leaves_the_pools_as_they_were) {
    test::record<std::string> uncaught;
    test::two_pools_that_wait waits;
    const auto with_one_thread = [&](const char* name) {
        spool::pool_options options = test::of_size(1, name, deadlock_policy::lend([](const auto&) {}));
        options.thread_factory = [made = 0](spool::task body, const spool::worker_info&) mutable {
            if (++made > 1) {
                throw std::runtime_error("no second thread");
            }
            return std::thread{std::move(body)};
        };
        options.uncaught = [&](const spool::worker_info&, const std::exception_ptr& e) {
            uncaught.add(spool::describe(e));
        };
        return options;
    };
    thread_pool_executor a(with_one_thread("a"));
    thread_pool_executor b(with_one_thread("b"));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    ASSERT_TRUE(test::eventually([&] { return uncaught.size() != 0; }));
    EXPECT_TRUE(test::contains(uncaught.all().at(0), "no second thread")) << uncaught.all().at(0);
    EXPECT_EQ(a.pool_size() + b.pool_size(), 2U);
    waits.first.cancel();
    waits.second.cancel();
    EXPECT_TRUE(test::ends(a) && test::ends(b));
}

TEST(deadlock_lend, running_tasks_that_wait_for_each_other_are_only_reported) {
    test::reports told;
    test::circle_of_two circle;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::lend(told.handler())));
    circle.start(pool, pool);
    ASSERT_TRUE(circle.close());
    ASSERT_TRUE(told.come());
    EXPECT_EQ(told.first().remedy, "");
    EXPECT_EQ(pool.largest_pool_size(), 2U);
    circle.first.cancel();
}

}  // namespace
