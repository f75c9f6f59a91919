// Tasks that wait for tasks of their own pool: the waiting worker runs them where that is safe.
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;

int fib(spool::thread_pool_executor& pool, int n) {
    if (n < 2) {
        return n;
    }
    const auto left = pool.submit([&pool, n] { return fib(pool, n - 1); });
    const auto right = pool.submit([&pool, n] { return fib(pool, n - 2); });
    return left.get() + right.get();
}

// Waits on a worker for `f`, which must not run there. Gives up after a moment; true if it had to.
template <class T>
bool waits_in_vain(const spool::future<T>& f) {
    std::stop_source give_up;
    const std::jthread timer([&give_up] {
        spool::this_task::sleep_for(test::small_delay());
        give_up.request_stop();
    });
    try {
        f.wait(give_up.get_token());
    } catch (const spool::interrupted&) {
        return true;
    }
    return false;
}

}  // namespace

TEST(pool_nested_wait, computes_fibonacci_in_a_pool_of_one) {
    spool::thread_pool_executor pool({.core_size = 1});
    const auto answer = pool.submit([&pool] { return fib(pool, 12); });
    ASSERT_TRUE(answer.wait_for(test::long_delay()));
    EXPECT_EQ(answer.get(), 144);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.largest_pool_size(), 1U);
    // Each call is one task: 2 * fib(13) - 1, with the outermost.
    EXPECT_EQ(pool.completed_task_count(), 465U);
}

TEST(pool_nested_wait, computes_fibonacci_in_a_pool_of_three) {
    spool::thread_pool_executor pool({.core_size = 3});
    const auto answer = pool.submit([&pool] { return fib(pool, 12); });
    ASSERT_TRUE(answer.wait_for(test::long_delay()));
    EXPECT_EQ(answer.get(), 144);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 465U);
}

TEST(pool_nested_wait, runs_the_task_on_the_waiting_thread_also_through_wait_and_a_token) {
    test::record<std::thread::id> threads;
    spool::thread_pool_executor pool({.core_size = 1});
    pool.submit([&] {
            threads.add(std::this_thread::get_id());
            const auto here = [&threads] { threads.add(std::this_thread::get_id()); };
            pool.submit(here).wait();
            pool.submit(here).get(std::stop_token{});
            std::move(pool.submit(here)).get();
        })
        .get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(threads.count(threads.all().front()), 4U);
}

TEST(pool_nested_wait, invoke_all_works_inside_a_task_in_a_pool_of_one) {
    spool::thread_pool_executor pool({.core_size = 1});
    const auto sum = pool.submit([&pool] {
        std::vector<std::function<int()>> parts;
        for (int i = 1; i <= 10; ++i) {
            parts.emplace_back([i] { return i; });
        }
        int total = 0;
        for (const auto& f : pool.invoke_all(parts)) {
            total += f.get();
        }
        return total;
    });
    ASSERT_TRUE(sum.wait_for(test::long_delay()));
    EXPECT_EQ(sum.get(), 55);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 11U);
}

TEST(pool_nested_wait, brings_what_the_task_threw) {
    spool::thread_pool_executor pool({.core_size = 1});
    const auto outer = pool.submit([&pool] { pool.submit([] { throw std::domain_error("inner"); }).get(); });
    EXPECT_THROW(outer.get(), std::domain_error);
    // The worker was not replaced.
    EXPECT_EQ(pool.submit([] { return test::own_thread_name(); }).get(), "pool-1");
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_nested_wait, with_a_time_limit_never_runs_the_task) {
    std::atomic<int> ran{0};
    std::atomic<bool> timed_out{false};
    std::atomic<bool> waited{true};
    spool::thread_pool_executor pool({.core_size = 1});
    const auto outer = pool.submit([&] {
        const auto inner = pool.submit([&ran] { ++ran; });
        try {
            inner.get_for(test::short_delay());
        } catch (const spool::timed_out&) {
            timed_out = true;
        }
        waited = inner.wait_for(test::short_delay());
        return ran.load();
    });
    EXPECT_EQ(outer.get(), 0);
    EXPECT_TRUE(timed_out);
    EXPECT_FALSE(waited);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

TEST(pool_nested_wait, never_runs_a_task_behind_a_serial_executor) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1});
    spool::serial_executor serial{pool};
    const auto in_vain = pool.submit([&] {
        const auto inner = spool::submit(serial, [&ran] { ++ran; });
        return waits_in_vain(inner) && ran == 0;
    });
    EXPECT_TRUE(in_vain.get());
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

TEST(pool_nested_wait, never_runs_a_task_of_another_pool) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor other({.core_size = 1});
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(other);
    ASSERT_TRUE(busy.started());
    const auto in_vain =
        pool.submit([&] { return waits_in_vain(other.submit([&ran] { ++ran; })) && ran == 0; });
    EXPECT_TRUE(in_vain.get());
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    ASSERT_TRUE(test::ends(other));
    EXPECT_EQ(ran, 1);
}

TEST(pool_nested_wait, never_runs_a_task_that_shutdown_now_took_out) {
    std::atomic<int> ran{0};
    std::vector<spool::task> back;
    std::atomic<bool> in_vain{false};
    spool::thread_pool_executor pool({.core_size = 1});
    pool.execute([&] {
        const auto inner = pool.submit([&ran] { ++ran; });
        back = pool.shutdown_now();
        in_vain = waits_in_vain(inner) && ran == 0;
    });
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(in_vain);
    ASSERT_EQ(back.size(), 1U);
    back.front()();
    EXPECT_EQ(ran, 1);
}

TEST(pool_nested_wait, the_depth_is_free_again_after_the_nested_tasks_have_ended) {
    spool::thread_pool_executor pool({.core_size = 1});
    const auto many = pool.submit([&pool] {
        int total = 0;
        for (int i = 0; i < 600; ++i) {
            total += pool.submit([] { return 1; }).get();
        }
        return total;
    });
    ASSERT_TRUE(many.wait_for(test::long_delay()));
    EXPECT_EQ(many.get(), 600);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_nested_wait, two_queued_tasks_that_wait_for_each_other_both_run_in_a_pool_of_two) {
    test::gate first_here;
    test::gate second_here;
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 2});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    const auto first = pool.submit([&] { return first_here.open(), second_here.opens(); });
    const auto second = pool.submit([&] { return second_here.open(), first_here.opens(); });
    busy.release();
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_nested_wait, two_tasks_submitted_from_inside_that_wait_for_each_other_both_run_in_a_pool_of_two) {
    test::gate first_here;
    test::gate second_here;
    spool::thread_pool_executor pool({.core_size = 2});
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    spool::future<bool> first;
    spool::future<bool> second;
    pool.submit([&] {
            first = pool.submit([&] { return first_here.open(), second_here.opens(); });
            second = pool.submit([&] { return second_here.open(), first_here.opens(); });
        })
        .get();
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_nested_wait, a_task_that_waits_for_one_it_submitted_gets_the_other_worker) {
    test::gate inner_here;
    spool::thread_pool_executor pool({.core_size = 2});
    ASSERT_EQ(pool.prestart_all_core_threads(), 2U);
    const auto met = pool.submit([&] {
        pool.execute([&] { inner_here.open(); });
        return inner_here.opens();
    });
    EXPECT_TRUE(met.get());
    ASSERT_TRUE(test::ends(pool));
}
