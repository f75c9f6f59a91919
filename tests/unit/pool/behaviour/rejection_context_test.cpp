// rejection_context: what a user's policy may do with a refused task, and what is counted.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "own_block_policy.hpp"
#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

using namespace std::chrono_literals;
using spool::admission_result;
using spool::rejection_context;
using spool::rejection_reason;
using spool::task;

struct refusal_hooks : spool::pool_hooks {
    void rejected(const spool::task_info& t, rejection_reason why) override {
        refused.add(t.id);
        reasons.add(why);
        priorities.add(t.priority);
    }
    test::record<spool::task_id> refused;
    test::record<rejection_reason> reasons;
    test::record<int> priorities;
};

// A pool with one held worker and a full queue of one place.
class pool_rejection_context : public testing::Test {
protected:
    void saturate(spool::rejection_policy policy) {
        pool.set_rejection(std::move(policy));
        busy.hold(pool);
        ASSERT_TRUE(busy.started());
        queued = pool.submit([this] { ran.add("queued"); });
    }
    void finish() {
        busy.release();
        ASSERT_TRUE(test::ends(pool));
    }

    const std::shared_ptr<refusal_hooks> hooks = std::make_shared<refusal_hooks>();
    test::record<std::string> ran;
    test::record<std::string> uncaught;
    test::busy_workers busy;
    spool::future<void> queued;
    spool::thread_pool_executor pool{
        {.core_size = 1,
         .maximum_size = 1,
         .queue = test::bounded(1),
         .hooks = hooks,
         .uncaught = [this](const spool::worker_info&, const std::exception_ptr& e) {
             uncaught.add(spool::describe(e));
         }}};
    test::open_at_end guard{busy.release_gate()};
};

}  // namespace

TEST_F(pool_rejection_context, tells_reason_pool_and_that_the_submitter_is_no_worker) {
    saturate([this](task&&, rejection_context& refusal) {
        EXPECT_EQ(refusal.reason(), rejection_reason::full);
        EXPECT_EQ(&refusal.pool(), &pool);
        EXPECT_FALSE(refusal.on_worker());
    });
    pool.execute([] {});
    finish();
}

TEST_F(pool_rejection_context, counts_a_task_once_that_the_policy_neither_placed_nor_ran) {
    saturate([](task&&, rejection_context&) {});
    const auto dropped = pool.submit([] {});
    EXPECT_TRUE(dropped.is_cancelled());
    EXPECT_EQ(pool.rejected_count(), 1U);
    EXPECT_EQ(hooks->refused.all(), std::vector{dropped.id()});
    finish();
}

TEST_F(pool_rejection_context, counts_a_task_once_where_the_policy_gives_up_and_throws) {
    saturate([](task&&, rejection_context& refusal) {
        refusal.give_up();
        refusal.give_up();
        throw std::logic_error("own");
    });
    EXPECT_EQ(test::what_of<std::logic_error>([&] { pool.execute([] {}); }), "own");
    EXPECT_EQ(pool.rejected_count(), 1U);
    EXPECT_EQ(hooks->refused.size(), 1U);
    finish();
}

TEST_F(pool_rejection_context, counts_a_task_before_the_exception_of_the_policy_leaves_execute) {
    saturate([](task&&, rejection_context&) { throw std::logic_error("own"); });
    EXPECT_THROW(pool.execute([] {}), std::logic_error);
    EXPECT_EQ(pool.rejected_count(), 1U);
    EXPECT_EQ(hooks->refused.size(), 1U);
    finish();
}

TEST_F(pool_rejection_context, makes_the_error_of_abort_policy) {
    saturate([](task&&, rejection_context& refusal) { throw refusal.error(); });
    const auto message = [this] {
        return test::what_of<spool::rejected_execution>([this] { pool.execute([] {}); });
    };
    const std::string own = message();
    EXPECT_TRUE(test::contains(own, "task rejected, queue full")) << own;
    EXPECT_TRUE(test::contains(own, "rejected 1)")) << own;
    pool.set_rejection(spool::abort_policy{});
    EXPECT_TRUE(test::contains(message(), "rejected 2)"));
    finish();
}

TEST_F(pool_rejection_context, gets_a_task_in_that_takes_the_place_of_the_oldest) {
    saturate([](task&& work, rejection_context& refusal) {
        EXPECT_EQ(refusal.retry(work), admission_result::full);
        EXPECT_FALSE(work.empty()) << "a refused task stays with the policy";
        ASSERT_TRUE(refusal.evict_oldest());
        EXPECT_EQ(refusal.retry(work), admission_result::accepted);
    });
    pool.execute([this] { ran.add("new"); });
    EXPECT_TRUE(queued.is_cancelled());
    EXPECT_EQ(pool.rejected_count(), 1U) << "the evicted one alone";
    EXPECT_EQ(hooks->reasons.all(), std::vector{rejection_reason::evicted});
    finish();
    EXPECT_EQ(ran.all(), std::vector<std::string>{"new"});
}

TEST_F(pool_rejection_context, follows_the_pool_with_its_reason) {
    saturate([this](task&& work, rejection_context& refusal) {
        pool.shutdown();
        EXPECT_EQ(refusal.retry(work), admission_result::shut_down);
        EXPECT_EQ(refusal.reason(), rejection_reason::shut_down);
    });
    pool.execute([] {});
    EXPECT_EQ(hooks->reasons.all(), std::vector{rejection_reason::shut_down});
    finish();
}

TEST_F(pool_rejection_context, runs_a_task_on_the_submitter_and_lets_its_exception_out) {
    std::thread::id where;
    saturate([](task&& work, rejection_context& refusal) { refusal.run_here(work); });
    pool.execute([&where] { where = std::this_thread::get_id(); });
    EXPECT_EQ(where, std::this_thread::get_id());
    EXPECT_EQ(test::what_of<std::runtime_error>(
                  [this] { pool.execute([] { throw std::runtime_error("to the caller"); }); }),
              "to the caller");
    EXPECT_EQ(pool.rejected_count(), 0U) << "a task that ran was not given up";
    finish();
}

TEST_F(pool_rejection_context, runs_a_task_on_the_submitter_whose_exception_goes_to_uncaught) {
    saturate([](task&& work, rejection_context& refusal) {
        refusal.run_here(work, rejection_context::thrown_to::uncaught);
    });
    pool.execute([] { throw std::runtime_error("to the handler"); });
    EXPECT_EQ(uncaught.all(), std::vector<std::string>{"to the handler"});
    finish();
}

TEST_F(pool_rejection_context, tells_a_hook_the_priority_of_a_task_that_the_policy_moved_away) {
    struct urgent {
        [[nodiscard]] static int priority() { return 7; }
        void operator()() const {}
    };
    std::vector<task> aside;
    saturate([&](task&& work, rejection_context&) { aside.push_back(std::move(work)); });
    pool.execute(urgent{});
    EXPECT_EQ(aside.size(), 1U);
    EXPECT_EQ(hooks->priorities.all(), std::vector{7});
    aside.clear();
    finish();
}

TEST_F(pool_rejection_context, lets_a_user_write_a_policy_that_gives_up_at_a_deadline) {
    saturate(test::own_block_policy{spool::deadline::after(1ms)});
    EXPECT_THROW(pool.execute([] {}), spool::rejected_execution);
    EXPECT_EQ(pool.rejected_count(), 1U);
    EXPECT_EQ(hooks->reasons.all(), std::vector{rejection_reason::full});
    finish();
}

TEST_F(pool_rejection_context, is_what_a_policy_of_the_older_form_finds_counted_already) {
    std::uint64_t counted = 0;
    saturate([&](task&&, rejection_reason, spool::thread_pool_executor& where) {
        counted = where.rejected_count();
    });
    pool.execute([] {});
    EXPECT_EQ(counted, 1U);
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish();
}

TEST(pool_rejection_forms, policies_of_both_forms_tell_their_kind) {
    const auto with_context = [](task&&, rejection_context&) {};
    const auto with_reason = [](task&&, rejection_reason, spool::thread_pool_executor&) {};
    const spool::rejection_policy one = with_context;
    const spool::rejection_policy two = with_reason;
    EXPECT_NE(one.target<std::remove_const_t<decltype(with_context)>>(), nullptr);
    EXPECT_NE(two.target<std::remove_const_t<decltype(with_reason)>>(), nullptr);
    EXPECT_EQ(two.target<std::remove_const_t<decltype(with_context)>>(), nullptr);
}
