// What a scheduler refuses: empty tasks always, all other tasks once it is shut down.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "unit/schedule/conformance/conformance_scheduler.hpp"
#include "unit/schedule/conformance/reject_check.hpp"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using spool::scheduled_thread_pool_executor;

// The refusal must name the empty callable, and not one of the other arguments.
template <class F>
void expect_empty_callable(F f) {
    const std::string text = test::what_of<std::invalid_argument>(f);
    EXPECT_NE(text.find("empty callable"), std::string::npos) << text;
}

TEST(scheduled_thread_pool_executor, STPE_008_an_empty_task_is_refused_by_every_form_for_any_delay) {
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool};
    const spool::pool_snapshot before = pool.snapshot();
    const std::function<void()> no_action;
    const std::function<int()> no_function;
    expect_empty_callable([&] { pool.execute(nullptr); });
    expect_empty_callable([&] { pool.execute(no_action); });
    expect_empty_callable([&] { static_cast<void>(pool.submit(no_action)); });
    expect_empty_callable([&] { static_cast<void>(pool.submit(no_action, 7)); });
    expect_empty_callable([&] { static_cast<void>(pool.submit(no_function)); });
    for_any_timeout([&](auto delay) {
        expect_empty_callable([&] { pool.schedule(no_action, delay); });
        expect_empty_callable([&] { pool.schedule(no_function, delay); });
        expect_empty_callable([&] { pool.schedule_at_fixed_rate(no_action, delay, 1s); });
        expect_empty_callable([&] { pool.schedule_with_fixed_delay(no_action, delay, 1s); });
        EXPECT_THROW(pool.schedule_at_fixed_rate(no_action, 1s, delay), std::invalid_argument);
        EXPECT_THROW(pool.schedule_with_fixed_delay(no_action, 1s, delay), std::invalid_argument);
    });
    EXPECT_EQ(pool.snapshot(), before);
}

enum class ending { orderly, now };

// Blocks a scheduler of one worker with a task that ignores stop requests, and ends it in one of
// the two ways. Submissions must be rejected all the time.
void expect_rejections_until_the_end(ending how) {
    blocker held;
    scheduled_thread_pool_executor pool{scheduler_of(1)};
    const ended_at_last end{pool, held};
    pool.execute(held.body());
    ASSERT_TRUE(held.holds(1));
    if (how == ending::now) {
        EXPECT_TRUE(pool.shutdown_now().empty());
    } else {
        pool.shutdown();
    }
    EXPECT_FALSE(pool.is_terminated());
    expect_all_forms_are_rejected(pool);

    ASSERT_TRUE(ends(pool, held));
    EXPECT_TRUE(pool.is_terminated());
    expect_all_forms_are_rejected(pool);
    EXPECT_EQ(held.left(), 1);
    EXPECT_EQ(pool.completed_task_count(), 1U);
}

TEST(scheduled_thread_pool_executor,
     STPE_009_a_scheduler_shut_down_rejects_and_a_dropped_future_is_cancelled) {
    for (const ending how : {ending::orderly, ending::now}) {
        SCOPED_TRACE(how == ending::now ? "shutdown_now()" : "shutdown()");
        expect_rejections_until_the_end(how);
    }
}

}  // namespace
}  // namespace conformance
