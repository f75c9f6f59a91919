// Memory runs out while a task is submitted: the caller gets std::bad_alloc or the task runs, never
// both and never neither. The program replaces operator new. A thread can make its own n-th
// allocation fail, or all from the n-th on.
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/failing_memory.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;
using test::failing;
using test::plan;
using test::with_failing;

// The state in which a submission finds the pool.
struct scenario {
    std::string name;
    std::function<spool::pool_options()> options;
    bool worker_held;
    // Tried with 0 up to this many queued tasks, since a storing queue allocates only now and then.
    int most_queued = 0;

    friend void PrintTo(const scenario& s, std::ostream* out) { *out << s.name; }
};

std::vector<scenario> scenarios() {
    const auto sized = [](std::size_t core, std::size_t maximum, bool times) {
        return [=] {
            spool::pool_options options;
            options.core_size = core;
            options.maximum_size = maximum;
            options.task_times = times;
            // Small segments, so that the queue allocates one now and then.
            options.queue = std::make_unique<spool::linked_blocking_queue<spool::task, 2>>();
            return options;
        };
    };
    const auto full = [] {
        spool::pool_options options;
        options.core_size = 1;
        options.maximum_size = 2;
        options.queue = test::synchronous();
        // For the task that shows that the pool still works.
        options.rejection = spool::block_policy{};
        return options;
    };
    return {{"first_worker", sized(1, 1, false), false},
            {"second_worker", sized(2, 2, false), true},
            {"queued", sized(1, 1, false), true, 12},
            {"queued_with_times", sized(1, 1, true), true, 12},
            {"queued_first_then_worker", sized(0, 1, false), false},
            {"beyond_the_queue", full, true}};
}

enum class call { execute, submit };

class pool_allocation_failure : public testing::TestWithParam<std::tuple<scenario, failing, call>> {
protected:
    void submit(spool::thread_pool_executor& pool) {
        auto body = [this, counted = test::tracked{alive}] { ++ran; };
        if (std::get<call>(GetParam()) == call::execute) {
            pool.execute(std::move(body));
        } else {
            static_cast<void>(pool.submit(std::move(body)));
        }
    }
    // One round: the n-th allocation of the submission fails. Returns false if there are fewer.
    bool round(int queued, int n) {
        const auto& [where, mode, how] = GetParam();
        ran = 0;
        bool accepted = true;
        bool failed = false;
        std::atomic<int> others{0};
        test::busy_workers busy;
        spool::thread_pool_executor pool{where.options()};
        const test::open_at_end guard{busy.release_gate()};
        if (where.worker_held) {
            busy.hold(pool);
        }
        for (int i = 0; i < queued; ++i) {
            pool.execute([&others] { ++others; });
        }
        const std::size_t workers_before = pool.pool_size();
        failed = with_failing(mode, n, [&] {
            try {
                submit(pool);
            } catch (const std::bad_alloc&) {
                accepted = false;
            }
        });
        if (!accepted) {
            EXPECT_TRUE(failed);
            EXPECT_EQ(alive, 0) << "refused, but kept";
            EXPECT_EQ(pool.queue().size(), static_cast<std::size_t>(queued)) << "refused, but queued";
            EXPECT_EQ(pool.pool_size(), workers_before);
        }
        busy.release();
        pool.submit([&others] { ++others; }).get();  // the pool still works
        EXPECT_TRUE(test::ends(pool));
        EXPECT_EQ(ran, accepted ? 1 : 0);
        EXPECT_EQ(others, queued + 1);
        EXPECT_EQ(alive, 0);
        return failed;
    }

    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(everywhere, pool_allocation_failure,
                         testing::Combine(testing::ValuesIn(scenarios()),
                                          testing::Values(failing::once, failing::from_then_on),
                                          testing::Values(call::execute, call::submit)),
                         [](const auto& p) {
                             return std::get<0>(p.param).name +
                                    (std::get<1>(p.param) == failing::once ? "_once" : "_from_then_on") +
                                    (std::get<2>(p.param) == call::execute ? "_execute" : "_submit");
                         });

TEST_P(pool_allocation_failure, while_submitting_reaches_the_caller_or_the_task_runs) {
    int failures = 0;
    for (int queued = 0; queued <= std::get<0>(GetParam()).most_queued; ++queued) {
        for (int n = 0; round(queued, n); ++n) {
            ++failures;
            ASSERT_LT(n, 1000);
            ASSERT_FALSE(HasFailure()) << "with " << queued << " queued, allocation " << n << " failed";
        }
    }
    EXPECT_GT(failures, 0);  // at least one allocation failed
}

TEST(pool_allocation, failure_in_shutdown_now_still_stops_the_pool_and_keeps_the_rest_for_a_second_call) {
    std::atomic<int> ran{0};
    test::gate started;
    std::atomic<bool> stopped{false};
    spool::thread_pool_executor pool({.core_size = 1});
    pool.execute([&] {
        started.open();
        try {
            spool::this_task::sleep_for(1h);
        } catch (const spool::interrupted&) {
            stopped = true;
        }
    });
    ASSERT_TRUE(started.opens());
    for (int i = 0; i < 3; ++i) {
        pool.execute([&ran] { ++ran; });
    }
    bool threw = false;
    ASSERT_TRUE(with_failing(failing::from_then_on, 0, [&] {
        try {
            static_cast<void>(pool.shutdown_now());
        } catch (const std::bad_alloc&) {
            threw = true;
        }
    }));
    EXPECT_TRUE(threw);
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(stopped);
    EXPECT_EQ(pool.shutdown_now().size(), 3U);
    EXPECT_EQ(pool.shutdown_now().size(), 0U);
    EXPECT_EQ(ran, 0);
}

TEST(pool_allocation, failure_in_remove_leaves_the_task_queued) {
    std::atomic<int> ran{0};
    test::busy_workers busy;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    const auto queued = pool.submit([&ran] { ++ran; });
    bool threw = false;
    EXPECT_TRUE(with_failing(failing::from_then_on, 0, [&] {
        try {
            static_cast<void>(pool.remove(queued));
        } catch (const std::bad_alloc&) {
            threw = true;
        }
    }));
    EXPECT_TRUE(threw);
    EXPECT_EQ(pool.queue().size(), 1U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 1);
}

// The wrapper that task_times needs cannot be allocated: the task stays with the caller, and no
// other thread may start it.
TEST(pool_allocation, failure_in_try_execute_leaves_the_task_to_its_owner_alone) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1, .task_times = true});
    auto [handle, work] = spool::future_task<void>{[&ran] { ++ran; }}.split();
    bool threw = false;
    ASSERT_TRUE(with_failing(failing::once, 0, [&] {
        try {
            static_cast<void>(pool.try_execute(std::move(work)));
        } catch (const std::bad_alloc&) {
            threw = true;
        }
    }));
    EXPECT_TRUE(threw);
    ASSERT_FALSE(work.empty());
    const auto in_vain = pool.submit([&ran, waited_for = handle] {
        std::stop_source give_up;
        const std::jthread timer([&give_up] {
            spool::this_task::sleep_for(test::small_delay());
            give_up.request_stop();
        });
        try {
            waited_for.wait(give_up.get_token());
        } catch (const spool::interrupted&) {}
        return ran == 0;
    });
    EXPECT_TRUE(in_vain.get());
    work = nullptr;
    ASSERT_TRUE(test::ends(pool));
}

// The worker dies of an exception. There is no memory for a successor, nor for a message: the
// worker carries on.
TEST(pool_allocation_death, failure_on_a_worker_that_dies_of_an_exception_does_not_end_the_process) {
    if (test::under_thread_sanitizer) {
        GTEST_SKIP() << "death tests and ThreadSanitizer do not go together";
    }
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run_out_of_memory = [] {
        spool::thread_pool_executor pool(
            {.name = "a-name-too-long-for-a-small-string", .core_size = 1, .uncaught = test::quiet()});
        pool.execute([] {
            plan = {failing::from_then_on, 0, 0};
            throw 1;
        });
        std::atomic<int> ran{0};
        pool.execute([&ran] {
            plan = {};
            ++ran;
        });
        const bool fine = test::ends(pool) && ran == 1;
        std::_Exit(fine ? 0 : 1);
    };
    EXPECT_EXIT(run_out_of_memory(), testing::ExitedWithCode(0), "");
}
