#include "unit/pool/conformance/reject_check.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace conformance {
namespace {

using spool::rejection_reason;
using spool::task;
using spool::thread_pool_executor;

constexpr int forms = 4;  // execute() and three forms of submit()

// The threads on which the tasks of one round have run.
using trace = std::vector<std::thread::id>;

// Submits in each of the three forms, and passes each submission to `look`.
template <class Look>
void submit_in_every_form(thread_pool_executor& pool, trace& ran, Look look) {
    const auto action = [&ran] { ran.push_back(std::this_thread::get_id()); };
    const auto function = [&ran] {
        ran.push_back(std::this_thread::get_id());
        return true;
    };
    look([&] { return pool.submit(action); });
    look([&] { return pool.submit(action, 7); });
    look([&] { return pool.submit(function); });
}

// What a handler received. It keeps the tasks, so their futures stay pending.
struct recording {
    struct entry {
        task work;
        rejection_reason reason;
        const thread_pool_executor* pool;
    };
    std::vector<entry> entries;

    void expect_one_of(const thread_pool_executor& pool, rejection_reason reason, spool::task_id id) const {
        ASSERT_EQ(entries.size(), 1U);
        EXPECT_EQ(entries[0].pool, &pool);
        EXPECT_EQ(entries[0].reason, reason);
        EXPECT_EQ(entries[0].work.id(), id);
    }
};

void expect_handler_gets_each_once(thread_pool_executor& pool, rejection_reason reason) {
    const auto record = std::make_shared<recording>();
    pool.set_rejection([record](task&& work, rejection_reason why, thread_pool_executor& where) {
        record->entries.push_back({std::move(work), why, &where});
    });
    trace ran;
    task given = [&ran] { ran.push_back(std::this_thread::get_id()); };
    const spool::task_id id = given.id();
    EXPECT_NO_THROW(pool.execute(std::move(given)));
    record->expect_one_of(pool, reason, id);
    record->entries.clear();

    submit_in_every_form(pool, ran, [&](auto submit) {
        const auto result = submit();
        record->expect_one_of(pool, reason, result.id());
        EXPECT_FALSE(result.is_done()) << "somebody still holds the task";
        record->entries.clear();
        EXPECT_TRUE(result.is_cancelled()) << "nobody can run it any more";
    });
    EXPECT_TRUE(ran.empty());
}

void expect_abort_throws(thread_pool_executor& pool, rejection_reason reason) {
    pool.set_rejection(spool::abort_policy{});
    trace ran;
    const auto expect_rejection = [&](auto call) {
        try {
            call();
            ADD_FAILURE() << "accepted";
        } catch (const spool::rejected_execution& e) {
            EXPECT_EQ(e.reason(), reason) << e.what();
        }
    };
    expect_rejection([&] { pool.execute([&ran] { ran.push_back(std::this_thread::get_id()); }); });
    submit_in_every_form(pool, ran,
                         [&](auto submit) { expect_rejection([&] { static_cast<void>(submit()); }); });
    EXPECT_TRUE(ran.empty());
}

void expect_discard_drops(thread_pool_executor& pool) {
    pool.set_rejection(spool::discard_policy{});
    trace ran;
    EXPECT_NO_THROW(pool.execute([&ran] { ran.push_back(std::this_thread::get_id()); }));
    submit_in_every_form(pool, ran, [](auto submit) { EXPECT_TRUE(submit().is_cancelled()); });
    EXPECT_TRUE(ran.empty());
}

void expect_caller_runs_unless_shut_down(thread_pool_executor& pool, rejection_reason reason) {
    pool.set_rejection(spool::caller_runs_policy{});
    trace ran;
    EXPECT_NO_THROW(pool.execute([&ran] { ran.push_back(std::this_thread::get_id()); }));
    const bool runs = reason == rejection_reason::full;
    submit_in_every_form(pool, ran, [&](auto submit) {
        const auto result = submit();
        EXPECT_EQ(result.state(), runs ? spool::future_state::succeeded : spool::future_state::cancelled);
    });
    EXPECT_EQ(ran, runs ? trace(forms, std::this_thread::get_id()) : trace{});
}

}  // namespace

void expect_submissions_are_rejected(thread_pool_executor& pool, rejection_reason reason) {
    SCOPED_TRACE(pool.describe());
    const spool::rejection_policy policy = pool.rejection();
    const spool::pool_snapshot before = pool.snapshot();

    expect_handler_gets_each_once(pool, reason);
    expect_handler_gets_each_once(pool, reason);
    expect_abort_throws(pool, reason);
    expect_discard_drops(pool);
    expect_caller_runs_unless_shut_down(pool, reason);

    pool.set_rejection(policy);
    // The counts of tasks and of the queue must not change.
    spool::pool_snapshot expected = before;
    expected.rejected += 5 * forms;
    EXPECT_EQ(pool.snapshot(), expected) << pool.describe();
}

}  // namespace conformance
