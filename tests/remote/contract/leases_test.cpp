// The promises B1 to B5 of every broker: leases, fences, counts.
#include <thread>

#include "remote/support/broker_kinds.hpp"
#include "remote/support/jobs.hpp"

namespace {

using namespace spool::remote;
using namespace test;

using broker_leases = over_brokers;
SPOOL_OVER_BROKERS(broker_leases);

TEST_P(broker_leases, a_job_is_taken_once_with_all_that_was_put) {
    new_job job = make_job();
    job.priority = 7;
    job.retries = 2;
    job.time_limit = std::chrono::milliseconds{1500};
    EXPECT_EQ(put(*broker_, job).status, put_status::added);
    const auto taken = take(*broker_, 5);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].id, job.id);
    EXPECT_EQ(taken[0].function, "f");
    EXPECT_EQ(taken[0].queue, "q");
    EXPECT_EQ(taken[0].signature, job.signature);
    EXPECT_EQ(taken[0].args, job.args);
    EXPECT_EQ(taken[0].priority, 7);
    EXPECT_EQ(taken[0].retries, 2);
    EXPECT_EQ(taken[0].time_limit, job.time_limit);
    EXPECT_TRUE(take(*broker_, 5).empty());
}

TEST_P(broker_leases, a_put_that_is_repeated_adds_no_second_job) {
    const new_job job = make_job();
    put(*broker_, job);
    EXPECT_EQ(put(*broker_, job).status, put_status::known);
    const auto taken = take(*broker_, 5);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(put(*broker_, job).status, put_status::known);
    EXPECT_EQ(finish(*broker_, taken[0]), finish_status::finished);
    EXPECT_EQ(put(*broker_, job).status, put_status::known);
    EXPECT_TRUE(take(*broker_, 5).empty());
}

TEST_P(broker_leases, a_key_belongs_to_one_unfinished_job) {
    new_job first = make_job();
    first.key = "k";
    new_job second = make_job();
    second.key = "k";
    put(*broker_, first);
    const put_result again = put(*broker_, second);
    EXPECT_EQ(again.status, put_status::known);
    EXPECT_EQ(again.id, first.id);
    const auto taken = take(*broker_, 5);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(put(*broker_, second).status, put_status::known);  // running counts as unfinished
    finish(*broker_, taken[0]);
    EXPECT_EQ(put(*broker_, second).status, put_status::added);
    new_job elsewhere = make_job("f", "other");
    elsewhere.key = "k";
    EXPECT_EQ(put(*broker_, elsewhere).status, put_status::added);
}

TEST_P(broker_leases, the_holder_of_an_old_fence_changes_nothing) {
    put(*broker_, make_job());
    const leased_job paused = take_briefly(*broker_);
    const leased_job successor = [&] {
        std::vector<leased_job> jobs;
        EXPECT_TRUE(eventually([&] { return !(jobs = take(*broker_)).empty(); }));
        return jobs.at(0);
    }();
    EXPECT_EQ(successor.id, paused.id);
    EXPECT_GT(successor.fence, paused.fence);
    EXPECT_EQ(successor.crashes, 1);

    EXPECT_EQ(renew(*broker_, paused), renew_status::lost);
    EXPECT_EQ(finish(*broker_, paused, outcome_kind::error), finish_status::stale);
    EXPECT_EQ(hand_back(*broker_, paused), 0U);
    EXPECT_EQ(renew(*broker_, successor), renew_status::renewed);
    EXPECT_EQ(finish(*broker_, successor), finish_status::finished);
    EXPECT_EQ(finish(*broker_, paused), finish_status::stale);
    EXPECT_EQ(finish(*broker_, successor), finish_status::stale);  // the first outcome stays
    EXPECT_EQ(record(*broker_, paused.id).state, job_state::succeeded);
    EXPECT_EQ(record(*broker_, paused.id).attempt, 0);
}

TEST_P(broker_leases, a_late_holder_keeps_a_job_that_nobody_took) {
    put(*broker_, make_job());
    const leased_job late = take_briefly(*broker_);
    EXPECT_EQ(renew(*broker_, late), renew_status::renewed);
    EXPECT_TRUE(take(*broker_).empty());
    EXPECT_EQ(finish(*broker_, late), finish_status::finished);
    EXPECT_EQ(record(*broker_, late.id).crashes, 0);
}

TEST_P(broker_leases, errors_are_retried_until_none_is_left) {
    new_job job = make_job();
    job.retries = 2;
    put(*broker_, job);
    for (int attempt = 0; attempt < 3; ++attempt) {
        const leased_job run = take(*broker_).at(0);
        EXPECT_EQ(run.attempt, attempt);
        EXPECT_EQ(finish(*broker_, run, outcome_kind::error),
                  attempt < 2 ? finish_status::retrying : finish_status::finished);
    }
    const job_record end = record(*broker_, job.id);
    EXPECT_EQ(end.state, job_state::failed);
    EXPECT_EQ(end.attempt, 3);
    EXPECT_EQ(end.crashes, 0);
    EXPECT_EQ(end.error_type, "std::runtime_error");
}

TEST_P(broker_leases, a_retry_waits_for_its_backoff) {
    new_job job = make_job();
    job.retries = 1;
    put(*broker_, job);
    job_outcome error = outcome(take(*broker_).at(0), outcome_kind::error);
    error.retry_in = std::chrono::hours{1};
    EXPECT_EQ(broker_->finish({&error, 1}).front(), finish_status::retrying);
    EXPECT_TRUE(take(*broker_).empty());
    EXPECT_EQ(record(*broker_, job.id).state, job_state::delayed);
}

TEST_P(broker_leases, three_lost_leases_make_a_job_dead_without_counting_errors) {
    new_job job = make_job();
    job.retries = 100;
    put(*broker_, job);
    for (int crash = 0; crash < 3; ++crash) {
        EXPECT_EQ(take_briefly(*broker_).crashes, crash);
    }
    EXPECT_TRUE(eventually([&] {
        EXPECT_TRUE(take(*broker_).empty());
        return record(*broker_, job.id).state == job_state::dead;
    }));
    EXPECT_EQ(record(*broker_, job.id).crashes, 3);
    EXPECT_EQ(record(*broker_, job.id).attempt, 0);
    EXPECT_NE(record(*broker_, job.id).error_text.find("3 time"), std::string::npos);
}

TEST_P(broker_leases, a_refused_job_fails_whatever_tries_are_left) {
    new_job job = make_job();
    job.retries = 5;
    put(*broker_, job);
    EXPECT_EQ(finish(*broker_, take(*broker_).at(0), outcome_kind::refused), finish_status::finished);
    EXPECT_EQ(record(*broker_, job.id).state, job_state::failed);
}

TEST_P(broker_leases, a_job_that_is_handed_back_counts_nothing) {
    put(*broker_, make_job());
    const leased_job first = take(*broker_).at(0);
    EXPECT_EQ(hand_back(*broker_, first), 1U);
    EXPECT_EQ(hand_back(*broker_, first), 0U);
    const leased_job second = take(*broker_).at(0);
    EXPECT_EQ(second.attempt, 0);
    EXPECT_EQ(second.crashes, 0);
    EXPECT_GT(second.fence, first.fence);
}

TEST_P(broker_leases, a_job_whose_worker_was_lost_keeps_its_place_in_the_queue) {
    const new_job first = make_job();
    put(*broker_, first);
    EXPECT_EQ(take_briefly(*broker_).id, first.id);
    put(*broker_, make_job());
    std::vector<leased_job> jobs;
    EXPECT_TRUE(eventually([&] { return !(jobs = take(*broker_)).empty() && jobs[0].id == first.id; }));
    EXPECT_EQ(hand_back(*broker_, jobs.at(0)), 1U);
    EXPECT_EQ(take(*broker_).at(0).id, first.id);
}

TEST_P(broker_leases, cancel_ends_a_queued_job_and_asks_a_running_one) {
    const new_job queued = make_job();
    put(*broker_, queued);
    EXPECT_EQ(broker_->cancel(queued.id), cancel_status::cancelled);
    EXPECT_TRUE(take(*broker_).empty());
    EXPECT_EQ(broker_->cancel(queued.id), cancel_status::already_finished);
    EXPECT_EQ(broker_->cancel(job_id::random()), cancel_status::unknown);

    new_job job = make_job();
    job.retries = 5;
    put(*broker_, job);
    const leased_job running = take(*broker_).at(0);
    EXPECT_EQ(broker_->cancel(job.id), cancel_status::stop_requested);
    EXPECT_EQ(renew(*broker_, running), renew_status::stop_requested);
    EXPECT_EQ(finish(*broker_, running, outcome_kind::error), finish_status::finished);
    EXPECT_EQ(record(*broker_, job.id).state, job_state::cancelled);
}

TEST_P(broker_leases, a_cancelled_job_does_not_run_again_after_a_crash_or_a_hand_back) {
    for (const bool crashes : {true, false}) {
        const new_job job = make_job();
        put(*broker_, job);
        const leased_job run = crashes ? take_briefly(*broker_) : take(*broker_).at(0);
        broker_->cancel(job.id);
        if (!crashes) {
            hand_back(*broker_, run);
        }
        EXPECT_TRUE(eventually([&] {
            EXPECT_TRUE(take(*broker_).empty());
            return record(*broker_, job.id).state == job_state::cancelled;
        }));
    }
}

TEST_P(broker_leases, a_result_that_comes_after_a_cancellation_still_counts) {
    const new_job job = make_job();
    put(*broker_, job);
    const leased_job run = take(*broker_).at(0);
    broker_->cancel(job.id);
    EXPECT_EQ(finish(*broker_, run), finish_status::finished);
    EXPECT_EQ(record(*broker_, job.id).state, job_state::succeeded);
    EXPECT_EQ(record(*broker_, job.id).result, bytes{42});
}

TEST_P(broker_leases, retry_starts_a_failed_job_anew) {
    new_job job = make_job();
    job.key = "k";
    put(*broker_, job);
    EXPECT_FALSE(broker_->retry(job.id));
    finish(*broker_, take(*broker_).at(0), outcome_kind::error);
    EXPECT_TRUE(broker_->retry(job.id));
    const leased_job again = take(*broker_).at(0);
    EXPECT_EQ(again.attempt, 0);
    finish(*broker_, again, outcome_kind::error);
    new_job other = make_job();
    other.key = "k";
    put(*broker_, other);
    EXPECT_FALSE(broker_->retry(job.id));  // another job has the key now
    EXPECT_FALSE(broker_->retry(job_id::random()));
}

TEST_P(broker_leases, two_takers_never_hold_the_same_job) {
    constexpr std::size_t count = 300;
    std::vector<new_job> jobs(count);
    for (new_job& job : jobs) {
        job = make_job();
    }
    broker_->put(jobs, {});
    std::vector<std::vector<leased_job>> taken(4);
    {
        std::vector<std::jthread> takers;
        for (auto& mine : taken) {
            takers.emplace_back([&mine, b = engine_->connect()] {
                for (auto more = take(*b, 7); !more.empty(); more = take(*b, 7)) {
                    mine.insert(mine.end(), more.begin(), more.end());
                }
            });
        }
    }
    std::vector<job_id> ids;
    for (const auto& mine : taken) {
        for (const leased_job& job : mine) {
            ids.push_back(job.id);
            EXPECT_EQ(job.fence, 1);
        }
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
    EXPECT_EQ(ids.size(), count);
}

}  // namespace
