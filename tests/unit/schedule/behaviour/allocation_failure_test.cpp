// Memory runs out while a task is scheduled, requeued or searched for: the caller gets
// std::bad_alloc, or the task runs. The program replaces operator new. A thread can make its own
// n-th allocation fail, or all from the n-th on.
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <stdexcept>

#include "schedule_helpers.hpp"
#include "support/failing_memory.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;
using test::failing;
using test::plan;
using test::with_failing;

struct way_in {
    std::string name;
    std::function<void(test::timed_pool&, std::function<void()>)> submit;

    friend void PrintTo(const way_in& w, std::ostream* out) { *out << w.name; }
};

std::vector<way_in> ways_in() {
    using body = std::function<void()>;
    return {
        {"soon", [](test::timed_pool& t, body f) { t.pool.schedule(std::move(f), 0s); }},
        {"later", [](test::timed_pool& t, body f) { t.pool.schedule(std::move(f), 1h); }},
        {"wall",
         [](test::timed_pool& t, body f) { t.pool.schedule_at(std::move(f), t.clock->wall_now() + 1h); }},
        {"execute", [](test::timed_pool& t, body f) { t.pool.execute(std::move(f)); }},
        {"periodic",
         [](test::timed_pool& t, body f) { t.pool.schedule_at_fixed_rate(std::move(f), 1h, 24h); }},
    };
}

class scheduled_allocation_failure : public testing::TestWithParam<std::tuple<way_in, failing, bool>> {
protected:
    // One round: the n-th allocation of the submission fails. Returns false if there are fewer.
    bool round(int n, int queued) {
        const auto& [way, mode, with_times] = GetParam();
        ran = 0;
        bool accepted = true;
        std::atomic<int> others{0};
        test::busy_workers busy;
        test::timed_pool timed({.core_size = 1, .task_times = with_times});
        const test::open_at_end guard{busy.release_gate()};
        if (queued > 0) {
            busy.hold(timed.pool);
        }
        for (int i = 0; i < queued; ++i) {
            timed.pool.schedule([&others] { ++others; }, 0s);
        }
        std::function<void()> body = [this, counted = test::tracked{alive}] { ++ran; };
        const bool failed = with_failing(mode, n, [&, &submit = way.submit] {
            try {
                submit(timed, std::move(body));
            } catch (const std::bad_alloc&) {
                accepted = false;
            }
        });
        body = nullptr;
        if (!accepted) {
            EXPECT_TRUE(failed);
            EXPECT_EQ(alive, 0) << "refused, but kept";
            EXPECT_EQ(timed.pool.queue().size(), static_cast<std::size_t>(queued)) << "refused, but queued";
        }
        busy.release();
        timed.settle();
        timed.advance(1h);
        EXPECT_EQ(ran, accepted ? 1 : 0);
        EXPECT_EQ(others, queued);
        EXPECT_TRUE(test::ends(timed.pool));
        EXPECT_EQ(alive, 0);
        return failed;
    }
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
};

TEST_P(scheduled_allocation_failure, while_scheduling_reaches_the_caller_or_the_task_runs) {
    int failures = 0;
    for (const int queued : {0, 1, 2, 4, 8, 64}) {  // the heap of due timers grows now and then
        for (int n = 0; round(n, queued); ++n) {
            ++failures;
            ASSERT_LT(n, 1000);
            ASSERT_FALSE(HasFailure()) << "with " << queued << " queued, allocation " << n << " failed";
        }
    }
    EXPECT_GT(failures, 0);  // at least one allocation failed
}
INSTANTIATE_TEST_SUITE_P(everywhere, scheduled_allocation_failure,
                         testing::Combine(testing::ValuesIn(ways_in()),
                                          testing::Values(failing::once, failing::from_then_on),
                                          testing::Bool()));

// The worker has no memory to open the bucket of timers that have become due: it reports the
// failure and tries again.
TEST(scheduled_allocation, failure_on_a_worker_loses_no_timer) {
    std::atomic<int> reported{0};
    test::timed_pool timed(
        {.core_size = 1,
         .uncaught = [&](const spool::worker_info&, const std::exception_ptr&) { ++reported; }});
    std::atomic<int> ran{0};
    std::vector<spool::scheduled_future<void>> timers;
    for (int i = 0; i < 500; ++i) {
        timers.push_back(timed.pool.schedule([&ran] { ++ran; }, 1h));
    }
    const auto last = timed.pool.submit([&] {
        timed.clock->advance(1h);
        plan = {failing::once, 0, 0};
    });
    for (const auto& t : timers) {
        ASSERT_TRUE(t.wait_for(test::long_delay()));
    }
    EXPECT_EQ(ran, 500);
    EXPECT_LE(reported, 1);
}

// There is no memory to requeue the series: it must not end silently.
TEST(scheduled_allocation, failure_on_a_series_way_back_fails_its_future) {
    std::atomic<int> reported{0};
    test::busy_workers busy;
    test::timed_pool timed({.core_size = 1, .uncaught = [&](auto&&...) { ++reported; }});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(timed.pool);
    // The heap of due timers has room for exactly ten. The series leaves it, another timer takes
    // its place, and then the series is requeued.
    const auto series = timed.pool.schedule_at_fixed_rate(
        [&] {
            timed.pool.schedule([] {}, 0s);
            plan = {failing::from_then_on, 0, 0};
        },
        1h, 1ns);
    for (int i = 0; i < 9; ++i) {
        timed.pool.schedule([] { plan = {}; }, 1h);
    }
    timed.clock->advance(1h);
    busy.release();
    ASSERT_TRUE(series.wait_for(test::long_delay()));
    EXPECT_THROW(series.get(), std::bad_alloc);
    EXPECT_EQ(reported, 1);
    timed.settle();
    EXPECT_EQ(timed.pool.queue().size(), 0U);
}

TEST(scheduled_allocation,
     failure_while_the_clock_is_followed_delays_a_time_of_day_by_seconds_and_not_by_hours) {
    test::timed_pool timed;
    std::vector<spool::scheduled_future<void>> alarms;
    for (int i = 0; i < 100; ++i) {
        alarms.push_back(timed.pool.schedule_at([] {}, timed.clock->wall_now() + 8h));
    }
    const auto last = timed.pool.submit([&] {
        timed.clock->set_wall(timed.clock->wall_now() + 9h);
        // All alarms are due now, and there is no memory to grow the heap of due timers.
        plan = {failing::once, 0, 0};
    });
    timed.settle();
    timed.advance(4s);
    for (const auto& alarm : alarms) {
        EXPECT_TRUE(alarm.is_done());
    }
}

TEST(scheduled_allocation, failure_in_shutdown_now_keeps_everything_for_a_second_call) {
    test::timed_pool timed;
    const auto timer = timed.pool.schedule([] {}, 1h);
    const auto series = timed.pool.schedule_at_fixed_rate([] {}, 1h, 1h);
    bool threw = false;
    ASSERT_TRUE(with_failing(failing::from_then_on, 0, [&] {
        try {
            static_cast<void>(timed.pool.shutdown_now());
        } catch (const std::bad_alloc&) {
            threw = true;
        }
    }));
    EXPECT_TRUE(threw);
    EXPECT_FALSE(timer.is_done() || series.is_done());
    EXPECT_EQ(timed.pool.shutdown_now().size(), 2U);
}

TEST(scheduled_allocation, is_not_needed_to_cancel_to_remove_and_to_shut_down) {
    test::timed_pool timed({.core_size = 1, .run_delayed_after_shutdown = false});
    std::vector<spool::scheduled_future<void>> timers;
    for (int i = 0; i < 300; ++i) {
        timers.push_back(timed.pool.schedule([] {}, std::chrono::milliseconds{i + 1}));
    }
    int done = 0;
    static_cast<void>(with_failing(failing::from_then_on, 0, [&] {
        for (std::size_t i = 0; i < 100; ++i) {
            done += timers[i].cancel() ? 1 : 0;
            done += timed.pool.remove(timers[100 + i]) ? 1 : 0;
        }
        timed.pool.shutdown();
    }));
    EXPECT_EQ(done, 200);
    for (const auto& t : timers) {
        EXPECT_TRUE(t.is_cancelled());
    }
    EXPECT_TRUE(timed.pool.await_termination(test::long_delay()));
}

}  // namespace
