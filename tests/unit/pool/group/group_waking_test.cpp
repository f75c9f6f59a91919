// How often a sleeping maker is woken: once, by the last child.
#include <sys/resource.h>

#include <gtest/gtest.h>

#include <atomic>

#include "unit/pool/group/group_helpers.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;

// How often the calling thread has gone to sleep so far.
long sleeps_of_this_thread() {
    rusage usage{};
    EXPECT_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

// The children are forked by another child, while the maker sleeps: otherwise it would run them
// itself. Each ends only when the maker sleeps. So a maker that a child wakes goes to sleep again
// before the next child ends.
long sleeps_of_a_join(thread_pool_executor& pool, int children) {
    const pid_t maker = gettid();
    test::gate begun;
    task_group group{pool};
    group.run([&] {
        begun.open();
        EXPECT_TRUE(test::falls_asleep(maker));
        for (int i = 0; i < children; ++i) {
            group.run([&] { EXPECT_TRUE(test::falls_asleep(maker)); });
        }
    });
    EXPECT_TRUE(begun.opens());
    const long before = sleeps_of_this_thread();
    group.wait();
    return sleeps_of_this_thread() - before;
}

TEST(group_waking, maker_outside_of_the_pool_sleeps_once_for_all_its_children) {
    thread_pool_executor pool(test::of_size(1));
    EXPECT_LT(sleeps_of_a_join(pool, 200), 20);
}

// The maker is a worker of another pool, and a guest of this one.
TEST(group_waking, maker_on_a_worker_sleeps_once_for_all_children_that_others_run) {
    thread_pool_executor pool(test::of_size(1));
    thread_pool_executor makers(test::of_size(1));
    EXPECT_LT(test::in_time(makers.submit([&] { return sleeps_of_a_join(pool, 200); })), 20);
}

TEST(group_waking, maker_sleeps_through_children_that_end_one_after_the_other_on_two_workers) {
    thread_pool_executor pool(test::of_size(2, test::stealing()));
    EXPECT_LT(sleeps_of_a_join(pool, 200), 20);
}

}  // namespace
