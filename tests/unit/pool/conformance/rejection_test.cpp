// What happens to a task that the pool cannot accept.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "unit/pool/conformance/conformance_pool.hpp"

namespace conformance {
namespace {

using spool::rejection_reason;
using spool::task;
using spool::thread_pool_executor;

TEST(thread_pool_executor, TPE_057_discard_oldest_makes_room_at_the_head) {
    blocker held;
    spool::pool_options options = sized(1, 1, 1);
    options.rejection = spool::discard_oldest_policy{};
    thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool, held};
    const auto first = pool.submit(held.body());
    const auto second = pool.submit(held.body());
    ASSERT_TRUE(held.holds(1));
    const auto third = pool.submit(held.body());

    const auto is_queued = [&](const spool::future<void>& f) {
        return pool.queue().contains([&](const task& t) { return t.id() == f.id(); });
    };
    EXPECT_FALSE(is_queued(second));
    EXPECT_TRUE(is_queued(third));
    EXPECT_TRUE(second.is_cancelled());

    ASSERT_TRUE(ends(pool, held));
    EXPECT_EQ(first.state(), spool::future_state::succeeded);
    EXPECT_EQ(third.state(), spool::future_state::succeeded);
    EXPECT_EQ(held.entered(), 2);
}

TEST(thread_pool_executor, TPE_058_discard_oldest_drops_the_task_of_a_pool_that_is_shut_down) {
    blocker held;
    std::atomic<bool> ran{false};
    spool::pool_options options = sized(1, 1, 1);
    options.rejection = spool::discard_oldest_policy{};
    thread_pool_executor pool{std::move(options)};
    const ended_at_last end{pool, held};
    pool.execute(held.body());
    const auto queued = pool.submit(held.body());
    pool.shutdown();
    EXPECT_NO_THROW(pool.execute([&] { ran = true; }));
    const auto dropped = pool.submit([&] { ran = true; });
    EXPECT_TRUE(dropped.is_cancelled());
    EXPECT_FALSE(queued.is_done()) << "only the newcomers are dropped";

    ASSERT_TRUE(ends(pool, held));
    EXPECT_NO_THROW(pool.execute([&] { ran = true; }));
    EXPECT_FALSE(ran);
    EXPECT_EQ(queued.state(), spool::future_state::succeeded);
}

TEST(thread_pool_executor, TPE_097_a_task_rejected_and_given_again_runs_once_each_time) {
    constexpr int times = 1000;
    test::gate refused_once;
    std::atomic<int> runs{0};
    const auto shared = std::make_shared<const std::function<void()>>([&] {
        refused_once.wait();
        ++runs;
    });
    int refusals = 0;
    thread_pool_executor pool{sized(1, 30, 30)};
    const ended_at_last end{pool};
    const test::open_at_end open{refused_once};
    for (int given = 0; given < times;) {
        try {
            pool.execute([shared] { (*shared)(); });
            ++given;
        } catch (const spool::rejected_execution&) {
            ++refusals;
            refused_once.open();
        }
    }
    ASSERT_TRUE(ends(pool));
    EXPECT_EQ(runs, times);
    EXPECT_GE(refusals, 1) << "nobody finishes before the first";
    EXPECT_EQ(pool.rejected_count(), static_cast<unsigned>(refusals));
    EXPECT_EQ(pool.completed_task_count(), static_cast<unsigned>(times));
    EXPECT_EQ(shared.use_count(), 1) << "no copy of the task is left behind";
}

TEST(thread_pool_executor, TPE_099_the_policies_can_be_called_directly) {
    thread_pool_executor pool{sized(1, 1)};
    const ended_at_last end{pool};
    const spool::rejection_policy policy = pool.rejection();
    const spool::pool_snapshot before = pool.snapshot();
    std::thread::id ran_in;
    const auto body = [&] { ran_in = std::this_thread::get_id(); };

    EXPECT_THROW(spool::abort_policy{}(task{body}, rejection_reason::full, pool), spool::rejected_execution);
    EXPECT_EQ(ran_in, std::thread::id{});
    EXPECT_NO_THROW(spool::discard_policy{}(task{body}, rejection_reason::full, pool));
    EXPECT_EQ(ran_in, std::thread::id{});
    EXPECT_NO_THROW(spool::caller_runs_policy{}(task{body}, rejection_reason::full, pool));
    EXPECT_EQ(ran_in, std::this_thread::get_id());

    EXPECT_TRUE(pool.rejection() == policy);
    EXPECT_EQ(pool.snapshot(), before);
}

}  // namespace
}  // namespace conformance
