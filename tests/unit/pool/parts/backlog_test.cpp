// task_backlog alone: publication, claims, and the count of stale entries, without a worker.
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <spool/spool.hpp>

#include "pool/backlog.hpp"
#include "spool/future/detail/future_core.hpp"

namespace {

using spool::task;
using spool::task_backlog;

const std::string label = "pool";
alignas(16) int this_pool = 0;  // its address stands for the pool

std::unique_ptr<spool::blocking_queue<task>> fifo(std::size_t capacity) {
    return std::make_unique<spool::linked_blocking_queue<task>>(capacity);
}

class pool_backlog : public testing::Test {
protected:
    // The task of a future, whose handle becomes `handle`.
    task future_body() {
        auto parts = spool::future_task<int>{[] { return 1; }}.split();
        handle = std::move(parts.handle);
        return std::move(parts.work);
    }
    // Claims the body as a worker of the pool that waits for it.
    static bool claim_by_waiter(const task& work) {
        return static_cast<spool::detail::future_core*>(work.shared_state())->try_claim(&this_pool);
    }
    // Enqueues the task of a future, and makes its entry stale.
    void add_stale(task_backlog& to) {
        task work = future_body();
        static_cast<void>(to.publish(work));
        ASSERT_TRUE(claim_by_waiter(work));
        ASSERT_TRUE(to.offer(work));
        to.add_stale_entry();
    }

    spool::future<int> handle;
    task_backlog backlog{fifo(2), &this_pool, label, task_backlog::timing::none};
};

}  // namespace

TEST_F(pool_backlog, a_published_task_can_be_claimed_by_a_waiter_and_a_withdrawn_one_cannot) {
    task work = future_body();
    static_cast<void>(backlog.publish(work));
    ASSERT_TRUE(backlog.try_withdraw(work));
    EXPECT_FALSE(work.empty());
    EXPECT_FALSE(claim_by_waiter(work));
}

TEST_F(pool_backlog, a_task_that_a_waiter_has_claimed_cannot_be_withdrawn) {
    task work = future_body();
    static_cast<void>(backlog.publish(work));
    ASSERT_TRUE(claim_by_waiter(work));
    backlog.add_stale_entry();
    EXPECT_FALSE(backlog.try_withdraw(work));
    EXPECT_TRUE(work.empty());
    EXPECT_EQ(backlog.size(), 0U);
}

TEST_F(pool_backlog, a_stale_entry_is_not_counted_and_a_claim_drops_it) {
    add_stale(backlog);
    EXPECT_EQ(backlog.size(), 0U);
    EXPECT_FALSE(backlog.contains(handle.id()));
    task next;
    ASSERT_TRUE(backlog.poll_into(next));
    EXPECT_FALSE(backlog.try_claim(next));
    EXPECT_TRUE(next.empty());
    ASSERT_TRUE(backlog.offer(next = task{[] {}}));
    EXPECT_EQ(backlog.size(), 1U) << "the stale count is back at zero";
}

TEST_F(pool_backlog, a_stale_entry_takes_the_room_of_no_task) {
    add_stale(backlog);
    for (int i = 0; i < 2; ++i) {
        task work{[] {}};
        EXPECT_TRUE(backlog.offer(work)) << i;
    }
    task third{[] {}};
    EXPECT_FALSE(backlog.offer(third));
    EXPECT_FALSE(third.empty());
}

TEST_F(pool_backlog, a_claimed_task_cannot_be_claimed_by_a_waiter) {
    task work = future_body();
    static_cast<void>(backlog.publish(work));
    ASSERT_TRUE(backlog.try_claim(work));
    EXPECT_FALSE(claim_by_waiter(work));
}

TEST_F(pool_backlog, take_all_returns_the_tasks_and_drops_stale_entries) {
    add_stale(backlog);
    task plain{[] {}};
    const spool::task_id id = plain.id();
    ASSERT_TRUE(backlog.offer(plain));
    const std::vector<task> all = backlog.take_all();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().id(), id);
    EXPECT_EQ(backlog.size(), 0U);
}

TEST_F(pool_backlog, take_back_finds_only_the_submission_that_its_ticket_names) {
    task work{[] {}};
    const task_backlog::ticket mine = task_backlog::ticket_of(work);
    ASSERT_TRUE(backlog.offer(work));
    EXPECT_FALSE(backlog.take_back({mine.id + 1, mine.runs}).has_value());
    const std::optional<task> back = backlog.take_back(mine);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->id(), mine.id);
    EXPECT_FALSE(backlog.take_back(mine).has_value());
}

TEST_F(pool_backlog, an_eviction_makes_room_also_where_the_head_is_a_stale_entry) {
    add_stale(backlog);
    task plain{[] {}};
    ASSERT_TRUE(backlog.offer(plain));
    task victim;
    EXPECT_TRUE(backlog.evict_oldest(victim));
    EXPECT_TRUE(victim.empty());
    EXPECT_TRUE(backlog.evict_oldest(victim));
    EXPECT_FALSE(victim.empty());
    victim = nullptr;
    EXPECT_FALSE(backlog.evict_oldest(victim));
}

TEST_F(pool_backlog, purge_counts_cancelled_tasks_and_no_stale_entries) {
    add_stale(backlog);
    task work = future_body();
    static_cast<void>(backlog.publish(work));
    ASSERT_TRUE(backlog.offer(work));
    handle.cancel();
    EXPECT_EQ(backlog.purge(), 1U);
    EXPECT_TRUE(backlog.is_empty());
    EXPECT_EQ(backlog.size(), 0U);
}

TEST_F(pool_backlog, kept_tasks_count_as_queued) {
    backlog.add_kept();
    EXPECT_EQ(backlog.size(), 1U);
    EXPECT_TRUE(backlog.is_empty());
    backlog.remove_kept();
    EXPECT_EQ(backlog.size(), 0U);
}

TEST_F(pool_backlog, a_task_that_waits_for_room_is_as_before_when_the_wait_gives_up) {
    task_backlog timed{fifo(1), &this_pool, label, task_backlog::timing::all_tasks};
    task first{[] {}};
    ASSERT_TRUE(timed.offer(first));
    task work = future_body();
    const auto once = [](task_backlog::sleeper push) { return push({}); };
    EXPECT_EQ(timed.offer_when_room(
                  work, [] { return true; }, once),
              spool::wait_result::gave_up);
    EXPECT_EQ(work.id(), handle.id());
    EXPECT_FALSE(claim_by_waiter(work));

    ASSERT_TRUE(timed.poll_into(first));
    EXPECT_EQ(timed.offer_when_room(
                  work, [] { return false; }, once),
              spool::wait_result::ready);
    EXPECT_TRUE(work.empty());
    ASSERT_TRUE(timed.poll_into(work));
    EXPECT_TRUE(claim_by_waiter(work)) << "once it is in the queue, a waiter may claim it";
}

TEST_F(pool_backlog, a_queue_that_throws_at_every_look_counts_as_not_empty) {
    struct broken final : spool::blocking_queue<task> {
        explicit broken(int failures) : failures_(failures) {}
        [[nodiscard]] std::size_t size() const override {
            if (failures_-- > 0) {
                throw std::runtime_error("no size");
            }
            return 0;
        }
        bool try_push(task&) override { return false; }
        std::optional<task> try_pop() override { return std::nullopt; }
        std::vector<task> extract_if(spool::function_ref<bool(const task&)>) override { return {}; }
        mutable int failures_;
    };
    const task_backlog once{std::make_unique<broken>(1), &this_pool, label, task_backlog::timing::none};
    EXPECT_TRUE(once.is_surely_empty());
    const task_backlog twice{std::make_unique<broken>(2), &this_pool, label, task_backlog::timing::none};
    EXPECT_FALSE(twice.is_surely_empty());
}
