// A task that its waiter ran leaves a stale entry in the queue. Neither counts, hooks nor results
// may show it.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "scripted_queue.hpp"
#include "support/eventually.hpp"

namespace {

struct counting_hooks : spool::pool_hooks {
    void before_execute(const spool::task_info& t) override {
        before.add(t.id);
        priorities.add(t.priority);
    }
    void after_execute(const spool::task_info& t, const std::exception_ptr&) override { after.add(t.id); }
    test::record<spool::task_id> before;
    test::record<spool::task_id> after;
    test::record<int> priorities;
};

// A pool whose only worker has run `inner` while waiting for it: the stale entry of `inner` is
// still queued.
class pool_stale_entry : public testing::Test {
protected:
    template <class F>
    void with_stale_entry(F f) {
        const auto done = pool.submit([this, f] {
            inner = pool.submit([this] { ++ran; });
            inner.get();
            ASSERT_EQ(pool.queue().size(), 1U);
            f();
        });
        ASSERT_TRUE(done.wait_for(test::long_delay()));
        done.get();
    }

    const std::shared_ptr<counting_hooks> hooks = std::make_shared<counting_hooks>();
    std::atomic<int> ran{0};
    spool::future<void> inner;
    spool::thread_pool_executor pool{{.core_size = 1, .hooks = hooks}};
};

}  // namespace

TEST_F(pool_stale_entry, is_not_counted_and_gets_no_hooks) {
    with_stale_entry([this] {
        EXPECT_EQ(pool.snapshot().queued, 0U);
        EXPECT_EQ(pool.task_count(), 2U);
        EXPECT_EQ(pool.completed_task_count(), 1U);
        EXPECT_EQ(pool.active_count(), 1U);
    });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(pool.completed_task_count(), 2U);
    EXPECT_EQ(pool.task_count(), 2U);
    EXPECT_EQ(hooks->before.size(), 2U);
    EXPECT_EQ(hooks->after.size(), 2U);
    EXPECT_EQ(hooks->before.count(inner.id()), 1U);
    EXPECT_EQ(hooks->after.all().front(), inner.id());  // the inner task ended first
}

TEST_F(pool_stale_entry, is_not_handed_back_by_shutdown_now) {
    std::size_t back = 99;
    with_stale_entry([&] { back = pool.shutdown_now().size(); });
    EXPECT_EQ(back, 0U);
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(pool.snapshot().queued, 0U);
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST_F(pool_stale_entry, is_removed_by_purge_which_does_not_count_it) {
    with_stale_entry([this] {
        EXPECT_EQ(pool.purge(), 0U);
        EXPECT_EQ(pool.queue().size(), 0U);
        EXPECT_EQ(pool.snapshot().queued, 0U);
    });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST_F(pool_stale_entry, cannot_be_removed_and_its_future_keeps_its_result) {
    with_stale_entry([this] {
        EXPECT_FALSE(pool.remove(inner));
        EXPECT_EQ(pool.snapshot().queued, 0U);
        EXPECT_EQ(inner.state(), spool::future_state::succeeded);
    });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U);
    EXPECT_EQ(pool.snapshot().queued, 0U);
}

TEST(pool_stale_entry_room, of_a_bounded_queue_is_not_taken_by_stale_entries) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::bounded(1)});
    const auto total = pool.submit([&pool] {
        int sum = 0;
        for (int i = 0; i < 5; ++i) {
            // Each one leaves a stale entry in the only place.
            sum += pool.submit([] { return 1; }).get();
        }
        return sum;
    });
    ASSERT_TRUE(total.wait_for(test::long_delay()));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(total.state(), spool::future_state::succeeded) << total;
    EXPECT_EQ(pool.rejected_count(), 0U);
}

TEST(pool_stale_entry_room, is_found_when_the_queue_fills_up_later) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::bounded(2)});
    const auto outer = pool.submit([&] {
        pool.submit([&] {  // run by its waiter; its stale entry may stay, as there is room
                pool.execute([&ran] { ++ran; });
                pool.execute([&ran] { ++ran; });
            })
            .get();
    });
    ASSERT_TRUE(outer.wait_for(test::long_delay()));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(outer.state(), spool::future_state::succeeded) << outer;
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(pool.rejected_count(), 0U);
}

TEST(pool_stale_entry_room, is_what_discard_oldest_makes_before_it_drops_a_task) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 1,
                                      .queue = test::bounded(2),
                                      .rejection = spool::discard_oldest_policy{}});
    const auto done = pool.submit([&] {
        pool.submit([&ran] { ++ran; }).get();  // leaves a stale entry
        pool.execute([&ran] { ++ran; });
        pool.execute([&ran] { ++ran; });  // fits into the place of the stale entry
    });
    ASSERT_TRUE(done.wait_for(test::long_delay()));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 3);
    EXPECT_EQ(pool.rejected_count(), 0U);
    EXPECT_EQ(pool.snapshot().queued, 0U);
    EXPECT_EQ(pool.completed_task_count(), 4U);
}

TEST_F(pool_stale_entry, does_not_keep_a_pool_that_shuts_down_from_ending) {
    with_stale_entry([this] { pool.shutdown(); });
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

// The hooks get the same information as for a task that a worker polled.
TEST_F(pool_stale_entry, the_hooks_of_a_task_run_by_its_waiter_learn_its_priority) {
    const auto done = pool.submit([this] { pool.submit(spool::with_priority(7, [] {})).get(); });
    ASSERT_TRUE(done.wait_for(test::long_delay()));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(hooks->priorities.all(), (std::vector<int>{0, 7}));
}

TEST(pool_stale_entry_counts, stay_exact_after_many_nested_waits_on_several_workers) {
    constexpr int rounds = 200;
    const auto hooks = std::make_shared<counting_hooks>();
    spool::thread_pool_executor pool({.core_size = 2, .hooks = hooks});
    std::vector<spool::future<int>> outer;
    for (int i = 0; i < rounds; ++i) {
        outer.push_back(pool.submit([&pool] { return pool.submit([] { return 1; }).get(); }));
    }
    for (const auto& f : outer) {
        ASSERT_TRUE(f.wait_for(test::long_delay()));
        EXPECT_EQ(f.get(), 1);
    }
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U * rounds);
    EXPECT_EQ(pool.task_count(), 2U * rounds);
    EXPECT_EQ(hooks->before.size(), 2U * rounds);
    EXPECT_EQ(hooks->after.size(), 2U * rounds);
    EXPECT_EQ(pool.snapshot().queued, 0U);
}

// The queue is full, so the claim removes stale entries, and the search for them throws. The
// claimed body runs all the same.
TEST(pool_stale_entry_failing, is_left_in_a_queue_that_throws_and_its_body_runs) {
    test::queue_script script;
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 1,
                                      .queue = std::make_unique<test::scripted_queue>(1, script),
                                      .uncaught = test::quiet()});
    const auto done = pool.submit([&] {
        const auto inner = pool.submit([&ran] { ++ran; });
        script.before_extract.arm([] { throw std::runtime_error("not now"); });
        inner.get();
        EXPECT_EQ(ran, 1);
    });
    ASSERT_TRUE(done.wait_for(test::long_delay()));
    done.get();
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

// The only worker waits again and again. The stale entries of the tasks it ran itself must not pile
// up meanwhile.
TEST(pool_stale_entry_many, are_swept_out_of_an_unbounded_queue) {
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1});
    std::size_t longest = 0;
    const auto done = pool.submit([&] {
        for (int i = 0; i < 2000; ++i) {
            pool.submit([] {}).get();
            longest = std::max(longest, pool.queue().size());
        }
    });
    ASSERT_TRUE(done.wait_for(test::long_delay()));
    done.get();
    EXPECT_LE(longest, 200U);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 2001U);
}
