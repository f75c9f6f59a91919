#include "unit/schedule/conformance/reject_check.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "spool/base/error.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::rejection_reason;
using spool::scheduled_thread_pool_executor;
using spool::task;
using spool::thread_pool_executor;

constexpr int forms = 8;  // execute(), three forms of submit() and four of scheduling

// Submits in each of the seven forms that return a future, and passes each submission to `look`. No
// task may run.
template <class Look>
void schedule_in_every_form(scheduled_thread_pool_executor& pool, Look look) {
    std::atomic<int> ran{0};
    const auto action = [&ran] { ++ran; };
    const auto function = [&ran] { return ++ran; };
    look([&] { return pool.submit(action); });
    look([&] { return pool.submit(action, 7); });
    look([&] { return pool.submit(function); });
    look([&] { return pool.schedule(action, 1s); });
    look([&] { return pool.schedule(function, 1s); });
    look([&] { return pool.schedule_at_fixed_rate(action, 1s, 1s); });
    look([&] { return pool.schedule_with_fixed_delay(action, 1s, 1s); });
    EXPECT_EQ(ran, 0);
}

// What a handler received. It keeps the tasks, so their futures stay pending.
struct recording {
    struct entry {
        task work;
        rejection_reason reason;
        const thread_pool_executor* pool;
    };
    std::vector<entry> entries;

    void expect_one_of(const thread_pool_executor& pool, spool::task_id id) const {
        ASSERT_EQ(entries.size(), 1U);
        EXPECT_EQ(entries[0].pool, &pool);
        EXPECT_EQ(entries[0].reason, rejection_reason::shut_down);
        EXPECT_EQ(entries[0].work.id(), id);
    }
};

void expect_handler_gets_each_once(scheduled_thread_pool_executor& pool) {
    const auto record = std::make_shared<recording>();
    pool.set_rejection([record](task&& work, rejection_reason why, thread_pool_executor& where) {
        record->entries.push_back({std::move(work), why, &where});
    });
    task given = [] { ADD_FAILURE() << "it ran"; };
    const spool::task_id id = given.id();
    EXPECT_NO_THROW(pool.execute(std::move(given)));
    record->expect_one_of(pool, id);
    record->entries.clear();

    schedule_in_every_form(pool, [&](auto hand_over) {
        const auto result = hand_over();
        record->expect_one_of(pool, result.id());
        EXPECT_FALSE(result.is_done()) << "somebody still holds the task";
        record->entries.clear();
        EXPECT_TRUE(result.is_cancelled()) << "nobody can run it any more";
    });
}

void expect_abort_throws(scheduled_thread_pool_executor& pool) {
    pool.set_rejection(spool::abort_policy{});
    const auto expect_rejection = [](auto call) {
        try {
            call();
            ADD_FAILURE() << "accepted";
        } catch (const spool::rejected_execution& e) {
            EXPECT_EQ(e.reason(), rejection_reason::shut_down) << e.what();
        }
    };
    expect_rejection([&] { pool.execute([] { ADD_FAILURE() << "it ran"; }); });
    schedule_in_every_form(
        pool, [&](auto hand_over) { expect_rejection([&] { static_cast<void>(hand_over()); }); });
}

// discard_policy drops every task, caller_runs_policy the tasks of a pool that is shut down.
void expect_dropped_by(scheduled_thread_pool_executor& pool, spool::rejection_policy policy) {
    pool.set_rejection(std::move(policy));
    EXPECT_NO_THROW(pool.execute([] { ADD_FAILURE() << "it ran"; }));
    schedule_in_every_form(pool, [](auto hand_over) { EXPECT_TRUE(hand_over().is_cancelled()); });
}

}  // namespace

void expect_all_forms_are_rejected(scheduled_thread_pool_executor& pool) {
    SCOPED_TRACE(pool.describe());
    const spool::rejection_policy policy = pool.rejection();
    const spool::pool_snapshot before = pool.snapshot();

    expect_handler_gets_each_once(pool);
    expect_handler_gets_each_once(pool);
    expect_abort_throws(pool);
    expect_dropped_by(pool, spool::discard_policy{});
    expect_dropped_by(pool, spool::caller_runs_policy{});

    pool.set_rejection(policy);
    // The counts of tasks and of the queue must not change.
    spool::pool_snapshot expected = before;
    expected.rejected += 5 * forms;
    EXPECT_EQ(pool.snapshot(), expected) << pool.describe();
}

}  // namespace conformance
