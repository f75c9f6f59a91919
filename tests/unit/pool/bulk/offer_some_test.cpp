// Several elements in one step, over every kind of queue; and several futures at once.
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/throws.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/sync/in_background.hpp"

namespace {

using spool::task;
using spool::thread_pool_executor;

// ---- Segments of 2, 3 or 100 slots, with a gap position after each segment

template <std::size_t Slots>
void expect_every_batch_comes_out_in_order() {
    for (std::size_t before = 0; before < 2 * Slots + 1; before += 1 + Slots / 20) {
        for (std::size_t batch = 1; batch < 3 * Slots + 2; batch += 1 + Slots / 20) {
            spool::linked_blocking_queue<int, Slots> queue;
            for (std::size_t i = 0; i < before; ++i) {
                queue.put(-1);
                ASSERT_EQ(queue.take(), -1);
            }
            std::vector<int> numbers(batch);
            for (std::size_t i = 0; i < batch; ++i) {
                numbers[i] = static_cast<int>(i);
            }
            ASSERT_EQ(queue.offer_some(numbers), batch);
            ASSERT_EQ(queue.size(), batch);
            for (std::size_t i = 0; i < batch; ++i) {
                ASSERT_EQ(queue.poll(), static_cast<int>(i)) << "before " << before << ", batch " << batch;
            }
            ASSERT_FALSE(queue.poll().has_value());
        }
    }
}

TEST(bulk_offer, batches_across_segments_come_out_in_order) {
    expect_every_batch_comes_out_in_order<2>();
    expect_every_batch_comes_out_in_order<3>();
    expect_every_batch_comes_out_in_order<100>();
}

TEST(bulk_offer, never_exceeds_the_capacity_by_one_nor_misses_it_by_one) {
    for (std::size_t capacity = 1; capacity < 9; ++capacity) {
        spool::linked_blocking_queue<int, 3> queue{capacity};
        std::vector<int> numbers(20, 7);
        for (std::size_t there = 0; there <= capacity; ++there) {
            queue.clear();
            std::vector<int> first(there, 1);
            ASSERT_EQ(queue.offer_some(first), there);
            ASSERT_EQ(queue.offer_some(numbers), capacity - there);
            ASSERT_EQ(queue.size(), capacity);
            ASSERT_FALSE(queue.offer(3));
        }
    }
}

TEST(bulk_offer, wakes_every_taker_that_there_is_an_element_for) {
    spool::linked_blocking_queue<int> queue;
    std::atomic<int> sum{0};
    std::vector<std::unique_ptr<test::in_background>> takers;
    for (int i = 0; i < 3; ++i) {
        takers.push_back(std::make_unique<test::in_background>([&] { sum += queue.take(); }));
        ASSERT_TRUE(takers.back()->falls_asleep());
    }
    std::vector<int> three{1, 2, 4};
    EXPECT_EQ(queue.offer_some(three), 3U);
    for (const auto& taker : takers) {
        EXPECT_TRUE(taker->ends());
    }
    EXPECT_EQ(sum, 7);
}

// use_own() takes the newest element out and puts it back if the function declines it. A consumer
// that finds the queue empty in between must be woken.
TEST(bulk_offer, taker_that_looked_while_another_held_the_element_is_woken_when_it_is_put_back) {
    spool::work_stealing_queue<int> queue;
    queue.attach_consumer();
    queue.put(5);
    std::atomic<int> looks{0};
    std::optional<int> taken;
    std::unique_ptr<test::in_background> taker;
    EXPECT_FALSE(queue.use_own([&](int&) {
        taker = std::make_unique<test::in_background>([&] {
            static_cast<void>(
                queue.pop_until(taken, {.until = test::backstop()}, [&looks] { return ++looks < 0; }));
        });
        EXPECT_TRUE(test::eventually([&] { return looks > 0; }));
        return false;
    }));
    EXPECT_TRUE(taker->ends());
    EXPECT_EQ(taken, 5);
    queue.detach_consumer();
}

TEST(bulk_offer, own_newest_is_used_only_if_it_is_wanted) {
    spool::work_stealing_queue<int> queue;
    std::vector<int> used;
    const auto use_all = [&used](int& n) {
        used.push_back(n);
        return true;
    };
    EXPECT_FALSE(queue.use_own(use_all));  // not attached
    queue.put(1);
    queue.attach_consumer();
    EXPECT_FALSE(queue.use_own(use_all));  // 1 is in the inbox, not in its own deque
    queue.put(2);
    queue.put(3);
    EXPECT_FALSE(queue.use_own([](int& n) { return n == 2; }));
    EXPECT_EQ(queue.size(), 3U);
    EXPECT_TRUE(queue.use_own(use_all));
    EXPECT_TRUE(queue.use_own(use_all));
    EXPECT_FALSE(queue.use_own(use_all));
    EXPECT_EQ(used, (std::vector{3, 2}));
    EXPECT_EQ(queue.size(), 1U);
    queue.detach_consumer();
}

TEST(bulk_offer, own_newest_is_gone_if_its_use_throws_and_the_others_stay) {
    spool::work_stealing_queue<std::shared_ptr<int>> queue;
    queue.attach_consumer();
    const auto older = std::make_shared<int>(1);
    const auto newest = std::make_shared<int>(2);
    queue.put(std::shared_ptr{older});
    queue.put(std::shared_ptr{newest});
    EXPECT_THROW(queue.use_own([](std::shared_ptr<int>&) -> bool { throw std::runtime_error("use"); }),
                 std::runtime_error);
    EXPECT_EQ(newest.use_count(), 1);
    EXPECT_EQ(queue.take(), older);
    EXPECT_TRUE(queue.empty());
    queue.detach_consumer();
}

// ---- Every kind under a pool

struct kind {
    std::string name;
    std::function<std::unique_ptr<spool::blocking_queue<task>>()> make;
    friend void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }
};
template <class Queue, class... Args>
kind kind_of(std::string name, Args... args) {
    return {std::move(name), [=] { return std::make_unique<Queue>(args...); }};
}

class bulk_over : public testing::TestWithParam<kind> {
protected:
    spool::pool_options options() {
        return {.core_size = 2,
                .maximum_size = 2,
                .queue = GetParam().make(),
                .rejection = spool::block_policy{test::long_delay()}};
    }
};
INSTANTIATE_TEST_SUITE_P(kinds, bulk_over,
                         testing::Values(kind_of<spool::linked_blocking_queue<task>>("linked"),
                                         kind_of<spool::linked_blocking_queue<task, 2>>("linked_small"),
                                         kind_of<spool::linked_blocking_queue<task>>("linked_bounded",
                                                                                     std::size_t{5}),
                                         kind_of<spool::array_blocking_queue<task>>("array", std::size_t{7}),
                                         kind_of<spool::priority_blocking_queue<task>>("priority"),
                                         kind_of<spool::delay_queue<task>>("delay"),
                                         kind_of<spool::linked_transfer_queue<task>>("transfer"),
                                         kind_of<spool::linked_blocking_deque<task>>("deque"),
                                         kind_of<spool::work_stealing_queue<task>>("work_stealing"),
                                         kind_of<spool::synchronous_queue<task>>("synchronous")),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(bulk_over, every_task_runs_once_from_outside_and_from_inside) {
    std::vector<std::atomic<int>> ran(600);
    thread_pool_executor pool(options());
    const auto submit_half = [&](std::size_t from) {
        std::vector<task> work;
        for (std::size_t i = from; i < ran.size(); i += 2) {
            work.emplace_back([&one = ran[i]] { ++one; });
        }
        pool.execute_all(work);
    };
    submit_half(0);
    auto inside = pool.submit([&] {
        if (pool.queue().capacity() == spool::blocking_queue<task>::unlimited) {
            submit_half(1);
        }
    });
    inside.get();
    // A worker must not wait for room. So with a bounded queue this thread submits the second half.
    if (pool.queue().capacity() != spool::blocking_queue<task>::unlimited) {
        submit_half(1);
    }
    ASSERT_TRUE(test::ends(pool));
    for (std::size_t i = 0; i < ran.size(); ++i) {
        EXPECT_EQ(ran[i], 1) << i;
    }
}

TEST_P(bulk_over, futures_come_in_the_order_of_the_range) {
    thread_pool_executor pool(options());
    std::vector<std::function<int()>> jobs;
    for (int i = 0; i < 300; ++i) {
        jobs.emplace_back([i] { return i; });
    }
    auto submitted = spool::submit_all(pool, jobs);
    auto invoked = spool::invoke_all(pool, std::move(jobs));
    ASSERT_EQ(submitted.size(), 300U);
    ASSERT_EQ(invoked.size(), 300U);
    for (std::size_t i = 0; i < 300; ++i) {
        EXPECT_TRUE(invoked[i].is_done());
        EXPECT_EQ(invoked[i].get(), static_cast<int>(i));
        EXPECT_EQ(submitted[i].get_for(test::long_delay()), static_cast<int>(i));
    }
}

TEST(bulk_futures, those_not_started_are_cancelled_when_one_is_refused_and_those_started_asked_to_stop) {
    test::busy_workers busy;
    thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .queue = test::bounded(2)});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    std::atomic<int> ran{0};
    std::vector<std::function<void()>> jobs(4, [&] { ++ran; });
    EXPECT_THROW(static_cast<void>(spool::submit_all(pool, jobs)), spool::rejected_execution);
    EXPECT_THROW(static_cast<void>(spool::invoke_all(pool, jobs)), spool::rejected_execution);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 0);
}

TEST(bulk_futures, direct_executor_runs_them_one_after_the_other_in_the_caller) {
    spool::direct_executor here;
    std::vector<int> order;
    std::vector<std::function<int()>> jobs;
    for (int i = 0; i < 3; ++i) {
        jobs.emplace_back([&order, i] {
            order.push_back(i);
            return i;
        });
    }
    auto results = spool::submit_all(here, jobs);
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(results[2].get(), 2);
}

}  // namespace
