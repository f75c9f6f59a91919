// Ids: unique in the process, increasing in a thread, kept by a move.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

#include "spool/base/task.hpp"

namespace {

using spool::task;
using spool::task_id;

TEST(task_identity, each_task_has_an_id_of_its_own) {
    const task one = [] {};
    const task other = [] {};
    EXPECT_NE(one.id(), 0U);
    EXPECT_NE(other.id(), 0U);
    EXPECT_NE(one.id(), other.id());
}

TEST(task_identity, move_keeps_the_id) {
    task first = [] {};
    const task_id id = first.id();
    task second{std::move(first)};
    EXPECT_EQ(second.id(), id);
    EXPECT_EQ(first.id(), 0U);
    task third = [] {};
    third = std::move(second);
    EXPECT_EQ(third.id(), id);
    EXPECT_EQ(second.id(), 0U);
}

TEST(task_identity, call_keeps_the_id) {
    task work = [] {};
    const task_id id = work.id();
    work();
    EXPECT_EQ(work.id(), id);
}

TEST(task_identity, new_callable_gets_a_new_id) {
    task work = [] {};
    const task_id id = work.id();
    work = [] {};
    EXPECT_NE(work.id(), 0U);
    EXPECT_NE(work.id(), id);
}

// Enough ids for several of the blocks that threads reserve.
TEST(task_identity, ids_are_unique_over_threads_and_increase_in_each) {
    constexpr std::size_t thread_count = 8;
    constexpr std::size_t tasks_each = 20'000;
    std::vector<std::vector<task_id>> ids(thread_count);
    {
        std::latch start{thread_count};
        std::vector<std::jthread> threads;
        for (std::vector<task_id>& mine : ids) {
            threads.emplace_back([&mine, &start] {
                mine.reserve(tasks_each);
                start.arrive_and_wait();
                for (std::size_t i = 0; i < tasks_each; ++i) {
                    mine.push_back(task{[] {}}.id());
                }
            });
        }
    }

    std::vector<task_id> all;
    for (const std::vector<task_id>& some : ids) {
        EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
        all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), thread_count * tasks_each);
    EXPECT_NE(all.front(), 0U);
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
}

}  // namespace
