// The finder alone: pools that are not pools, and waits that nobody sleeps in.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool/deadlock/deadlock_finder.hpp"

namespace {

using spool::blocked_wait;
using spool::deadlock_finder;
using spool::deadlock_finding;
using spool::deadlock_policy;

/// A pool of `workers` workers that cannot grow.
class fake_pool final : public spool::watched_pool {
public:
    fake_pool(std::string name, std::size_t workers, deadlock_policy policy = {})
        : name_(std::move(name)), workers_(workers), policy_(std::move(policy)) {}

    [[nodiscard]] const void* id() const noexcept override { return this; }
    [[nodiscard]] const std::string& name() const noexcept override { return name_; }
    [[nodiscard]] const deadlock_policy& policy() const noexcept override { return policy_; }
    [[nodiscard]] bool cannot_progress(std::size_t waiting) const noexcept override {
        return waiting == workers_;
    }
    bool lend_thread(spool::task_id, spool::future_link::readiness) noexcept override { return true; }
    [[nodiscard]] std::shared_ptr<watched_pool> keep() override { return {std::shared_ptr<void>{}, this}; }

private:
    const std::string name_;
    const std::size_t workers_;
    const deadlock_policy policy_;
};

/// Workers that wait for room, in the order in which they began.
class finder_of_deadlocks : public testing::Test {
protected:
    blocked_wait& waits(fake_pool& mine, fake_pool& for_room_in) {
        auto& one = all_.emplace_back(std::make_unique<waiter>(mine));
        one->wait.pool = &for_room_in;
        one->wait.stop = &stop_;
        one->wait.since = begin_ + std::chrono::seconds{all_.size()};
        one->wait.next = all_.size() > 1 ? &all_[all_.size() - 2]->wait : nullptr;
        return one->wait;
    }
    [[nodiscard]] std::vector<deadlock_finding> find() {
        return deadlock_finder{&all_.back()->wait}.find(last_number_);
    }

    fake_pool a_{"a", 1};
    fake_pool b_{"b", 1};

private:
    struct waiter {
        explicit waiter(fake_pool& pool) : name(pool.name() + "-1"), self{pool, name, task, nullptr} {}
        std::string name;
        std::atomic<spool::task_id> task{7};
        spool::watched_worker self;
        blocked_wait wait{.worker = &self,
                          .scope = nullptr,
                          .kind = blocked_wait::what::room,
                          .futures = {},
                          .pool = nullptr,
                          .stop = nullptr};
    };

    const spool::deadline::time_point begin_ = spool::deadline::clock::now();
    const std::stop_token stop_;
    std::vector<std::unique_ptr<waiter>> all_;
    std::size_t last_number_ = 0;
};

TEST_F(finder_of_deadlocks, names_all_workers_of_two_pools_that_wait_for_each_other) {
    waits(a_, b_);
    waits(b_, a_);
    const auto found = find();
    ASSERT_EQ(found.size(), 1U);
    ASSERT_EQ(found[0].report.workers.size(), 2U);
    EXPECT_TRUE(found[0].is_new);
    EXPECT_EQ(found[0].report.remedy, "");
    for (const spool::deadlocked_worker& w : found[0].report.workers) {
        EXPECT_EQ(w.worker, w.pool + "-1");
        EXPECT_EQ(w.task, 7U);
        EXPECT_EQ(w.why, "for room in the queue of pool \"" + std::string{w.pool == "a" ? "b" : "a"} + "\"");
    }
}

TEST_F(finder_of_deadlocks, asks_the_pool_whether_it_can_still_make_progress) {
    fake_pool two{"two", 2};
    waits(a_, two);
    waits(two, a_);
    EXPECT_TRUE(find().empty());  // the other worker of `two` is in no wait
    waits(two, a_);
    ASSERT_EQ(find().size(), 1U);
}

TEST_F(finder_of_deadlocks, takes_a_pool_without_a_waiting_worker_for_one_that_makes_progress) {
    waits(a_, b_);
    EXPECT_TRUE(find().empty());
}

TEST_F(finder_of_deadlocks, leaves_a_worker_out_that_only_waits_for_the_cycle) {
    fake_pool outside{"outside", 1};
    waits(a_, b_);
    waits(b_, a_);
    const blocked_wait& third = waits(outside, a_);
    const auto found = find();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].report.workers.size(), 2U);
    EXPECT_EQ(third.reported, found[0].number);
}

TEST_F(finder_of_deadlocks, finds_a_deadlock_once_until_it_is_forgotten) {
    blocked_wait& first = waits(a_, b_);
    blocked_wait& second = waits(b_, a_);
    ASSERT_EQ(find().size(), 1U);
    EXPECT_TRUE(find().empty());
    first.reported = second.reported = 0;
    const auto again = find();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_FALSE(again[0].is_new);  // a report has named both
}

TEST_F(finder_of_deadlocks, finds_none_where_a_wait_was_asked_to_stop) {
    std::stop_source stop;
    stop.request_stop();
    const std::stop_token stopped = stop.get_token();
    waits(a_, b_);
    waits(b_, a_).stop = &stopped;
    EXPECT_TRUE(find().empty());
}

TEST_F(finder_of_deadlocks, dooms_the_youngest_wait_of_a_pool_that_throws) {
    fake_pool throws{"throws", 2, deadlock_policy::throw_()};
    const blocked_wait& old = waits(throws, a_);
    const blocked_wait& young = waits(throws, a_);
    const blocked_wait& youngest = waits(a_, throws);
    const auto found = find();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(old.doom.empty());
    EXPECT_FALSE(young.doom.empty());
    EXPECT_TRUE(youngest.doom.empty());  // its own pool does not throw
    EXPECT_EQ(found[0].report.remedy, "worker throws-1 throws out of its wait");
    EXPECT_EQ(found[0].teller->name(), "a");
}

TEST_F(finder_of_deadlocks, prefers_the_pool_that_lends_over_the_one_that_throws) {
    fake_pool throws{"throws", 1, deadlock_policy::throw_()};
    fake_pool lends{"lends", 1, deadlock_policy::lend()};
    waits(throws, lends);
    waits(lends, throws);
    const auto found = find();
    ASSERT_EQ(found.size(), 1U);
    ASSERT_NE(found[0].lender, nullptr);
    EXPECT_EQ(found[0].lender->name(), "lends");
    EXPECT_EQ(found[0].wanted, 0U);
    EXPECT_EQ(found[0].report.remedy, "an extra thread of pool \"lends\" helps");
}

}  // namespace
