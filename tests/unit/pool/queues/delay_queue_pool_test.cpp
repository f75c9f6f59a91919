// A pool over a delay_queue: tasks run when they are due. Tasks that are not due can still be
// removed and handed back.
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/tracked.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;

template <class F>
struct due_at {
    spool::due_time when;
    F f;
    void operator()() { f(); }
    [[nodiscard]] spool::due_time due() const { return when; }
};
template <class F>
due_at(spool::due_time, F) -> due_at<F>;

spool::due_time from_now(std::chrono::nanoseconds d) {
    return std::chrono::steady_clock::now() + d;
}

// Prestarts the workers: a pool hands a new worker its first task at once, due or not.
class pool_with_delay_queue : public testing::Test {
protected:
    pool_with_delay_queue() { pool_.prestart_all_core_threads(); }
    ~pool_with_delay_queue() override {
        // Discards the tasks that a failed test left behind.
        static_cast<void>(pool_.shutdown_now());
    }

    std::atomic<int> alive_{0};
    std::atomic<int> ran_{0};
    spool::thread_pool_executor pool_{
        {.core_size = 2, .queue = std::make_unique<spool::delay_queue<spool::task>>()}};
};

TEST_F(pool_with_delay_queue, runs_tasks_when_they_are_due) {
    const spool::due_time when = from_now(test::small_delay());
    const auto early = std::make_shared<std::atomic<bool>>(false);
    const auto late =
        pool_.submit(due_at{when, [early, when] { *early = std::chrono::steady_clock::now() < when; }});
    const auto now = pool_.submit([] { return 7; });
    EXPECT_EQ(now.get(), 7);
    ASSERT_TRUE(late.wait_for(test::long_delay()));
    EXPECT_FALSE(*early);
}

TEST_F(pool_with_delay_queue, task_that_is_not_due_can_be_removed) {
    spool::task work = due_at{from_now(1h), [this, counted = test::tracked{alive_}] { ++ran_; }};
    const spool::task_id id = work.id();
    pool_.execute(std::move(work));
    const auto submitted = pool_.submit(due_at{from_now(1h), [this] { ++ran_; }});
    EXPECT_EQ(pool_.queue().size(), 2U);
    EXPECT_TRUE(pool_.remove(id));
    EXPECT_EQ(alive_, 0);
    EXPECT_TRUE(pool_.remove(submitted));
    EXPECT_TRUE(submitted.is_cancelled());
    EXPECT_TRUE(pool_.queue().empty());
    ASSERT_TRUE(test::ends(pool_));
    EXPECT_EQ(ran_, 0);
}

TEST_F(pool_with_delay_queue, purge_takes_out_what_was_cancelled) {
    const auto kept = pool_.submit(due_at{from_now(1h), [this] { ++ran_; }});
    const auto cancelled = pool_.submit(due_at{from_now(2h), [this] { ++ran_; }});
    cancelled.cancel();
    EXPECT_EQ(pool_.purge(), 1U);
    EXPECT_EQ(pool_.queue().size(), 1U);
    EXPECT_TRUE(pool_.remove(kept));
    ASSERT_TRUE(test::ends(pool_));
}

TEST_F(pool_with_delay_queue, shutdown_now_hands_back_what_is_not_due_in_order) {
    const spool::due_time later = from_now(1h);
    for (const int n : {3, 1, 2}) {
        pool_.execute(due_at{later + n * 1s, [this] { ++ran_; }});
    }
    std::vector<spool::due_time> back;
    for (const spool::task& t : pool_.shutdown_now()) {
        back.push_back(t.due());
    }
    EXPECT_EQ(back, (std::vector<spool::due_time>{later + 1s, later + 2s, later + 3s}));
    ASSERT_TRUE(pool_.await_termination(test::long_delay()));
    EXPECT_EQ(ran_, 0);
}

TEST_F(pool_with_delay_queue, shutdown_waits_for_what_is_not_due_yet) {
    pool_.execute(due_at{from_now(test::small_delay()), [this] { ++ran_; }});
    ASSERT_TRUE(test::ends(pool_));
    EXPECT_EQ(ran_, 1);
}

TEST_F(pool_with_delay_queue, removal_of_the_last_delayed_task_lets_a_shut_down_pool_end) {
    const auto only = pool_.submit(due_at{from_now(1h), [this] { ++ran_; }});
    pool_.shutdown();
    EXPECT_FALSE(pool_.is_terminated());
    EXPECT_TRUE(pool_.remove(only));
    ASSERT_TRUE(pool_.await_termination(test::long_delay()));
    EXPECT_EQ(ran_, 0);
}

// A changed setting reaches both the leader of the queue and its followers.
TEST_F(pool_with_delay_queue, idle_workers_time_out_while_a_delayed_task_waits) {
    pool_.execute(due_at{from_now(1h), [this] { ++ran_; }});
    pool_.set_keep_alive(1ms);
    pool_.set_core_size(1);
    EXPECT_TRUE(test::eventually([this] { return pool_.pool_size() == 1; }));
    EXPECT_EQ(pool_.shutdown_now().size(), 1U);
}

}  // namespace
