// What every pool guarantees for a task that it cannot accept, under each policy and for every way
// to submit.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "contract/executor/kinds.hpp"

namespace {

using namespace std::chrono_literals;
using spool::future_state;
using spool::rejection_reason;
using spool::task;
using spool::thread_pool_executor;

class rejecting_pool : public test::executor_test<thread_pool_executor> {};
INSTANTIATE_TEST_SUITE_P(kinds, rejecting_pool, testing::ValuesIn(test::executor_kinds(test::is_pool)),
                         test::name_of_kind{});

/// A future of any type.
struct handle {
    template <class T>
    explicit handle(const spool::future<T>& f) : id(f.id()), state([f] { return f.state(); }) {}
    spool::task_id id;
    std::function<future_state()> state;
};

/// Submits to a pool that currently accepts no task. Precondition: no task completes meanwhile.
class refusing_pool {
public:
    refusing_pool(test::subject<thread_pool_executor>& pool, rejection_reason reason)
        : pool_(*pool), reason_(reason) {
        const test::action action = [this] { ran_in_.push_back(std::this_thread::get_id()); };
        const auto function = [action] {
            action();
            return "value";
        };
        forms_ = {[&pool, action] { return handle{pool.submit(action)}; },
                  [&pool, action] { return handle{pool.submit(action, "given")}; },
                  [&pool, function] { return handle{pool.submit(function)}; }};
        if (auto* const scheduler = pool.as<spool::scheduled_thread_pool_executor>()) {
            forms_.insert(forms_.end(),
                          {[=] { return handle{scheduler->schedule(action, 1s)}; },
                           [=] { return handle{scheduler->schedule(function, 1s)}; },
                           [=] { return handle{scheduler->schedule_at_fixed_rate(action, 1s, 1s)}; },
                           [=] { return handle{scheduler->schedule_with_fixed_delay(action, 1s, 1s)}; }});
        }
    }

    /// Tries every policy with every form of submission. Restores the pool's policy.
    void expect_every_policy_to_hold() {
        SCOPED_TRACE(pool_.describe());
        const spool::rejection_policy policy = pool_.rejection();
        spool::pool_snapshot expected = pool_.snapshot();
        expect_handler_gets_each_once();
        expect_handler_gets_each_once();
        expect_abort_throws();
        expect_discard_drops();
        EXPECT_TRUE(ran_in_.empty());
        expect_caller_runs_unless_shut_down();

        pool_.set_rejection(policy);
        // The counts of tasks and of the queue must not change.
        expected.rejected += 5 * (1 + forms_.size());
        EXPECT_EQ(pool_.snapshot(), expected) << pool_.describe();
    }

private:
    void expect_handler_gets_each_once() {
        std::vector<task> kept;  // the handler keeps the tasks, so their futures stay pending
        const auto expect_one = [&](spool::task_id id) {
            ASSERT_EQ(kept.size(), 1U);
            EXPECT_EQ(kept[0].id(), id);
        };
        pool_.set_rejection([&](task&& work, rejection_reason why, thread_pool_executor& where) {
            EXPECT_EQ(why, reason_);
            EXPECT_EQ(&where, &pool_);
            kept.push_back(std::move(work));
        });
        task given = action();
        const spool::task_id id = given.id();
        EXPECT_NO_THROW(pool_.execute(std::move(given)));
        expect_one(id);
        for (const auto& submit : forms_) {
            kept.clear();
            const handle result = submit();
            expect_one(result.id);
            EXPECT_EQ(result.state(), future_state::pending) << "the handler still holds the task";
            kept.clear();
            EXPECT_EQ(result.state(), future_state::cancelled) << "the task was destroyed without a run";
        }
    }

    void expect_abort_throws() {
        pool_.set_rejection(spool::abort_policy{});
        const auto expect_rejection = [&](const auto& call) {
            try {
                call();
                ADD_FAILURE() << "accepted";
            } catch (const spool::rejected_execution& e) {
                EXPECT_EQ(e.reason(), reason_) << e.what();
            }
        };
        expect_rejection([&] { pool_.execute(action()); });
        for (const auto& submit : forms_) {
            expect_rejection(submit);
        }
    }

    void expect_discard_drops() {
        pool_.set_rejection(spool::discard_policy{});
        EXPECT_NO_THROW(pool_.execute(action()));
        for (const auto& submit : forms_) {
            EXPECT_EQ(submit().state(), future_state::cancelled);
        }
    }

    void expect_caller_runs_unless_shut_down() {
        const bool runs = reason_ == rejection_reason::full;
        pool_.set_rejection(spool::caller_runs_policy{});
        EXPECT_NO_THROW(pool_.execute(action()));
        for (const auto& submit : forms_) {
            EXPECT_EQ(submit().state(), runs ? future_state::succeeded : future_state::cancelled);
        }
        EXPECT_EQ(ran_in_, std::vector(runs ? 1 + forms_.size() : 0, std::this_thread::get_id()));
    }

    [[nodiscard]] task action() {
        return [this] { ran_in_.push_back(std::this_thread::get_id()); };
    }

    thread_pool_executor& pool_;
    const rejection_reason reason_;
    std::vector<std::thread::id> ran_in_;
    std::vector<std::function<handle()>> forms_;  // every way to submit that returns a future
};

enum class ending { orderly, now };

TEST_P(rejecting_pool, TPE_056_STPE_009_a_full_or_shut_down_pool_rejects_and_a_dropped_future_is_cancelled) {
    for (const ending how : {ending::orderly, ending::now}) {
        SCOPED_TRACE(how == ending::now ? "shutdown_now()" : "shutdown()");
        auto pool = make(1);
        pool->execute(pool.blocked());
        ASSERT_TRUE(pool.holds(1));
        std::size_t queued = 0;
        if (test::has_queue(GetParam()) && pool->queue().remaining_capacity() < 1000) {
            for (; pool->queue().remaining_capacity() > 0; ++queued) {
                pool->execute(pool.blocked());
            }
            refusing_pool{pool, rejection_reason::full}.expect_every_policy_to_hold();
        }
        if (how == ending::now) {
            EXPECT_EQ(pool->shutdown_now().size(), queued);
            queued = 0;
        } else {
            pool->shutdown();
        }
        EXPECT_FALSE(pool->is_terminated());
        refusing_pool{pool, rejection_reason::shut_down}.expect_every_policy_to_hold();

        ASSERT_TRUE(pool.ends());
        EXPECT_TRUE(pool->is_terminated());
        refusing_pool{pool, rejection_reason::shut_down}.expect_every_policy_to_hold();
        EXPECT_EQ(static_cast<std::size_t>(pool.left()), 1 + queued);
        EXPECT_EQ(pool->completed_task_count(), 1 + queued);
    }
}

}  // namespace
