// What every broker promises about queues: order, bounds, pause, rates, news.
#include <thread>

#include "remote/support/broker_kinds.hpp"
#include "remote/support/jobs.hpp"

namespace {

using namespace spool::remote;
using namespace test;

using broker_queues = over_brokers;
SPOOL_OVER_BROKERS(broker_queues);

TEST_P(broker_queues, ready_jobs_come_by_priority_then_by_arrival) {
    std::vector<job_id> expected(4);
    const int priorities[] = {0, 5, 0, 5};
    const std::size_t places[] = {2, 0, 3, 1};
    for (std::size_t i = 0; i < 4; ++i) {
        new_job job = make_job();
        job.priority = priorities[i];
        put(*broker_, job);
        expected[places[i]] = job.id;
    }
    std::vector<job_id> order;
    for (const leased_job& job : take(*broker_, 10)) {
        order.push_back(job.id);
    }
    EXPECT_EQ(order, expected);
}

TEST_P(broker_queues, a_delayed_job_is_not_ready_before_its_time) {
    new_job later = make_job();
    later.delay = std::chrono::hours{1};
    put(*broker_, later);
    new_job soon = make_job();
    soon.delay = std::chrono::milliseconds{20};
    put(*broker_, soon);
    const taken_jobs none = broker_->take(request());
    EXPECT_TRUE(none.jobs.empty());
    EXPECT_LE(none.next_in, std::chrono::milliseconds{20});
    std::vector<leased_job> taken;
    EXPECT_TRUE(eventually([&] { return !(taken = take(*broker_)).empty(); }));
    EXPECT_EQ(taken.at(0).id, soon.id);
    EXPECT_TRUE(take(*broker_).empty());
}

TEST_P(broker_queues, a_start_time_is_on_the_brokers_clock) {
    new_job past = make_job();
    past.at = broker_->now() - std::chrono::hours{1};
    put(*broker_, past);
    new_job future = make_job();
    future.at = broker_->now() + std::chrono::hours{1};
    put(*broker_, future);
    const auto taken = take(*broker_, 5);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].id, past.id);
}

TEST_P(broker_queues, a_full_queue_refuses_and_frees_room_by_takes) {
    const put_limits limits{2, full_queue::refuse};
    new_job delayed = make_job();
    delayed.delay = std::chrono::hours{1};  // counts, too
    EXPECT_EQ(put(*broker_, delayed, limits).status, put_status::added);
    EXPECT_EQ(put(*broker_, make_job(), limits).status, put_status::added);
    const new_job third = make_job();
    EXPECT_EQ(put(*broker_, third, limits).status, put_status::full);
    EXPECT_TRUE(broker_->look({.ids = {third.id}}).empty());
    EXPECT_EQ(put(*broker_, make_job("f", "other"), limits).status, put_status::added);
    EXPECT_EQ(take(*broker_).size(), 1U);
    EXPECT_EQ(put(*broker_, third, limits).status, put_status::added);
}

TEST_P(broker_queues, evict_oldest_makes_room_and_says_so) {
    const put_limits limits{2, full_queue::evict_oldest};
    const new_job jobs[] = {make_job(), make_job(), make_job()};
    for (const new_job& job : jobs) {
        EXPECT_EQ(put(*broker_, job, limits).status, put_status::added);
    }
    const job_record oldest = record(*broker_, jobs[0].id);
    EXPECT_EQ(oldest.state, job_state::cancelled);
    EXPECT_EQ(oldest.error_type, evicted_type);
    EXPECT_EQ(take(*broker_, 5).size(), 2U);
}

TEST_P(broker_queues, a_paused_queue_gives_nothing_until_it_goes_on) {
    put(*broker_, make_job());
    broker_->configure("q", {.paused = true});
    EXPECT_TRUE(take(*broker_).empty());
    broker_->configure("q", {});
    EXPECT_EQ(take(*broker_).size(), 1U);
}

TEST_P(broker_queues, a_rate_limits_how_many_jobs_start) {
    for (int i = 0; i < 5; ++i) {
        put(*broker_, make_job());
    }
    broker_->configure("q", {.rate = 0.001, .burst = 2});
    EXPECT_EQ(take(*broker_, 5).size(), 2U);
    const taken_jobs none = broker_->take(request(5));
    EXPECT_TRUE(none.jobs.empty());
    EXPECT_GT(none.next_in, std::chrono::seconds{1});
    EXPECT_LT(none.next_in, std::chrono::seconds{1001});
    broker_->configure("q", {.rate = 1000, .burst = 1});
    EXPECT_TRUE(eventually([&] { return !take(*broker_).empty(); }));
    EXPECT_TRUE(eventually([&] { return !take(*broker_).empty(); }));
}

TEST_P(broker_queues, a_worker_gets_only_functions_that_it_has) {
    const new_job unknown = make_job("unknown");
    put(*broker_, unknown);
    const new_job known = make_job();
    put(*broker_, known);
    const auto taken = take(*broker_, 5);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].id, known.id);
    EXPECT_EQ(record(*broker_, unknown.id).state, job_state::queued);

    const std::vector<std::string> queues{"q"};
    broker_->enlist({"w", "a worker", {"f"}});
    EXPECT_EQ(broker_->unserved(queues), std::vector<std::string>{"unknown"});
    broker_->enlist({"w2", "another", {"unknown"}});
    EXPECT_EQ(broker_->workers().size(), 2U);
    EXPECT_TRUE(broker_->unserved(queues).empty());
    broker_->retire("w2");
    EXPECT_EQ(broker_->unserved(queues), std::vector<std::string>{"unknown"});
    broker_->retire("w");
    EXPECT_TRUE(broker_->workers().empty());
}

TEST_P(broker_queues, quotas_come_first_and_others_fill_the_rest) {
    for (int i = 0; i < 4; ++i) {
        put(*broker_, make_job("f", "a"));
        put(*broker_, make_job("f", "b"));
    }
    take_request both{"w", {{"a", 2}, {"b", 1}}, {"f"}, 3, std::chrono::minutes{1}};
    const auto of = [](const taken_jobs& taken, const std::string& queue) {
        return std::count_if(taken.jobs.begin(), taken.jobs.end(), [&](auto& j) { return j.queue == queue; });
    };
    const taken_jobs first = broker_->take(both);
    EXPECT_EQ(of(first, "a"), 2);
    EXPECT_EQ(of(first, "b"), 1);
    both.queues[1].quota = 0;
    both.limit = 5;
    const taken_jobs second = broker_->take(both);
    EXPECT_EQ(of(second, "a"), 2);
    EXPECT_EQ(of(second, "b"), 3);
}

TEST_P(broker_queues, outcomes_and_filters_find_what_they_name) {
    const new_job a = make_job("f", "q");
    const new_job b = make_job("g", "other");
    put(*broker_, a);
    put(*broker_, b);
    finish(*broker_, take(*broker_).at(0));
    const job_id ids[] = {a.id, b.id, job_id::random()};
    const auto found = broker_->outcomes(ids);
    EXPECT_EQ(found.size(), 2U);
    for (const job_record& r : found) {
        EXPECT_EQ(r.state, r.id == a.id ? job_state::succeeded : job_state::queued);
        EXPECT_EQ(r.result, r.id == a.id ? bytes{42} : bytes{});
    }
    EXPECT_EQ(broker_->look({.queue = "other"}).at(0).id, b.id);
    EXPECT_EQ(broker_->look({.function = "f"}).at(0).id, a.id);
    EXPECT_EQ(broker_->look({.states = {job_state::queued}}).at(0).id, b.id);
    EXPECT_EQ(broker_->look({.limit = 1}).at(0).id, b.id);  // newest first
    EXPECT_TRUE(broker_->look({.queue = "none"}).empty());
    for (const queue_record& q : broker_->queues()) {
        EXPECT_EQ(q.queued, q.queue == "other" ? 1U : 0U);
        EXPECT_EQ(q.succeeded, q.queue == "q" ? 1U : 0U);
    }
}

TEST_P(broker_queues, tidy_removes_what_nobody_keeps_any_more) {
    new_job brief = make_job();
    brief.keep = duration{0};
    const new_job kept = make_job();
    put(*broker_, brief);
    put(*broker_, kept);
    for (const leased_job& job : take(*broker_, 2)) {
        finish(*broker_, job);
    }
    EXPECT_TRUE(eventually([&] { return broker_->tidy(10) == 1; }));
    EXPECT_TRUE(broker_->look({.ids = {brief.id}}).empty());
    EXPECT_EQ(record(*broker_, kept.id).state, job_state::succeeded);
}

TEST_P(broker_queues, news_arrive_from_other_connections) {
    const auto other = engine_->connect();
    const auto worker = broker_->subscribe({{"q"}, {}, "w"});
    const auto submitter = broker_->subscribe({{}, "s", {}});
    const auto wait = [](subscription& s) { return s.wait_until(spool::deadline::after(long_delay())); };
    new_job job = make_job();
    job.submitter = "s";
    put(*other, job);
    EXPECT_TRUE(eventually([&] { return wait(*worker).work; }));
    const leased_job run = take(*other).at(0);
    other->cancel(job.id);
    EXPECT_TRUE(eventually([&] { return wait(*worker).stop_requested == std::vector<job_id>{job.id}; }));
    finish(*other, run);
    EXPECT_TRUE(eventually([&] {
        const wake_up wake = wait(*submitter);
        return wake.check_all || wake.finished == std::vector<job_id>{job.id};
    }));
}

TEST_P(broker_queues, an_interrupt_ends_a_wait_that_has_no_news) {
    const auto news = broker_->subscribe({{"q"}, {}, "w"});
    static_cast<void>(news->wait_until(spool::deadline::after(short_delay())));
    const std::jthread waker{[&] { news->interrupt(); }};
    EXPECT_FALSE(news->wait_until(spool::deadline::never()).work);
}

}  // namespace
