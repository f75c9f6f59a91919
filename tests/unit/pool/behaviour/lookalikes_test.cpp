// A pool keeps every task, whatever members the user's callable has.
#include <atomic>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/tracked.hpp"

namespace {

struct account {
    std::atomic<int> transfers{0};
};

struct transfer {
    account* from;
    test::tracked counted;
    [[nodiscard]] account* owner() const { return from; }
    void operator()() const { ++from->transfers; }
};

}  // namespace

TEST(pool_lookalikes, shutdown_now_hands_back_callables_that_have_an_owner) {
    std::atomic<int> alive{0};
    account mine;
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    for (int i = 0; i < 5; ++i) {
        pool.execute(transfer{&mine, test::tracked{alive}});
    }
    std::vector<spool::task> back = pool.shutdown_now();
    ASSERT_EQ(back.size(), 5U);
    EXPECT_EQ(alive, 5);
    for (spool::task& t : back) {
        t();
    }
    EXPECT_EQ(mine.transfers, 5);
}

TEST(pool_lookalikes, group_that_waits_runs_no_callable_that_has_an_owner) {
    account mine;
    std::atomic<int> alive{0};
    std::atomic<int> seen{-1};
    test::gate done;
    {
        spool::thread_pool_executor pool(
            {.core_size = 1,
             .maximum_size = 1,
             .queue = std::make_unique<spool::work_stealing_queue<spool::task>>()});
        pool.execute([&] {
            for (int i = 0; i < 5; ++i) {
                pool.execute(transfer{&mine, test::tracked{alive}});
            }
            spool::task_group children{pool};
            children.run([] {});
            children.wait();
            seen = mine.transfers.load();
            done.open();
        });
        ASSERT_TRUE(done.opens());
    }
    EXPECT_EQ(seen, 0);
    EXPECT_EQ(mine.transfers, 5);
}
