#include <gtest/gtest.h>

#include <chrono>

#include "unit/lab/tiny_scenarios.hpp"

namespace {

using namespace std::chrono_literals;
using spool::lab::fate;
using test::refusal;
using test::simulated;
using test::sizes;
using test::tasks;
using test::with_pool;

test::settings one_worker_one_place(refusal policy) {
    test::settings pool = sizes(1, 1, 1);
    pool.rejection = policy;
    return pool;
}

TEST(simulator_refusal, abort_and_discard_lose_the_new_task) {
    for (const refusal policy : {refusal::abort, refusal::discard}) {
        const auto run = simulated(with_pool(one_worker_one_place(policy)), tasks(4, 1ms, 100ms));
        EXPECT_EQ(run.outcomes[1].how, fate::completed);
        EXPECT_EQ(run.outcomes[2].how, fate::refused);
        EXPECT_EQ(run.outcomes[3].how, fate::refused);
        EXPECT_EQ(run.refusal_times.size(), 2U);
    }
}

TEST(simulator_refusal, discard_oldest_loses_the_one_that_waited_longest) {
    const auto run =
        simulated(with_pool(one_worker_one_place(refusal::discard_oldest)), tasks(4, 1ms, 100ms));
    EXPECT_EQ(run.outcomes[0].how, fate::completed);
    EXPECT_EQ(run.outcomes[1].how, fate::refused);
    EXPECT_EQ(run.outcomes[2].how, fate::refused);
    EXPECT_EQ(run.outcomes[3].start, 100ms);
}

TEST(simulator_refusal, discard_oldest_with_nothing_queued_loses_the_new_task) {
    test::settings pool = sizes(1, 1, 0);
    pool.rejection = refusal::discard_oldest;
    const auto run = simulated(with_pool(pool), tasks(2, 1ms, 100ms));
    EXPECT_EQ(run.outcomes[0].how, fate::completed);
    EXPECT_EQ(run.outcomes[1].how, fate::refused);
}

TEST(simulator_refusal, caller_runs_keeps_the_submitter_busy_and_later_arrivals_waiting) {
    const auto run = simulated(with_pool(one_worker_one_place(refusal::caller_runs)), tasks(4, 1ms, 100ms));
    EXPECT_EQ(run.outcomes[2].start, 2ms);        // the submitter runs it
    EXPECT_EQ(run.outcomes[3].submitted, 102ms);  // arrived at 3 ms, while the submitter was busy
    EXPECT_EQ(run.refusal_times.size(), 1U);
    EXPECT_EQ(run.largest_pool, 1U);
}

TEST(simulator_refusal, a_refused_task_is_submitted_again_up_to_its_limit) {
    test::scenario s = with_pool(sizes(1, 1, 0));
    s.classes[0].retry = {.attempts = 3, .after = 40ms};
    const auto run = simulated(s, tasks(3, 1ms, 60ms));
    EXPECT_EQ(run.outcomes[1].start, 81ms);  // refused at 1 ms and 41 ms, accepted at 81 ms
    EXPECT_EQ(run.outcomes[1].refusals, 2);
    EXPECT_EQ(run.outcomes[2].how, fate::refused);  // refused at 2, 42 and 82 ms
    EXPECT_EQ(run.outcomes[2].refusals, 3);
    EXPECT_EQ(run.refusal_times.size(), 5U);
}

TEST(simulator_refusal, a_raised_capacity_makes_room_at_once) {
    test::scenario s = with_pool(sizes(1, 1, 1));
    s.pool.queue = test::queue_kind::linked;
    s.changes = {{.at = 5ms, .capacity = 100}};
    const auto run = simulated(s, tasks(10, 1ms, 100ms));
    EXPECT_EQ(run.refusal_times.size(), 3U);  // those at 2, 3 and 4 ms
}

}  // namespace
