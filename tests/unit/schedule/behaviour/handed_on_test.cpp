// Scheduled futures away from their pool: cancelled long after the pool is gone, and their tasks
// given to other pools.
#include <gtest/gtest.h>

#include <optional>

#include "schedule_helpers.hpp"

namespace {

using namespace std::chrono_literals;

TEST(scheduled_future_alone, can_be_queried_and_cancelled_after_its_pool_is_destroyed) {
    std::vector<spool::scheduled_future<void>> left;
    for (int round = 0; round < 3; ++round) {  // each new pool reuses the same timer_gate
        test::timed_pool timed;
        left.push_back(timed.pool.schedule([] {}, 1h));
        left.push_back(timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h));
    }
    test::timed_pool other;
    const auto bystander = other.pool.schedule([] {}, 1h);
    for (const auto& f : left) {
        EXPECT_FALSE(f.cancel());
        EXPECT_TRUE(f.is_cancelled());
        EXPECT_EQ(f.delay(), 0ns);
        EXPECT_FALSE(other.pool.remove(f));
    }
    EXPECT_FALSE(bystander.is_done());
    EXPECT_EQ(other.pool.queue().size(), 1U);
}

TEST(scheduled_future_alone, without_a_state_throws_a_logic_error) {
    const spool::scheduled_future<int> none;
    test::timed_pool timed;
    EXPECT_THROW(static_cast<void>(none.delay()), std::logic_error);
    EXPECT_THROW(static_cast<void>(none.is_periodic()), std::logic_error);
    EXPECT_THROW(static_cast<void>(none.run_count()), std::logic_error);
    EXPECT_THROW(timed.pool.remove(none), std::logic_error);
}

TEST(scheduled_future_alone, has_all_that_a_future_has) {
    test::timed_pool timed;
    const auto timer = timed.pool.schedule([] { return 3; }, 1h);
    EXPECT_EQ(timer.state(), spool::future_state::pending);
    EXPECT_THROW(static_cast<void>(timer.result_now()), std::logic_error);
    timed.advance(1h);
    EXPECT_EQ(timer.state(), spool::future_state::succeeded);
    EXPECT_EQ(timer.result_now(), 3);
    const spool::future<int> plain = timer;
    EXPECT_EQ(plain, timer);
}

// A timer costs one allocation of at most 96 bytes for a callable that captures a pointer.
struct small_body {
    void* captured;
    void operator()() const {}
};
static_assert(sizeof(spool::detail::once_body<void, small_body>) == 88);
static_assert(sizeof(spool::detail::once_body<int, small_body>) == 96);
static_assert(sizeof(spool::detail::wall_time_body<void, small_body>) == 96);
static_assert(sizeof(spool::detail::future_body<void, small_body>) == 80);
static_assert(sizeof(spool::detail::future_body<int, small_body>) == 88);

// Its base is a plain handle, and can be made to refer to any future.
TEST(scheduled_future_alone, that_refers_to_a_plain_future_has_no_remaining_delay) {
    test::timed_pool timed;
    auto timer = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    spool::future<void>& base = timer;
    base = timed.pool.submit([] {});
    EXPECT_EQ(timer.delay(), 0ns);
    EXPECT_FALSE(timer.is_periodic());
    EXPECT_EQ(timer.run_count() + timer.failure_count(), 0U);
    EXPECT_FALSE(timed.pool.remove(timer));
}

TEST(scheduled_future_alone, of_another_pool_is_not_removed) {
    test::timed_pool one;
    test::timed_pool other;
    const auto timer = one.pool.schedule([] {}, 1h);
    EXPECT_FALSE(other.pool.remove(timer));
    EXPECT_FALSE(timer.is_done());
}

// ---- The task of a scheduled future, handed back by shutdown_now()

struct handed_back {
    template <class When>
    explicit handed_back(When when) {
        test::busy_workers busy;
        test::timed_pool timed;
        busy.hold(timed.pool);
        timer = timed.pool.schedule_at([] { return 7; }, when);
        std::vector<spool::task> back = timed.pool.shutdown_now();
        busy.release();
        if (back.size() == 1) {
            work = std::move(back[0]);
        }
    }
    spool::scheduled_future<int> timer;
    spool::task work;
};

class scheduled_task_elsewhere : public testing::TestWithParam<std::chrono::steady_clock::time_point> {
protected:
    handed_back from_{GetParam()};
};

TEST_P(scheduled_task_elsewhere, runs_in_an_ordinary_pool) {
    spool::thread_pool_executor pool({.core_size = 1});
    pool.execute(std::move(from_.work));
    EXPECT_EQ(from_.timer.get(), 7);
}

TEST_P(scheduled_task_elsewhere, can_be_queried_and_cancelled_in_the_queue_of_an_ordinary_pool) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end open{busy.release_gate()};
    busy.hold(pool);
    pool.execute(std::move(from_.work));
    EXPECT_EQ(from_.timer.delay(), 0ns);
    EXPECT_TRUE(from_.timer.cancel());
    EXPECT_TRUE(from_.timer.is_cancelled());
}

// The submitter waits for room, so the task is in the queue before the pool publishes itself as its
// owner.
TEST_P(scheduled_task_elsewhere, can_be_queried_and_cancelled_after_a_wait_for_room) {
    test::busy_workers busy;
    test::gate second;
    test::gate second_runs;
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::bounded(1)});
    const test::open_at_end open_second{second};
    const test::open_at_end open{busy.release_gate()};
    busy.hold(pool);
    pool.execute([&] {
        second_runs.open();
        second.wait();
    });
    std::thread submitter{[&] {
        EXPECT_EQ(pool.execute_for(std::move(from_.work), test::long_delay()),
                  spool::admission_result::accepted);
    }};
    EXPECT_TRUE(test::others_fall_asleep());
    busy.release();
    EXPECT_TRUE(second_runs.opens());
    submitter.join();
    EXPECT_EQ(from_.timer.delay(), 0ns);
    EXPECT_TRUE(from_.timer.cancel());
}

TEST_P(scheduled_task_elsewhere, is_queued_by_another_scheduled_pool_like_a_task_of_its_own) {
    test::busy_workers busy;
    test::timed_pool other;
    const test::open_at_end open{busy.release_gate()};
    busy.hold(other.pool);
    other.pool.execute(std::move(from_.work));
    EXPECT_EQ(other.pool.queue().size(), 1U);
    EXPECT_TRUE(other.pool.remove(from_.timer));
    EXPECT_EQ(other.pool.queue().size(), 0U);
    EXPECT_TRUE(from_.timer.is_cancelled());
}

INSTANTIATE_TEST_SUITE_P(due, scheduled_task_elsewhere,
                         testing::Values(std::chrono::steady_clock::time_point::min(),
                                         std::chrono::steady_clock::time_point{},
                                         std::chrono::steady_clock::time_point{1s}));

// ---- cancel() and the pool's destructor at the same time

TEST(scheduled_future_race, cancel_and_the_pools_destruction_meet_without_harm) {
    for (int round = 0; round < 200; ++round) {
        std::vector<spool::scheduled_future<void>> timers;
        std::optional<spool::scheduled_thread_pool_executor> pool{
            std::in_place, spool::scheduled_pool_options{.core_size = 1}};
        for (int i = 0; i < 8; ++i) {
            timers.push_back(i % 2 == 0 ? pool->schedule([] {}, 1h)
                                        : pool->schedule_at_fixed_rate([] {}, 1h, 1h));
        }
        std::atomic<int> ready{0};
        std::thread canceller{[&] {
            ++ready;
            while (ready < 2) {}
            for (const auto& t : timers) {
                static_cast<void>(t.delay());
                t.cancel();
            }
        }};
        ++ready;
        while (ready < 2) {}
        pool.reset();
        canceller.join();
        for (const auto& t : timers) {
            ASSERT_TRUE(t.is_cancelled());
        }
    }
}

}  // namespace
