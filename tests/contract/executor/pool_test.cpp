// What every pool guarantees for its counts, its settings and its queue.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "contract/executor/kinds.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

using spool::task;
using spool::task_id;
using spool::thread_pool_executor;

class any_pool : public test::executor_test<thread_pool_executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, any_pool, testing::ValuesIn(test::executor_kinds(test::is_pool)),
                         test::name_of_kind{});

class storing_pool : public test::executor_test<thread_pool_executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, storing_pool, testing::ValuesIn(test::executor_kinds([](const auto& kind) {
                             return kind.is_pool && test::has_queue(kind);
                         })),
                         test::name_of_kind{});

// ---- Counts

TEST_P(any_pool, TPE_002_STPE_010_the_active_count_is_the_number_of_running_tasks) {
    std::atomic<std::size_t> seen_inside{99};
    auto pool = make();
    EXPECT_EQ(pool->active_count(), 0U);
    pool->execute([&, block = pool.blocked()] {
        seen_inside = pool->active_count();
        block();
    });
    ASSERT_TRUE(pool.holds(1));
    EXPECT_EQ(seen_inside, 1U);
    EXPECT_EQ(pool->active_count(), 1U);

    pool.release();
    EXPECT_TRUE(test::eventually([&] { return pool->active_count() == 0; }));
}

TEST_P(any_pool, TPE_005_STPE_011_a_task_counts_as_completed_only_after_its_end) {
    std::atomic<std::uint64_t> seen_inside{99};
    auto pool = make();
    EXPECT_EQ(pool->completed_task_count(), 0U);
    pool->execute([&, block = pool.blocked()] {
        seen_inside = pool->completed_task_count();
        block();
    });
    ASSERT_TRUE(pool.holds(1));
    EXPECT_EQ(seen_inside, 0U);
    EXPECT_EQ(pool->completed_task_count(), 0U);

    pool.release();
    EXPECT_TRUE(test::eventually([&] { return pool->completed_task_count() == 1; }));
}

TEST_P(any_pool, TPE_018_STPE_015_the_task_count_includes_running_and_queued_tasks) {
    constexpr std::uint64_t tasks = 4;
    auto pool = make(1);
    EXPECT_EQ(pool->task_count(), 0U);
    for (std::uint64_t given = 1; given <= tasks; ++given) {
        pool->execute(pool.blocked());
        ASSERT_TRUE(pool.holds(test::has_queue(GetParam()) ? 1 : static_cast<int>(given)));
        EXPECT_EQ(pool->task_count(), given);
        EXPECT_EQ(pool->completed_task_count(), 0U);
    }
    ASSERT_TRUE(pool.ends());
    EXPECT_EQ(pool->task_count(), tasks);
    EXPECT_EQ(pool->completed_task_count(), tasks);
}

TEST_P(storing_pool, TPE_006_STPE_012_the_core_size_reads_back) {
    EXPECT_EQ(make(1)->core_size(), 1U);
    EXPECT_EQ(make(3)->core_size(), 3U);
}

TEST_P(any_pool, TPE_015_STPE_013_the_largest_size_is_remembered_after_the_end) {
    constexpr int workers = 3;
    auto pool = make(workers);
    EXPECT_EQ(pool->largest_pool_size(), 0U);
    for (int i = 0; i < workers; ++i) {
        pool->execute(pool.blocked());
    }
    ASSERT_TRUE(pool.holds(workers));
    EXPECT_EQ(pool->largest_pool_size(), 3U);

    ASSERT_TRUE(pool.ends());
    EXPECT_EQ(pool->pool_size(), 0U);
    EXPECT_EQ(pool->largest_pool_size(), 3U);
}

TEST_P(any_pool, TPE_017_STPE_014_the_first_task_starts_the_first_worker) {
    auto pool = make(1);
    EXPECT_EQ(pool->pool_size(), 0U);
    pool->execute(pool.blocked());
    ASSERT_TRUE(pool.holds(1));
    EXPECT_EQ(pool->pool_size(), 1U);
}

// ---- Settings

/// Expects that `set()` throws std::invalid_argument, with a text that names the pool and contains
/// `reason`.
void expect_refused(const thread_pool_executor& pool, const std::function<void()>& set,
                    const std::string& reason) {
    const std::string text = test::what_of<std::invalid_argument>(set);
    EXPECT_NE(text.find('"' + pool.name() + '"'), std::string::npos) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text << "\ndoes not say: " << reason;
}

TEST_P(any_pool, TPE_008_STPE_016_thread_factory_returns_the_given_factory) {
    std::atomic<int> made{0};
    const spool::thread_factory given = test::counting_factory(made);
    auto pool = make(1, given);
    EXPECT_TRUE(pool->thread_factory() == given);
    EXPECT_FALSE(pool->thread_factory() == test::counting_factory(made))
        << "an equal-looking factory is another one";
}

TEST_P(any_pool, TPE_009_STPE_017_the_factory_can_be_replaced) {
    std::atomic<int> made{0};
    const spool::thread_factory second = test::counting_factory(made);
    auto pool = make();
    EXPECT_FALSE(pool->thread_factory() == second);
    pool->set_thread_factory(second);
    EXPECT_TRUE(pool->thread_factory() == second);
}

TEST_P(any_pool, TPE_010_STPE_018_an_empty_factory_cannot_be_set) {
    auto pool = make();
    const spool::thread_factory before = pool->thread_factory();
    expect_refused(
        *pool, [&] { pool->set_thread_factory({}); }, "the thread factory is empty");
    EXPECT_TRUE(pool->thread_factory() == before);
}

TEST_P(any_pool, TPE_011_STPE_019_the_default_policy_aborts) {
    auto pool = make();
    ASSERT_TRUE(pool.ends());
    EXPECT_NE(pool->rejection().target<spool::abort_policy>(), nullptr);
    EXPECT_THROW(pool->execute([] {}), spool::rejected_execution);
}

TEST_P(any_pool, TPE_013_the_policy_can_be_replaced) {
    const spool::rejection_policy second = spool::discard_policy{};
    auto pool = make();
    EXPECT_FALSE(pool->rejection() == second);
    pool->set_rejection(second);
    EXPECT_TRUE(pool->rejection() == second);
}

TEST_P(any_pool, TPE_014_an_empty_policy_cannot_be_set) {
    auto pool = make();
    const spool::rejection_policy before = pool->rejection();
    expect_refused(
        *pool, [&] { pool->set_rejection({}); }, "the rejection policy is empty");
    EXPECT_TRUE(pool->rejection() == before);
}

// ---- The queue

/// Gives a pool of one worker tasks that block: the first runs, the others wait in the queue.
std::vector<spool::future<void>> submit_blocked(test::any_subject& pool, std::size_t tasks) {
    std::vector<spool::future<void>> futures;
    for (std::size_t i = 0; i < tasks; ++i) {
        futures.push_back(pool.submit(pool.blocked()));
    }
    EXPECT_TRUE(pool.holds(1));
    return futures;
}

bool is_queued(thread_pool_executor& pool, task_id id) {
    const bool found = pool.queue().contains([id](const task& t) { return t.id() == id; });
    EXPECT_EQ(pool.contains(id), found);
    return found;
}

TEST_P(storing_pool, TPE_023_STPE_023_the_queue_holds_the_tasks_that_do_not_run) {
    auto pool = make(1);
    const auto futures = submit_blocked(pool, 5);
    EXPECT_FALSE(is_queued(*pool, futures[0].id()));
    for (std::size_t i = 1; i < futures.size(); ++i) {
        EXPECT_TRUE(is_queued(*pool, futures[i].id()));
    }
    EXPECT_EQ(pool->queue().size(), 4U);
}

TEST_P(storing_pool, TPE_024_STPE_024_a_queued_task_can_be_removed_once_and_a_running_one_never) {
    auto pool = make(1);
    const auto futures = submit_blocked(pool, 5);
    task plain = pool.blocked();
    const task_id sixth = plain.id();
    pool->execute(std::move(plain));
    EXPECT_FALSE(pool->remove(futures[0]));
    EXPECT_FALSE(pool->remove(futures[0].id()));
    EXPECT_TRUE(is_queued(*pool, futures[4].id()));
    EXPECT_TRUE(is_queued(*pool, futures[3].id()));

    EXPECT_TRUE(pool->remove(futures[4]));
    EXPECT_FALSE(pool->remove(futures[4]));
    EXPECT_FALSE(is_queued(*pool, futures[4].id()));
    EXPECT_TRUE(is_queued(*pool, futures[3].id()));

    for (const task_id other : {futures[3].id(), sixth}) {
        EXPECT_TRUE(pool->remove(other));
        EXPECT_FALSE(pool->remove(other));
        EXPECT_FALSE(is_queued(*pool, other));
    }
    EXPECT_EQ(pool->queue().size(), 2U);

    ASSERT_TRUE(pool.ends());
    EXPECT_EQ(pool.left(), 3) << "the removed tasks never ran, the others did";
    EXPECT_TRUE(futures[4].is_cancelled());
    EXPECT_TRUE(futures[3].is_cancelled());
}

TEST_P(storing_pool, TPE_025_STPE_025_purge_removes_the_cancelled_tasks) {
    auto pool = make(1);
    if (auto* const scheduler = pool.as<spool::scheduled_thread_pool_executor>()) {
        scheduler->set_remove_on_cancel(false);  // else they are gone before purge()
    }
    const auto futures = submit_blocked(pool, 5);
    EXPECT_EQ(pool->task_count(), 5U);
    EXPECT_EQ(pool->queue().size(), 4U);

    EXPECT_TRUE(futures[4].cancel(spool::cancel_mode::interrupt));
    EXPECT_TRUE(futures[3].cancel(spool::cancel_mode::let_run));
    EXPECT_EQ(pool->purge(), 2U);
    EXPECT_EQ(pool->task_count(), 3U);
    EXPECT_EQ(pool->queue().size(), 2U);

    EXPECT_EQ(pool->purge(), 0U);
    EXPECT_EQ(pool->task_count(), 3U);
    EXPECT_EQ(pool->queue().size(), 2U);
    EXPECT_TRUE(is_queued(*pool, futures[1].id()));
    EXPECT_TRUE(is_queued(*pool, futures[2].id()));
}

}  // namespace
