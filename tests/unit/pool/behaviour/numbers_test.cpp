// What a pool reports about itself: snapshot, describe, counts.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using test::contains;

// The age in "runs task 17 for 1.250 s" or "... for at least 1.250 s", in milliseconds; -1 if there
// is none.
long age_in_ms(const std::string& text) {
    for (const std::string before : {" for at least ", " for "}) {
        const std::size_t at = text.find(before);
        const std::size_t number = at + before.size();
        if (at != std::string::npos && text.find_first_of("0123456789", number) == number) {
            return std::lround(std::stod(text.substr(number)) * 1000);
        }
    }
    return -1;
}

}  // namespace

TEST(pool_numbers, default_parallelism_is_at_least_one_and_the_default_size) {
    EXPECT_GE(spool::default_parallelism(), 1U);
    EXPECT_LE(spool::default_parallelism(), 1'000'000U);
    spool::thread_pool_executor pool;
    EXPECT_EQ(pool.core_size(), spool::default_parallelism());
    EXPECT_EQ(pool.maximum_size(), spool::default_parallelism());
    EXPECT_EQ(pool.keep_alive(), 60s);
    EXPECT_FALSE(pool.core_threads_may_time_out());
    pool.close();
}

TEST(pool_numbers, snapshot_has_every_number_at_rest) {
    test::busy_workers busy;
    spool::thread_pool_executor pool(
        {.name = "shot", .core_size = 1, .maximum_size = 2, .keep_alive = 3s, .queue = test::bounded(2)});
    const test::open_at_end guard{busy.release_gate()};
    pool.submit([] {}).get();
    ASSERT_TRUE(test::eventually([&] { return pool.completed_task_count() == 1; }));
    busy.hold(pool);
    pool.execute([] {});
    pool.execute([] {});
    busy.hold(pool);  // occupies the second worker
    ASSERT_TRUE(busy.started());
    EXPECT_THROW(pool.execute([] {}), spool::rejected_execution);
    const spool::pool_snapshot expected{.name = "shot",
                                        .state = spool::run_state::running,
                                        .core_size = 1,
                                        .maximum_size = 2,
                                        .keep_alive = 3s,
                                        .pool_size = 2,
                                        .active = 2,
                                        .largest_pool_size = 2,
                                        .queued = 2,
                                        .queue_capacity = 2,
                                        .tasks = 5,
                                        .completed = 1,
                                        .rejected = 1};
    EXPECT_EQ(pool.snapshot(), expected);
    EXPECT_EQ(spool::to_string(pool.snapshot()),
              "state running, workers 2 of 2 (core 1), active 2, queued 2 of 2, completed 1, rejected 1");
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(spool::to_string(pool.snapshot()),
              "state terminated, workers 0 of 2 (core 1), active 0, queued 0 of 2, completed 5, rejected 1");
    EXPECT_EQ(pool.largest_pool_size(), 2U);
}

TEST(pool_numbers, an_unbounded_queue_has_no_limit_in_the_text) {
    spool::thread_pool_executor pool({.core_size = 1});
    EXPECT_TRUE(contains(spool::to_string(pool.snapshot()), "queued 0, completed 0"));
    pool.close();
}

TEST(pool_numbers, describe_has_a_line_per_worker) {
    test::busy_workers busy;
    test::gate started;
    spool::thread_pool_executor pool({.name = "lines", .core_size = 2});
    const test::open_at_end guard{busy.release_gate()};
    EXPECT_EQ(pool.describe(), "thread_pool_executor \"lines\": " + spool::to_string(pool.snapshot()));
    spool::task first = [&] { started.open(), busy.release_gate().wait(); };
    const std::string id = std::to_string(first.id());
    pool.execute(std::move(first));
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(pool.prestart_core_thread());
    ASSERT_TRUE(test::eventually([&] { return contains(pool.describe(), "\n  lines-2: idle"); }));
    const std::string text = pool.describe();
    EXPECT_TRUE(contains(text, "thread_pool_executor \"lines\": state running")) << text;
    EXPECT_TRUE(contains(text, "\n  lines-1: runs task " + id + " for at least ")) << text;
    EXPECT_FALSE(contains(text, "asked to stop")) << text;
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_FALSE(contains(pool.describe(), "lines-1"));
}

TEST(pool_numbers, describe_tells_the_age_of_a_task_from_when_it_was_first_seen) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    EXPECT_TRUE(contains(pool.describe(), "seen for the first time"));
    ASSERT_TRUE(test::eventually([&] { return age_in_ms(pool.describe()) >= 20; }));
    busy.release();
    pool.submit([] {}).get();
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_numbers, describe_tells_the_true_age_of_a_task_with_task_times) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1, .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    const auto since = std::chrono::steady_clock::now();
    ASSERT_TRUE(test::eventually([&] { return std::chrono::steady_clock::now() - since > 20ms; }));
    const std::string text = pool.describe();  // the first call: no earlier one has seen the task
    EXPECT_GE(age_in_ms(text), 20) << text;
    EXPECT_FALSE(contains(text, "at least")) << text;
    busy.release();
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_numbers, describe_tells_the_age_of_the_outer_task_after_a_nested_one_with_task_times) {
    test::busy_workers busy;
    test::gate nested_done;
    spool::thread_pool_executor pool({.core_size = 1, .task_times = true});
    const test::open_at_end guard{busy.release_gate()};
    pool.execute([&] {
        spool::this_task::sleep_for(50ms);
        pool.submit([] {}).get();
        nested_done.open();
        busy.release_gate().wait();
    });
    ASSERT_TRUE(nested_done.opens());
    const std::string text = pool.describe();
    EXPECT_GE(age_in_ms(text), 50) << text;
    busy.release();
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_numbers, describe_tells_the_age_of_the_outer_task_after_a_hook_refused_a_nested_one) {
    struct picky : spool::pool_hooks {
        void before_execute(const spool::task_info&) override {
            if (++calls == 2) {
                throw std::runtime_error("not this one");
            }
        }
        std::atomic<int> calls{0};
    };
    spool::thread_pool_executor pool(
        {.core_size = 1, .hooks = std::make_shared<picky>(), .uncaught = test::quiet(), .task_times = true});
    long age = 0;
    pool.submit([&] {
            EXPECT_TRUE(test::eventually([&] { return age_in_ms(pool.describe()) >= 20; }));
            pool.submit([] {}).wait();
            age = age_in_ms(pool.describe());
        })
        .get();
    EXPECT_GE(age, 20);
    ASSERT_TRUE(test::ends(pool));
}

TEST(pool_numbers, describe_invents_no_age_for_a_task_whose_body_has_ended_with_task_times) {
    struct describing_hooks : spool::pool_hooks {
        void after_execute(const spool::task_info&, const std::exception_ptr&) override {
            text = pool->describe();
        }
        spool::thread_pool_executor* pool = nullptr;
        std::string text;
    };
    const auto hooks = std::make_shared<describing_hooks>();
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks, .task_times = true});
    hooks->pool = &pool;
    pool.execute([] {});
    ASSERT_TRUE(test::ends(pool));
    EXPECT_TRUE(contains(hooks->text, "runs task")) << hooks->text;
    EXPECT_EQ(age_in_ms(hooks->text), -1) << hooks->text;
}

TEST(pool_numbers, describe_says_who_was_asked_to_stop) {
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    EXPECT_FALSE(contains(pool.describe(), "asked to stop"));
    static_cast<void>(pool.shutdown_now());
    const std::string text = pool.describe();
    EXPECT_TRUE(contains(text, "state stopping") && contains(text, ", asked to stop")) << text;
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
}

TEST(pool_numbers, can_be_read_from_anywhere_while_workers_come_and_go) {
    for (int i = 0; i < 50; ++i) {
        spool::thread_pool_executor pool({.core_size = 4, .uncaught = test::quiet()});
        for (int n = 0; n < 8; ++n) {
            pool.execute([n] {
                if (n % 2 == 0) {
                    throw std::runtime_error("on purpose");
                }
            });
            EXPECT_LE(pool.snapshot().pool_size, 4U);
            EXPECT_FALSE(pool.describe().empty());
        }
        ASSERT_TRUE(test::ends(pool));
        EXPECT_EQ(pool.task_count(), 8U);
    }
}

TEST(pool_numbers, tasks_and_completed_never_exceed_what_was_submitted) {
    std::uint64_t most_too_many = 0;
    for (int i = 0; i < 200; ++i) {
        spool::thread_pool_executor pool({.core_size = 2});
        for (std::uint64_t n = 1; n <= 16; ++n) {
            pool.execute([] {});
            const auto seen = pool.snapshot();
            most_too_many = std::max(most_too_many, std::max({seen.tasks, seen.completed, n}) - n);
        }
        ASSERT_TRUE(test::ends(pool));
    }
    EXPECT_EQ(most_too_many, 0U);
}

TEST(pool_numbers, states_have_names) {
    EXPECT_EQ(spool::to_string(spool::run_state::running), "running");
    EXPECT_EQ(spool::to_string(spool::run_state::shutting_down), "shutting down");
    EXPECT_EQ(spool::to_string(spool::run_state::stopping), "stopping");
    EXPECT_EQ(spool::to_string(spool::run_state::tidying), "tidying");
    EXPECT_EQ(spool::to_string(spool::run_state::terminated), "terminated");
}
