// The queue of a working pool: looking at it, and removing tasks.
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::future;
using spool::task;
using spool::task_id;
using spool::thread_pool_executor;

bool is_queued(thread_pool_executor& pool, task_id id) {
    return pool.queue().contains([id](const task& t) { return t.id() == id; });
}

TEST(thread_pool_executor, TPE_023_the_queue_is_the_one_given_and_holds_what_does_not_run) {
    constexpr int tasks = 5;
    blocker held;
    spool::pool_options options = sized(1, 1);
    const spool::blocking_queue<task>* const given = options.queue.get();
    thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool, held};
    std::vector<future<void>> futures;
    for (int i = 0; i < tasks; ++i) {
        futures.push_back(pool.submit(held.body()));
    }
    ASSERT_TRUE(held.holds(1));
    EXPECT_EQ(&pool.queue(), given);
    EXPECT_FALSE(is_queued(pool, futures[0].id()));
    for (std::size_t i = 1; i < futures.size(); ++i) {
        EXPECT_TRUE(is_queued(pool, futures[i].id()));
    }
    EXPECT_EQ(pool.queue().size(), 4U);
}

TEST(thread_pool_executor, TPE_024_a_queued_task_can_be_removed_once_a_running_one_not) {
    constexpr int tasks = 6;
    blocker held;
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool, held};
    std::vector<task_id> ids;
    for (int i = 0; i < tasks; ++i) {
        task work = held.body();
        ids.push_back(work.id());
        pool.execute(std::move(work));
    }
    ASSERT_TRUE(held.holds(1));
    EXPECT_FALSE(pool.remove(ids[0]));
    EXPECT_TRUE(is_queued(pool, ids[4]));
    EXPECT_TRUE(is_queued(pool, ids[3]));

    EXPECT_TRUE(pool.remove(ids[4]));
    EXPECT_FALSE(pool.remove(ids[4]));
    EXPECT_FALSE(is_queued(pool, ids[4]));
    EXPECT_TRUE(is_queued(pool, ids[3]));

    EXPECT_TRUE(pool.remove(ids[3]));
    EXPECT_FALSE(is_queued(pool, ids[3]));
    EXPECT_EQ(pool.queue().size(), 3U);

    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(held.left(), 4) << "the removed ones never ran, the others did";
}

TEST(thread_pool_executor, TPE_025_purge_takes_the_cancelled_ones_out) {
    constexpr int tasks = 5;
    blocker held;
    thread_pool_executor pool{sized<linked_queue>(1, 1)};
    const ended_at_last end{pool, held};
    std::vector<future<void>> futures;
    for (int i = 0; i < tasks; ++i) {
        futures.push_back(pool.submit(held.body()));
    }
    ASSERT_TRUE(held.holds(1));
    EXPECT_EQ(pool.task_count(), 5U);
    EXPECT_EQ(pool.queue().size(), 4U);

    EXPECT_TRUE(futures[4].cancel(spool::cancel_mode::interrupt));
    EXPECT_TRUE(futures[3].cancel(spool::cancel_mode::let_run));
    EXPECT_EQ(pool.purge(), 2U);
    EXPECT_EQ(pool.task_count(), 3U);
    EXPECT_EQ(pool.queue().size(), 2U);

    EXPECT_EQ(pool.purge(), 0U);
    EXPECT_EQ(pool.task_count(), 3U);
    EXPECT_EQ(pool.queue().size(), 2U);
    EXPECT_TRUE(is_queued(pool, futures[1].id()));
    EXPECT_TRUE(is_queued(pool, futures[2].id()));
}

}  // namespace
}  // namespace conformance
