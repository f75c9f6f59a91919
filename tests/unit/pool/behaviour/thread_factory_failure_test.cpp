// Workers that cannot be started: the worker count rolls back, no task is lost, and the pool stays
// usable.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/throws.hpp"

namespace {

using namespace std::chrono_literals;

enum class failure { throws, returns_no_thread };

std::string to_string(failure how) {
    return how == failure::throws ? "throws" : "returns_no_thread";
}

// Makes plain threads, except for the calls from `first` to `last` (counted from 1).
struct failing_factory {
    failure how = failure::throws;
    int first = 0;
    int last = 0;
    std::atomic<int> calls{0};

    spool::worker_thread make(spool::task body) {
        const int call = ++calls;
        if (call < first || call > last) {
            return std::thread{std::move(body)};
        }
        if (how == failure::throws) {
            throw std::runtime_error("no thread today");
        }
        return {};
    }
    spool::thread_factory handle() {
        return [this](spool::task body, const spool::worker_info&) { return make(std::move(body)); };
    }
};

// The same, but every call blocks until `go_on` opens.
struct stalled_factory {
    failing_factory then;
    test::gate asked{};
    test::gate go_on{};

    spool::thread_factory handle() {
        return [this](spool::task body, const spool::worker_info&) {
            asked.open();
            go_on.wait();
            return then.make(std::move(body));
        };
    }
};

class pool_thread_failure : public testing::TestWithParam<failure> {};

// Submits a task to a pool that has no worker and can start none.
void expect_the_submitter_is_told(spool::thread_pool_executor& pool, failure how, std::atomic<int>& ran) {
    if (how == failure::throws) {
        EXPECT_EQ(test::what_of<std::runtime_error>([&] { pool.execute([&ran] { ++ran; }); }),
                  "thread_pool_executor \"" + pool.name() + "\": no thread: no thread today");
        return;
    }
    try {
        pool.execute([&ran] { ++ran; });
        ADD_FAILURE() << "the task was accepted";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::no_thread);
        EXPECT_TRUE(test::contains(e.what(), "no thread")) << e.what();
    }
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(both, pool_thread_failure,
                         testing::Values(failure::throws, failure::returns_no_thread),
                         [](const auto& parameter) { return to_string(parameter.param); });

TEST_P(pool_thread_failure, of_the_nth_call_loses_no_task_and_leaves_the_pool_usable) {
    for (int n = 1; n <= 5; ++n) {
        SCOPED_TRACE("call " + std::to_string(n) + " fails");
        failing_factory factory{.how = GetParam(), .first = n, .last = n};
        std::atomic<int> ran{0};
        test::busy_workers busy;
        spool::thread_pool_executor pool(
            {.core_size = 5, .maximum_size = 5, .thread_factory = factory.handle()});
        const test::open_at_end guard{busy.release_gate()};
        for (int i = 1; i <= 5; ++i) {
            if (i == n && n == 1) {
                expect_the_submitter_is_told(pool, GetParam(), ran);
                EXPECT_EQ(pool.pool_size(), 0U);
            } else if (i == n) {  // queued: the other workers exist
                pool.execute([&ran] { ++ran; });
                EXPECT_EQ(pool.queue().size(), 1U);
                EXPECT_EQ(pool.pool_size(), static_cast<std::size_t>(n - 1));
            } else {
                busy.hold(pool);
            }
        }
        EXPECT_TRUE(busy.started());
        EXPECT_EQ(pool.pool_size(), 4U);
        EXPECT_EQ(pool.prestart_all_core_threads(), 1U);
        EXPECT_EQ(pool.pool_size(), 5U);
        busy.release();
        ASSERT_TRUE(test::ends(pool));
        EXPECT_EQ(ran, n == 1 ? 0 : 1);
        EXPECT_EQ(pool.completed_task_count(), n == 1 ? 4U : 5U);
        EXPECT_EQ(pool.rejected_count(), n == 1 ? 1U : 0U);
    }
}

TEST_P(pool_thread_failure, with_no_worker_alive_tells_the_submitter_and_cancels_the_future) {
    failing_factory factory{.how = GetParam(), .first = 1, .last = 2};
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .thread_factory = factory.handle()});
    spool::future_task<void> prepared{[&ran] { ++ran; }};
    auto [handle, work] = std::move(prepared).split();
    EXPECT_ANY_THROW(pool.execute(std::move(work)));
    EXPECT_TRUE(handle.is_cancelled());
    spool::task mine = [&ran] { ++ran; };
    EXPECT_EQ(pool.try_execute(std::move(mine)), spool::admission_result::no_thread);
    EXPECT_FALSE(mine.empty());
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_EQ(pool.queue().size(), 0U);
    EXPECT_EQ(pool.try_execute(std::move(mine)), spool::admission_result::accepted);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

// A core size of 0 with a storing queue: the pool enqueues the task first and starts its worker
// second.
TEST_P(pool_thread_failure, after_the_offer_takes_the_task_back_out_of_the_queue) {
    failing_factory factory{.how = GetParam(), .first = 1, .last = 1};
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 0, .maximum_size = 1, .thread_factory = factory.handle()});
    expect_the_submitter_is_told(pool, GetParam(), ran);
    EXPECT_EQ(pool.queue().size(), 0U);
    EXPECT_EQ(pool.pool_size(), 0U);
    pool.submit([&ran] { ++ran; }).get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

// A submitter that enqueues a task while a worker is being started relies on that worker.
TEST_P(pool_thread_failure, leaves_nobodys_task_behind_who_relied_on_the_worker) {
    stalled_factory factory{.then = {.how = GetParam(), .first = 1, .last = 1}};
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 0, .maximum_size = 1, .thread_factory = factory.handle()});
    {
        const std::jthread first{[&] { expect_the_submitter_is_told(pool, GetParam(), ran); }};
        factory.asked.wait();
        pool.execute([&ran] { ran += 10; });  // queued: a worker seems to exist
        factory.go_on.open();
    }
    EXPECT_TRUE(test::eventually([&] { return ran == 10; })) << pool.describe();
    EXPECT_EQ(factory.then.calls, 2);
    ASSERT_TRUE(test::ends(pool));
}

TEST_P(pool_thread_failure, of_prestart_leaves_nobodys_task_behind_who_relied_on_it) {
    stalled_factory factory{.then = {.how = GetParam(), .first = 1, .last = 2}};
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .maximum_size = 1, .thread_factory = factory.handle()});
    {
        const std::jthread first{[&] { EXPECT_FALSE(pool.prestart_core_thread()); }};
        factory.asked.wait();
        pool.execute([&ran] { ++ran; });
        factory.go_on.open();
    }
    EXPECT_TRUE(test::eventually([&] { return ran == 1; })) << pool.describe();
    EXPECT_EQ(factory.then.calls, 3) << "the second failed too";
    ASSERT_TRUE(test::ends(pool));
}

TEST_P(pool_thread_failure, above_core_with_a_full_queue_tells_the_submitter) {
    failing_factory factory{.how = GetParam(), .first = 2, .last = 2};
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1,
                                      .maximum_size = 2,
                                      .queue = test::synchronous(),
                                      .thread_factory = factory.handle()});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    expect_the_submitter_is_told(pool, GetParam(), ran);
    EXPECT_EQ(pool.pool_size(), 1U);
    pool.submit([&ran] { ++ran; }).get();
    EXPECT_EQ(pool.pool_size(), 2U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

TEST_P(pool_thread_failure, of_a_successor_lets_the_dying_worker_carry_on) {
    failing_factory factory{.how = GetParam(), .first = 2, .last = 1'000'000};
    test::record<std::thread::id> threads;
    spool::thread_pool_executor pool(
        {.core_size = 1, .thread_factory = factory.handle(), .uncaught = test::quiet()});
    for (int i = 0; i < 3; ++i) {
        pool.execute([&threads] {
            threads.add(std::this_thread::get_id());
            throw std::runtime_error("on purpose");
        });
    }
    pool.submit([&threads] { threads.add(std::this_thread::get_id()); }).get();
    EXPECT_EQ(pool.pool_size(), 1U);
    ASSERT_TRUE(test::ends(pool));
    ASSERT_EQ(threads.size(), 4U);
    EXPECT_EQ(threads.count(threads.all().front()), 4U);
    EXPECT_GE(factory.calls, 4);
    EXPECT_EQ(pool.completed_task_count(), 4U);
}

TEST_P(pool_thread_failure, of_prestart_answers_false_and_starts_none) {
    failing_factory factory{.how = GetParam(), .first = 1, .last = 1};
    spool::thread_pool_executor pool({.core_size = 2, .thread_factory = factory.handle()});
    EXPECT_FALSE(pool.prestart_core_thread());
    EXPECT_EQ(pool.pool_size(), 0U);
    EXPECT_EQ(pool.prestart_all_core_threads(), 2U);
    ASSERT_TRUE(test::ends(pool));
}

TEST_P(pool_thread_failure, for_good_still_lets_close_run_what_a_prefilled_queue_holds) {
    failing_factory factory{.how = GetParam(), .first = 1, .last = 1'000'000};
    std::atomic<int> ran{0};
    auto queue = std::make_unique<spool::linked_blocking_queue<spool::task>>();
    queue->put([&ran] { ++ran; });
    queue->put([&ran] { ++ran; });
    spool::thread_pool_executor pool(
        {.core_size = 1, .queue = std::move(queue), .thread_factory = factory.handle()});
    pool.close();
    EXPECT_TRUE(pool.is_terminated());
    EXPECT_EQ(ran, 2);
}

TEST(pool_thread_dropped, by_the_factory_before_it_returns_counts_as_no_thread) {
    std::atomic<bool> drop{true};
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool(
        {.core_size = 1, .thread_factory = [&](spool::task body, const spool::worker_info&) {
             if (drop) {
                 body = nullptr;
                 return std::thread{[] {}};
             }
             return std::thread{std::move(body)};
         }});
    EXPECT_THROW(pool.execute([&ran] { ++ran; }), spool::rejected_execution);
    EXPECT_EQ(pool.pool_size(), 0U);
    drop = false;
    pool.submit([&ran] { ++ran; }).get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

TEST(pool_thread_dropped, by_the_new_thread_after_the_factory_returned_is_reported_and_the_task_still_runs) {
    test::gate returned;
    std::atomic<int> calls{0};
    test::record<std::string> reported;
    spool::thread_pool_executor pool(
        {.name = "drop",
         .core_size = 1,
         .thread_factory =
             [&](spool::task body, const spool::worker_info&) {
                 if (++calls > 1) {
                     return std::thread{std::move(body)};
                 }
                 return std::thread{[&returned, body = std::move(body)]() mutable {
                     returned.wait();
                     body = nullptr;
                 }};
             },
         .uncaught = [&](const spool::worker_info& w,
                         const std::exception_ptr& e) { reported.add(w.name + ": " + spool::describe(e)); }});
    const auto done = pool.submit([] { return 8; });
    returned.open();
    ASSERT_TRUE(done.wait_for(test::long_delay()));
    EXPECT_EQ(done.get(), 8);
    ASSERT_TRUE(test::ends(pool));
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_TRUE(test::contains(reported.all().front(), "drop-1: the thread factory dropped"))
        << reported.all().front();
}

TEST(pool_thread_dropped, again_and_again_leaves_the_task_to_the_next_thread) {
    test::gate returned;
    std::atomic<int> calls{0};
    spool::thread_pool_executor pool(
        {.core_size = 0,
         .maximum_size = 1,
         .thread_factory = [&](spool::task body, const spool::worker_info&) -> spool::worker_thread {
             const int call = ++calls;
             if (call == 1) {  // drops the body in the returned thread, later
                 return std::thread{[&returned, body = std::move(body)]() mutable {
                     returned.wait();
                     body = nullptr;
                 }};
             }
             if (call < 5) {  // drops the body in a thread, before the factory returns
                 std::thread forgetful{[dropped = std::move(body)]() mutable { dropped = nullptr; }};
                 forgetful.join();
                 return std::thread{[] {}};
             }
             return std::thread{std::move(body)};
         },
         .uncaught = test::quiet()});
    const auto done = pool.submit([] { return 8; });
    returned.open();
    ASSERT_TRUE(done.wait_for(test::long_delay())) << pool.describe();
    EXPECT_EQ(done.get(), 8);
    EXPECT_EQ(calls, 5);
    ASSERT_TRUE(test::ends(pool));
}

// The dropped body held a first task. Another worker waited for that task and has already run it.
TEST(pool_thread_dropped, counts_no_rejection_of_a_task_that_has_run_elsewhere) {
    test::gate forget;
    test::gate forgot;
    std::atomic<int> calls{0};
    spool::thread_pool_executor pool({.core_size = 2,
                                      .thread_factory =
                                          [&](spool::task body, const spool::worker_info&) {
                                              if (++calls != 2) {
                                                  return std::thread{std::move(body)};
                                              }
                                              return std::thread{
                                                  [&forget, &forgot, body = std::move(body)]() mutable {
                                                      forget.wait();
                                                      body = nullptr;
                                                      forgot.open();
                                                  }};
                                          },
                                      .uncaught = test::quiet()});
    const auto outer = pool.submit([&pool] { return pool.submit([] { return 8; }).get(); });
    ASSERT_TRUE(outer.wait_for(test::long_delay())) << pool.describe();
    EXPECT_EQ(outer.get(), 8);
    pool.shutdown();
    forget.open();
    ASSERT_TRUE(forgot.opens());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(pool.snapshot().rejected, 0U);
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(pool_thread_dropped, body_called_twice_runs_one_worker) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool(
        {.core_size = 1, .thread_factory = [](spool::task body, const spool::worker_info&) {
             return std::thread{[body = std::move(body)]() mutable {
                 body();
                 body();
             }};
         }});
    pool.submit([&ran] { ++ran; }).get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(pool.completed_task_count(), 1U);
}
