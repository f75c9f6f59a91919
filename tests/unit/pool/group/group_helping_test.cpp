// A worker waits for a child that another worker runs. Meanwhile it helps with what that child has
// forked.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "unit/pool/group/group_helpers.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;

// Both workers are needed: the child occupies one of them until the task that it has forked has
// run.
TEST(group_helping, waiter_runs_what_was_forked_inside_of_a_child_that_another_runs) {
    test::gate forked;
    test::gate grandchild_ran;
    std::thread::id helper;
    thread_pool_executor pool(test::of_size(2, test::stealing()));
    const bool helped = test::in_time(pool.submit([&] {
        task_group outer{pool};
        outer.run([&] {
            task_group inner{pool};
            inner.run([&] {
                helper = std::this_thread::get_id();
                grandchild_ran.open();
            });
            forked.open();
            EXPECT_TRUE(grandchild_ran.opens());  // this worker does not run it itself
        });
        EXPECT_TRUE(forked.opens());
        outer.wait();
        return helper == std::this_thread::get_id();
    }));
    EXPECT_TRUE(helped);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 3U);
}

TEST(group_helping, waiter_leaves_alone_what_a_child_has_only_posted) {
    test::gate posted;
    std::atomic<bool> waits{false};
    std::atomic<int> strangers_in_wait{0};
    std::atomic<int> strangers{0};
    thread_pool_executor pool(test::of_size(2, test::stealing()));
    test::in_time(pool.submit([&] {
        const std::thread::id here = std::this_thread::get_id();
        const pid_t waiter = gettid();
        task_group outer{pool};
        outer.run([&, here] {
            for (int i = 0; i < 3; ++i) {
                pool.execute([&, here] {
                    ++strangers;
                    strangers_in_wait += waits && std::this_thread::get_id() == here ? 1 : 0;
                });
            }
            posted.open();
            // By then the waiter has looked for something to run.
            EXPECT_TRUE(test::falls_asleep(waiter));
        });
        EXPECT_TRUE(posted.opens());
        waits = true;
        outer.wait();
        waits = false;
    }));
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(strangers_in_wait, 0);
    EXPECT_EQ(strangers, 3);
}

TEST(group_helping_death, group_that_outlives_the_child_it_was_made_in_ends_the_process) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "death tests and ThreadSanitizer do not go together";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto keep_it = [] {
        thread_pool_executor pool(test::of_size(1));
        std::unique_ptr<task_group> kept;
        task_group outer{pool};
        outer.run([&] { kept = std::make_unique<task_group>(pool); });
        outer.wait();
    };
    EXPECT_DEATH(keep_it(), "a group outlives the child of another group that it was made in");
}

}  // namespace
