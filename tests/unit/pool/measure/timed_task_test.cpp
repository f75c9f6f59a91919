// Timed tasks: every kind of task and callable, every way through the pool.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "measure_helpers.hpp"
#include "support/gate.hpp"

namespace {

using namespace std::chrono_literals;

spool::pool_options timed(std::size_t workers = 1) {
    return {.core_size = workers, .maximum_size = workers, .measure = spool::measuring::every()};
}

// A callable of `Size` bytes that checks its own contents when it runs.
template <std::size_t Size>
struct sized {
    std::array<unsigned char, Size - sizeof(void*)> filling;
    std::atomic<int>* intact;
    explicit sized(std::atomic<int>& counter) : intact(&counter) {
        for (std::size_t i = 0; i < filling.size(); ++i) {
            filling[i] = static_cast<unsigned char>(i * 7 + Size);
        }
    }
    void operator()() const {
        for (std::size_t i = 0; i < filling.size(); ++i) {
            if (filling[i] != static_cast<unsigned char>(i * 7 + Size)) {
                return;
            }
        }
        ++*intact;
    }
};

}  // namespace

TEST(pool_timed_task, every_task_and_every_future_is_timed_at_period_one) {
    spool::thread_pool_executor pool(timed(2));
    for (int i = 0; i < 500; ++i) {
        pool.execute([] {});
        static_cast<void>(pool.submit([] {}));
    }
    pool.close();
    const spool::pool_reading r = pool.read();
    EXPECT_EQ(r.numbers.completed, 1000U);
    EXPECT_EQ(r.wait.count(), 1000U);
    EXPECT_EQ(r.run.count(), 1000U);
}

TEST(pool_timed_task, callables_of_every_size_run_unharmed) {
    std::atomic<int> intact{0};
    spool::thread_pool_executor pool(timed());
    pool.execute(sized<16>{intact});
    pool.execute(sized<32>{intact});
    pool.execute(sized<40>{intact});
    pool.execute(sized<48>{intact});
    pool.execute(sized<400>{intact});
    pool.close();
    EXPECT_EQ(intact, 5);
    EXPECT_EQ(pool.read().run.count(), 5U);
}

TEST(pool_timed_task, wait_and_run_are_told_apart) {
    test::gate started;
    test::gate release;
    spool::thread_pool_executor pool(timed());
    pool.execute([&] { started.open(), release.wait(); });
    ASSERT_TRUE(started.opens());
    auto second = pool.submit([] { test::compute_for(5ms); });
    test::compute_for(20ms);  // the least wait: more is fine
    release.open();
    second.get();
    ASSERT_TRUE(test::has_timed(pool, 2));
    const spool::pool_reading r = pool.read();
    EXPECT_GE(r.wait.quantile(1), 19ms);
    EXPECT_GE(r.wait.sum(), 20ms);
    EXPECT_GE(r.run.sum(), 25ms) << "the first ran 20 ms, the second 5";
}

TEST(pool_timed_task, a_waiter_that_runs_the_task_itself_times_it_too) {
    spool::thread_pool_executor pool(timed());
    pool.submit([&pool] {
            std::vector<spool::future<void>> inner;
            for (int i = 0; i < 10; ++i) {
                inner.push_back(pool.submit([] {}));
            }
            for (auto& f : inner) {
                f.get();
            }
        })
        .get();
    pool.close();
    EXPECT_EQ(pool.read().run.count(), 11U);
    EXPECT_EQ(pool.read().wait.count(), 11U);
}

TEST(pool_timed_task, children_of_a_group_are_timed_in_every_kind_of_queue) {
    for (const bool stealing : {false, true}) {
        spool::pool_options options = timed(2);
        if (stealing) {
            options.queue = std::make_unique<spool::work_stealing_queue<spool::task>>();
        }
        spool::thread_pool_executor pool(std::move(options));
        std::atomic<int> ran{0};
        pool.submit([&] {
                spool::task_group group(pool);
                for (int i = 0; i < 20; ++i) {
                    group.run([&ran] { ++ran; });
                }
                group.wait();
            })
            .get();
        pool.close();
        EXPECT_EQ(ran, 20);
        EXPECT_EQ(pool.read().numbers.completed, 21U);
        EXPECT_EQ(pool.read().run.count(), 21U) << (stealing ? "work stealing" : "FIFO");
    }
}

TEST(pool_timed_task, a_refused_task_is_given_back_as_it_came) {
    test::gate release;
    spool::pool_options options = timed();
    options.queue = std::make_unique<spool::array_blocking_queue<spool::task>>(1);
    spool::thread_pool_executor pool(std::move(options));
    pool.execute([&] { release.wait(); });
    EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 1; }));
    pool.execute([] {});
    struct mine {
        void operator()() const {}
    };
    spool::task refused{mine{}};
    const spool::task_id id = refused.id();
    EXPECT_EQ(pool.try_execute(std::move(refused)), spool::admission_result::full);
    EXPECT_EQ(refused.id(), id);
    EXPECT_NE(refused.target<mine>(), nullptr) << "no wrapper is left around it";
    std::vector<spool::task> back = pool.shutdown_now();
    release.open();
    ASSERT_EQ(back.size(), 1U);
}

TEST(pool_timed_task, measuring_can_change_while_tasks_are_queued_and_run) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 2, .maximum_size = 2});
    for (int i = 0; i < 3000; ++i) {
        pool.execute([&ran] { ++ran; });
        switch (i % 30) {
            case 0: pool.set_measuring(spool::measuring::every()); break;
            case 10: pool.set_measuring(spool::measuring::every(4)); break;
            case 20: pool.set_measuring(spool::measuring::off()); break;
            default: break;
        }
    }
    pool.close();
    EXPECT_EQ(ran, 3000);
    EXPECT_GT(pool.read().run.count(), 0U);
    EXPECT_EQ(pool.measuring(), spool::measuring::off());
}

TEST(pool_timed_task, a_sample_stands_for_its_period) {
    constexpr int tasks = 64'000;
    spool::thread_pool_executor pool(
        {.core_size = 2, .maximum_size = 2, .measure = spool::measuring::every(16)});
    for (int i = 0; i < tasks; ++i) {
        pool.execute([] {});
    }
    pool.close();
    EXPECT_EQ(pool.read().period, 16U);
    EXPECT_NEAR(static_cast<double>(pool.read().run.count()) / tasks, 1.0, 0.05);
}

TEST(pool_timed_task, with_task_times_readings_count_each_task_once) {
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .task_times = true, .measure = spool::measuring::every(64)});
    for (int i = 0; i < 100; ++i) {
        pool.execute([] {});
    }
    pool.close();
    EXPECT_EQ(pool.read().run.count(), 100U);
    EXPECT_EQ(pool.read().wait.count(), 100U);
}

TEST(pool_timed_task, a_task_may_destroy_its_pool) {
    test::gate destroyed;
    test::gate returned;
    auto pool = std::make_unique<spool::thread_pool_executor>(timed(2));
    spool::thread_pool_executor& handle = *pool;
    handle.execute([&] {
        returned.wait();
        pool.reset();
        destroyed.open();
    });
    returned.open();
    EXPECT_TRUE(destroyed.opens());
}

TEST(pool_timed_task, in_a_scheduled_pool_the_wait_is_how_late_the_task_began) {
    spool::scheduled_thread_pool_executor pool({.core_size = 1, .measure = spool::measuring::every()});
    pool.schedule([] {}, 30ms).get();
    EXPECT_TRUE(test::eventually([&] { return pool.read().run.count() == 1; }));
    EXPECT_LT(pool.read().wait.sum(), 25ms) << "the delay itself is no wait";
}

TEST(pool_timed_task, of_a_periodic_task_each_run_is_timed) {
    std::atomic<int> runs{0};
    spool::scheduled_thread_pool_executor pool({.core_size = 1, .measure = spool::measuring::every()});
    auto beat = pool.schedule_at_fixed_rate([&runs] { ++runs; }, 0ms, 1ms);
    EXPECT_TRUE(test::eventually([&] { return runs >= 5; }));
    beat.cancel();
    pool.close();
    EXPECT_EQ(pool.read().run.count(), static_cast<std::uint64_t>(runs.load()));
}
