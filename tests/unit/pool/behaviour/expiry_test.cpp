// Tasks with a time by which they must have begun, and tasks that report their own cancellation.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "spool/testing/manual_clock.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

const auto long_ago = clock_type::time_point{} + 1ns;
clock_type::time_point far_off() {
    return clock_type::now() + 1h;
}

// Reports that it is cancelled once `revoked` is set.
struct revocable {
    std::shared_ptr<std::atomic<bool>> revoked;
    test::tracked counted;
    [[nodiscard]] bool is_cancelled() const { return *revoked; }
    void operator()() const {}
};

}  // namespace

TEST(task_expiry, future_of_a_task_that_did_not_begin_in_time_fails_with_timed_out) {
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool({.core_size = 1});
    const auto late = pool.submit(spool::expires_at(long_ago, [&ran] { return ++ran; }));
    const auto in_time = pool.submit(spool::expires_at(far_off(), [&ran] { return ran += 10; }));
    EXPECT_NE(test::what_of<spool::timed_out>([&] { static_cast<void>(late.get()); }).find("had not begun"),
              std::string::npos);
    EXPECT_EQ(in_time.get(), 10);
}

TEST(task_expiry, executed_task_that_is_late_is_dropped_in_silence_and_counted) {
    std::atomic<int> ran{0};
    std::atomic<int> uncaught{0};
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .uncaught = [&uncaught](const spool::worker_info&, const std::exception_ptr&) { ++uncaught; }});
    pool.execute(spool::expires_at(long_ago, [&ran] { ++ran; }));
    pool.execute(spool::expires_at(far_off(), [&ran] { ran += 10; }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 10);
    EXPECT_EQ(uncaught, 0);
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST(task_expiry, nests_with_a_priority_in_either_order) {
    std::atomic<int> ran{0};
    const auto body = [&ran](const std::stop_token&) { ++ran; };
    spool::task outside = spool::with_priority(3, spool::expires_at(long_ago, body));
    spool::task inside = spool::expires_at(long_ago, spool::with_priority(4, body));
    spool::task twice =
        spool::expires_at(far_off(), spool::with_priority(5, spool::expires_at(long_ago, body)));
    EXPECT_EQ(outside.priority(), 3);
    EXPECT_EQ(inside.priority(), 4);
    EXPECT_EQ(twice.priority(), 5);
    outside();
    inside();
    twice();
    EXPECT_EQ(ran, 0);
    spool::task good = spool::with_priority(3, spool::expires_at(far_off(), body));
    good();
    EXPECT_EQ(ran, 1);
}

TEST(task_expiry, empty_callable_inside_makes_an_empty_task) {
    EXPECT_TRUE(spool::task{spool::expires_at(long_ago, std::function<void()>{})}.empty());
    EXPECT_FALSE(spool::task{spool::expires_at(long_ago, [] {})}.empty());
}

TEST(task_expiry, on_a_scheduled_pool_goes_by_its_clock) {
    const auto clock = std::make_shared<spool::testing::manual_clock>();
    spool::scheduled_thread_pool_executor timers({.core_size = 1, .clock = clock});
    const auto start = clock->now();
    const auto in_time = timers.schedule(spool::expires_at(start + 10s, [] { return 7; }), 10s);
    const auto late = timers.schedule(spool::expires_at(start + 10s, [] { return 8; }), 11s);
    clock->advance(10s);
    EXPECT_EQ(in_time.get(), 7);
    clock->advance(1s);
    EXPECT_THROW(static_cast<void>(late.get()), spool::timed_out);
    EXPECT_EQ(timers.submit(spool::expires_at(start + 11s, [] { return 9; })).get(), 9);
}

TEST(task_expiry, group_with_a_late_child_fails_with_timed_out) {
    spool::thread_pool_executor pool({.core_size = 1});
    spool::task_group children{pool};
    children.run(spool::expires_at(long_ago, [] {}));
    EXPECT_THROW(children.wait(), spool::timed_out);
}

TEST(task_cancelled_by_itself, is_purged_with_and_without_times) {
    for (const bool times : {false, true}) {
        std::atomic<int> alive{0};
        const auto revoked = std::make_shared<std::atomic<bool>>(false);
        const auto kept = std::make_shared<std::atomic<bool>>(false);
        test::busy_workers busy;
        spool::thread_pool_executor pool({.core_size = 1, .task_times = times});
        const test::open_at_end guard{busy.release_gate()};
        busy.hold(pool);
        ASSERT_TRUE(busy.started());
        pool.execute(revocable{revoked, test::tracked{alive}});
        pool.execute(spool::with_priority(1, revocable{revoked, test::tracked{alive}}));
        pool.execute(revocable{kept, test::tracked{alive}});
        EXPECT_EQ(pool.purge(), 0U);
        EXPECT_EQ(alive, 3);
        *revoked = true;
        EXPECT_EQ(pool.purge(), 2U);
        EXPECT_EQ(alive, 1);
    }
}

TEST(pool_contains, says_whether_a_task_waits_in_the_queue) {
    test::gate started;
    test::gate release;
    spool::thread_pool_executor pool({.core_size = 1});
    const test::open_at_end guard{release};
    const auto running = pool.submit([&] { started.open(), release.wait(); });
    const auto queued = pool.submit([] {});
    ASSERT_TRUE(started.opens());
    EXPECT_FALSE(pool.contains(running));
    EXPECT_TRUE(pool.contains(queued));
    EXPECT_TRUE(pool.contains(queued.id()));
    EXPECT_TRUE(pool.remove(queued));
    EXPECT_FALSE(pool.contains(queued));
}

TEST(pool_contains, knows_timers_too) {
    const auto clock = std::make_shared<spool::testing::manual_clock>();
    spool::scheduled_thread_pool_executor timers({.core_size = 1, .clock = clock});
    const auto f = timers.schedule([] {}, 10s);
    EXPECT_TRUE(timers.contains(f));
    clock->advance(10s);
    f.get();
    EXPECT_FALSE(timers.contains(f));
}

TEST(pool_submit_of_nothing, names_the_pool) {
    spool::thread_pool_executor pool({.name = "picky", .core_size = 1});
    const auto submit = [&] { static_cast<void>(pool.submit(std::function<void()>{})); };
    EXPECT_EQ(test::what_of<std::invalid_argument>(submit), "thread_pool_executor \"picky\": empty callable");
}

TEST(scheduled_submit_with_a_stop_token, cancels_a_timer_when_the_stop_comes) {
    test::busy_workers busy;
    spool::scheduled_thread_pool_executor timers({.core_size = 1});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(timers);
    std::stop_source outer;
    const auto f = timers.submit(outer.get_token(), [] { return 7; });
    EXPECT_FALSE(f.is_done());
    outer.request_stop();
    EXPECT_TRUE(f.is_cancelled());
}
