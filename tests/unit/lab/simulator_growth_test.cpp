#include <gtest/gtest.h>

#include <chrono>

#include "unit/lab/tiny_scenarios.hpp"

namespace {

using namespace std::chrono_literals;
using test::simulated;
using test::sizes;
using test::tasks;
using test::with_pool;
using test::workers_at;

TEST(simulator, grows_to_the_core_then_queues_then_grows_to_the_maximum) {
    // Ten tasks, 1 ms apart, that outlast the arrivals: 2 core workers, 4 places in the queue, then
    // workers up to 5. One task is refused.
    const auto run = simulated(with_pool(sizes(2, 5, 4)), tasks(10, 1ms, 100ms));
    EXPECT_EQ(run.outcomes[0].start, 0ms);
    EXPECT_EQ(run.outcomes[1].start, 1ms);
    EXPECT_EQ(run.outcomes[2].start, 100ms);  // queued: begins when the first task has ended
    // The last one in the queue begins when the second extra worker is free.
    EXPECT_EQ(run.outcomes[5].start, 107ms);
    EXPECT_EQ(run.outcomes[6].start, 6ms);  // the queue is full: gets a new worker
    EXPECT_EQ(run.outcomes[8].start, 8ms);
    EXPECT_EQ(run.outcomes[9].how, spool::lab::fate::refused);
    EXPECT_EQ(run.largest_pool, 5U);
    EXPECT_EQ(run.refusal_times, std::vector<test::nanoseconds>{9ms});
}

TEST(simulator, an_unbounded_queue_never_lets_it_grow_past_the_core) {
    test::settings pool = sizes(2, 8, 1);
    pool.queue = test::queue_kind::linked;
    pool.capacity = spool::lab::unlimited;
    EXPECT_EQ(simulated(with_pool(pool), tasks(100, 1ms, 50ms)).largest_pool, 2U);
}

TEST(simulator, a_hand_off_queue_starts_a_worker_whenever_no_worker_is_idle) {
    const auto run = simulated(with_pool(sizes(0, 8, 0)), tasks(5, 10ms, 25ms));
    // At 20 ms the first worker is still busy; at 30 ms it is idle again.
    EXPECT_EQ(run.largest_pool, 3U);
    for (const auto& o : run.outcomes) {
        EXPECT_EQ(o.start, o.submitted);
    }
}

TEST(simulator, core_size_zero_with_a_queue_runs_one_task_at_a_time) {
    const auto run = simulated(with_pool(sizes(0, 8, 10)), tasks(5, 1ms, 10ms));
    EXPECT_EQ(run.largest_pool, 1U);
    EXPECT_EQ(run.length, 50ms);
}

TEST(simulator, workers_above_the_core_leave_after_the_keep_alive) {
    const auto run = simulated(with_pool(sizes(1, 4, 0)), tasks(4, 0ms, 50ms));
    EXPECT_EQ(workers_at(run, 140ms), 4U);
    EXPECT_EQ(workers_at(run, 160ms), 1U);
    EXPECT_EQ(workers_at(run, 900ms), 1U);
}

TEST(simulator, core_workers_leave_only_if_they_may_time_out) {
    test::settings pool = sizes(2, 2, 4);
    EXPECT_EQ(workers_at(simulated(with_pool(pool), tasks(2, 0ms, 10ms)), 900ms), 2U);
    pool.core_may_time_out = true;
    EXPECT_EQ(workers_at(simulated(with_pool(pool), tasks(2, 0ms, 10ms)), 900ms), 0U);
}

TEST(simulator, a_raised_core_size_starts_workers_for_queued_tasks) {
    test::scenario s = with_pool(sizes(1, 8, 10));
    s.changes = {{.at = 20ms, .core = 3}};
    const auto run = simulated(s, tasks(5, 1ms, 100ms));
    EXPECT_EQ(run.outcomes[1].start, 20ms);
    EXPECT_EQ(run.outcomes[2].start, 20ms);
    EXPECT_EQ(run.outcomes[3].start, 100ms);
    EXPECT_EQ(run.largest_pool, 3U);
}

TEST(simulator, a_lowered_maximum_sends_workers_away_as_their_tasks_end) {
    test::scenario s = with_pool(sizes(1, 4, 0));
    s.pool.keep_alive = 10s;
    s.changes = {{.at = 20ms, .maximum = 2}};
    const auto run = simulated(s, tasks(4, 0ms, 50ms));
    EXPECT_EQ(workers_at(run, 45ms), 4U);
    EXPECT_EQ(workers_at(run, 60ms), 2U);
}

TEST(simulator, tasks_that_start_after_a_change_run_longer) {
    test::scenario s = with_pool(sizes(1, 1, 10));
    s.changes = {{.at = 15ms, .service_factor = 3.0}};
    const auto run = simulated(s, tasks(3, 0ms, 10ms));
    EXPECT_EQ(run.outcomes[1].end, 20ms);
    EXPECT_EQ(run.outcomes[2].end, 50ms);
}

TEST(simulator, computing_tasks_share_the_cpus_evenly) {
    test::scenario s = with_pool(sizes(4, 4, 10));
    s.classes[0].cpu = true;
    const auto run = simulated(s, tasks(4, 0ms, 10ms), 2);
    for (const auto& o : run.outcomes) {
        EXPECT_EQ(o.end, 20ms);  // four tasks on two CPUs: half as fast
    }
    EXPECT_EQ(simulated(s, tasks(2, 0ms, 10ms), 2).length, 10ms);
}

TEST(simulator, the_same_scenario_gives_the_same_run) {
    test::scenario s = with_pool(sizes(2, 4, 8), 2s);
    s.classes[0].arrivals = {{.rate = 500, .until = 2s}};
    s.classes[0].service = {.kind = spool::lab::distribution::exponential, .first = 8ms};
    const auto once = spool::lab::simulate(s);
    const auto again = spool::lab::simulate(s);
    ASSERT_EQ(once.outcomes.size(), again.outcomes.size());
    EXPECT_EQ(once.refusal_times, again.refusal_times);
    EXPECT_EQ(once.length, again.length);
    s.seed = 2;
    EXPECT_NE(spool::lab::simulate(s).length, once.length);
}

}  // namespace
