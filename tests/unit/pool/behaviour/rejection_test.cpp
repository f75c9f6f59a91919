// The rejection policies: what happens to the task, what is counted, and what execute() throws.
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using spool::rejection_reason;

// A pool with one held worker and a full queue of one place.
class pool_rejection : public testing::Test {
protected:
    void saturate(spool::rejection_policy policy) {
        pool.set_rejection(std::move(policy));
        busy.hold(pool);
        ASSERT_TRUE(busy.started());
        queued = pool.submit([this] { ran.add("queued"); });
    }
    spool::task noting(const std::string& name) {
        return [this, name, counted = test::tracked{alive}] { ran.add(name); };
    }
    void finish() {
        busy.release();
        ASSERT_TRUE(test::ends(pool));
        EXPECT_EQ(alive, 0);
    }

    std::atomic<int> alive{0};
    test::record<std::string> ran;
    test::busy_workers busy;
    spool::future<void> queued;
    spool::thread_pool_executor pool{
        {.name = "full", .core_size = 1, .maximum_size = 1, .queue = test::bounded(1)}};
    test::open_at_end guard{busy.release_gate()};
};

// Asking many workers would cost more than the rest of a rejection.
TEST(rejection_message, leaves_out_what_only_the_workers_know_where_they_are_many) {
    const auto message_of = [](std::size_t workers) -> std::string {
        test::gate end;
        spool::thread_pool_executor pool(
            {.name = "p", .core_size = workers, .maximum_size = workers, .queue = test::bounded(1)});
        const test::open_at_end let_end{end};
        for (std::size_t i = 0; i <= workers; ++i) {
            pool.execute([&] { end.wait(); });
        }
        try {
            pool.execute([] {});
        } catch (const spool::rejected_execution& e) {
            return e.what();
        }
        return "accepted";
    };
    EXPECT_TRUE(test::contains(message_of(2), "active 2, queued 1 of 1, completed 0")) << message_of(2);
    EXPECT_TRUE(test::contains(message_of(33), "workers 33 of 33 (core 33), queued 1 of 1, rejected 1"))
        << message_of(33);
}

}  // namespace

TEST_F(pool_rejection, abort_throws_naming_pool_reason_and_numbers_and_drops_the_task) {
    saturate(spool::abort_policy{});
    try {
        pool.execute(noting("refused"));
        ADD_FAILURE() << "accepted";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), rejection_reason::full);
        EXPECT_EQ(e.executor(), "thread_pool_executor \"full\"");
        EXPECT_EQ(std::string{e.what()},
                  "thread_pool_executor \"full\": task rejected, queue full (state running, workers 1 of 1 "
                  "(core 1), active 1, queued 1 of 1, completed 0, rejected 1)");
    }
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish();
    EXPECT_EQ(ran.all(), std::vector<std::string>{"queued"});
}

TEST_F(pool_rejection, abort_after_shutdown_says_so) {
    pool.shutdown();
    try {
        pool.execute(noting("refused"));
        ADD_FAILURE() << "accepted";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), rejection_reason::shut_down);
        EXPECT_TRUE(test::contains(e.what(), "shut down")) << e.what();
    }
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish();
}

TEST_F(pool_rejection, caller_runs_runs_the_task_here_and_counts_it_as_rejected) {
    saturate(spool::caller_runs_policy{});
    std::thread::id where;
    const auto handle = pool.submit([&where] { where = std::this_thread::get_id(); });
    EXPECT_EQ(where, std::this_thread::get_id());
    EXPECT_EQ(handle.state(), spool::future_state::succeeded);
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish();
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST_F(pool_rejection, caller_runs_lets_an_exception_out_of_execute) {
    saturate(spool::caller_runs_policy{});
    EXPECT_EQ(test::what_of<std::runtime_error>(
                  [&] { pool.execute([] { throw std::runtime_error("to the caller"); }); }),
              "to the caller");
    const auto kept = pool.submit([] { throw std::runtime_error("into the future"); });
    EXPECT_EQ(kept.state(), spool::future_state::failed);
    finish();
}

TEST_F(pool_rejection, caller_runs_drops_the_task_once_the_pool_is_shut_down) {
    saturate(spool::caller_runs_policy{});
    pool.shutdown();
    const auto dropped = pool.submit([this] { ran.add("never"); });
    EXPECT_TRUE(dropped.is_cancelled());
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish();
    EXPECT_EQ(ran.count("never"), 0U);
}

TEST_F(pool_rejection, discard_drops_the_task_and_cancels_its_future) {
    saturate(spool::discard_policy{});
    const auto dropped = pool.submit([this] { ran.add("never"); });
    pool.execute(noting("never"));
    EXPECT_EQ(alive, 0);
    EXPECT_TRUE(dropped.is_cancelled());
    EXPECT_THROW(dropped.get(), spool::cancelled);
    EXPECT_EQ(pool.rejected_count(), 2U);
    finish();
    EXPECT_EQ(ran.all(), std::vector<std::string>{"queued"});
}

TEST_F(pool_rejection, discard_oldest_drops_the_head_and_takes_the_new_task) {
    saturate(spool::discard_oldest_policy{});
    const auto taken = pool.submit([this] { ran.add("new"); });
    EXPECT_TRUE(queued.is_cancelled());
    EXPECT_FALSE(taken.is_done());
    finish();
    EXPECT_EQ(ran.all(), std::vector<std::string>{"new"});
    EXPECT_EQ(taken.state(), spool::future_state::succeeded);
}

// One task is lost, so one is counted: the pool accepted the new task in the end.
TEST_F(pool_rejection, discard_oldest_counts_the_evicted_task_and_not_the_one_that_was_taken) {
    saturate(spool::discard_oldest_policy{});
    pool.execute(noting("new"));
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish();
    EXPECT_EQ(pool.completed_task_count(), 2U);
    EXPECT_EQ(ran.all(), std::vector<std::string>{"new"});
}

TEST_F(pool_rejection, discard_oldest_drops_the_task_itself_once_the_pool_is_shut_down) {
    saturate(spool::discard_oldest_policy{});
    pool.shutdown();
    const auto dropped = pool.submit([this] { ran.add("never"); });
    EXPECT_TRUE(dropped.is_cancelled());
    EXPECT_FALSE(queued.is_done());
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish();
    EXPECT_EQ(ran.all(), std::vector<std::string>{"queued"});
}

TEST_F(pool_rejection, an_own_callable_gets_task_reason_and_pool_and_may_keep_the_task) {
    std::vector<spool::task> kept;
    const spool::thread_pool_executor* seen = nullptr;
    saturate([&](spool::task&& work, rejection_reason reason, spool::thread_pool_executor& where) {
        EXPECT_EQ(reason, rejection_reason::full);
        seen = &where;
        kept.push_back(std::move(work));
    });
    spool::task mine = noting("kept");
    const auto id = mine.id();
    pool.execute(std::move(mine));
    EXPECT_EQ(seen, &pool);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept.front().id(), id);
    EXPECT_EQ(pool.rejected_count(), 1U);
    kept.front()();
    EXPECT_EQ(ran.count("kept"), 1U);
    kept.clear();
    finish();
}

TEST_F(pool_rejection, a_task_that_an_own_callable_leaves_alone_is_destroyed_and_its_future_cancelled) {
    saturate([](spool::task&&, rejection_reason, spool::thread_pool_executor&) {});
    const auto left = pool.submit([this] { ran.add("never"); });
    EXPECT_TRUE(left.is_cancelled());
    finish();
}

TEST_F(pool_rejection, a_handler_that_throws_tells_the_submitter_and_harms_nothing) {
    saturate([](spool::task&&, rejection_reason, spool::thread_pool_executor&) {
        throw std::logic_error("handler");
    });
    EXPECT_THROW(pool.execute(noting("never")), std::logic_error);
    EXPECT_THROW(static_cast<void>(pool.submit([] {})), std::logic_error);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(pool.queue().size(), 1U);
    finish();
    EXPECT_EQ(ran.all(), std::vector<std::string>{"queued"});
}

TEST_F(pool_rejection, a_handler_may_submit_to_the_pool_again) {
    saturate([](spool::task&& work, rejection_reason, spool::thread_pool_executor& where) {
        ASSERT_EQ(where.queue().remove_if([](const spool::task&) { return true; }), 1U);
        where.execute(std::move(work));
    });
    pool.execute(noting("again"));
    finish();
    EXPECT_EQ(ran.all(), std::vector<std::string>{"again"});
}

TEST(pool_rejection_synchronous, discard_oldest_finds_nothing_to_drop_and_drops_the_task_itself) {
    test::busy_workers busy;
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 1,
                                      .queue = test::synchronous(),
                                      .rejection = spool::discard_oldest_policy{}});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    const auto dropped = pool.submit([&ran] { ++ran; });
    EXPECT_TRUE(dropped.is_cancelled());
    EXPECT_EQ(pool.rejected_count(), 1U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 0);
}

TEST(pool_rejection_handles, copies_of_a_policy_are_equal_and_tell_their_kind) {
    const spool::rejection_policy one = spool::discard_policy{};
    const spool::rejection_policy copy = one;
    const spool::rejection_policy other = spool::discard_policy{};
    EXPECT_EQ(one, copy);
    EXPECT_FALSE(one == other);
    EXPECT_NE(one.target<spool::discard_policy>(), nullptr);
    EXPECT_EQ(one.target<spool::abort_policy>(), nullptr);
    EXPECT_EQ(spool::rejection_policy{}.target<spool::abort_policy>(), nullptr);
    EXPECT_FALSE(spool::rejection_policy{});
}
