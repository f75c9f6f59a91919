// submit() to future through a worker, over every broker.
#include <atomic>
#include <stdexcept>

#include "remote/support/jobs.hpp"
#include "remote/support/site.hpp"
#include "spool/base/error.hpp"
#include "spool/sync/this_task.hpp"
#include "support/throws.hpp"

namespace {

using namespace spool::remote;
using namespace test;
using namespace std::chrono_literals;

using remote_round_trip = over_sites;
SPOOL_OVER_BROKERS(remote_round_trip);

TEST_P(remote_round_trip, a_future_delivers_what_the_handler_returns) {
    site s{engine_->connect()};
    std::atomic<int> calls{0};
    s.worker.handle(add, [](int a, int b) { return a + b; });
    s.worker.handle(greet, [](const std::string& name) { return "hello " + name; });
    s.worker.handle(nothing, [&] { ++calls; });
    s.worker.start();
    executor cluster{options()};
    EXPECT_EQ(get(cluster.submit(add, 2, 3)), 5);
    EXPECT_EQ(get(cluster.submit(greet, "world")), "hello world");
    get(cluster.submit(nothing));
    EXPECT_EQ(calls, 1);
}

TEST_P(remote_round_trip, many_jobs_each_deliver_their_own_result) {
    site s{engine_->connect(), 4};
    s.worker.handle(add, [](int a, int b) { return a * 1000 + b; });
    s.worker.start();
    executor cluster{options()};
    std::vector<std::tuple<int, int>> arguments;
    for (int i = 0; i < 500; ++i) {
        arguments.emplace_back(i, 7);
    }
    const auto all = cluster.submit_all({}, add, arguments);
    for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(get(all[static_cast<std::size_t>(i)].result), i * 1000 + 7);
    }
    EXPECT_TRUE(cluster.await_all(long_delay()));
    EXPECT_EQ(cluster.pending_count(), 0U);
}

TEST_P(remote_round_trip, an_exception_travels_as_type_and_text) {
    site s{engine_->connect()};
    s.worker.handle(fail, [](const std::string& text) -> int { throw std::domain_error(text); });
    s.worker.handle(nothing, [] { throw 42; });
    s.worker.start();
    executor cluster{options()};
    try {
        get(cluster.submit(fail, "no luck"));
        FAIL() << "the job succeeded";
    } catch (const remote_error& e) {
        EXPECT_EQ(e.type(), "std::domain_error");
        EXPECT_EQ(e.text(), "no luck");
        EXPECT_EQ(e.attempts(), 1);
        EXPECT_EQ(e.state(), job_state::failed);
        EXPECT_NE(e.worker().find("test-worker"), std::string::npos);
    }
    EXPECT_NE(what_of<remote_error>([&] { get(cluster.submit(nothing)); }).find("int"), std::string::npos);
}

TEST_P(remote_round_trip, error_text_that_no_engine_can_store_is_cleaned) {
    site s{engine_->connect()};
    s.worker.handle(fail,
                    [](const std::string& text) -> int { throw std::runtime_error("\xff\xc0" + text); });
    s.worker.start();
    executor cluster{options()};
    EXPECT_NE(
        what_of<remote_error>([&] { get(cluster.submit(fail, std::string(10'000, 'x'))); }).find("??xxx"),
        std::string::npos);
}

TEST_P(remote_round_trip, an_error_is_retried_with_the_same_id) {
    site s{engine_->connect()};
    std::vector<job_id> ids;  // one run at a time
    s.worker.handle(add, [&](int a, int b) {
        ids.push_back(this_job::current()->id);
        EXPECT_EQ(this_job::attempt(), static_cast<int>(ids.size()) - 1);
        if (ids.size() < 3) {
            throw std::runtime_error("again");
        }
        return a + b;
    });
    s.worker.start();
    executor cluster{options()};
    const auto job = cluster.submit_job({.retries = 2, .backoff = 1ms}, add, 1, 1);
    EXPECT_EQ(get(job.result), 2);
    EXPECT_EQ(ids, std::vector<job_id>(3, job.id));
}

TEST_P(remote_round_trip, cancel_stops_a_running_job) {
    gate started;
    gate stopped;
    site s{engine_->connect()};
    s.worker.handle(nothing, [&](std::stop_token stop) {
        started.open();
        const std::stop_callback on_stop{stop, [&] { stopped.open(); }};
        spool::this_task::sleep_for(1h);  // throws interrupted
    });
    s.worker.start();
    executor cluster{options()};
    const auto job = cluster.submit_job({.retries = 5}, nothing);
    ASSERT_TRUE(started.opens());
    EXPECT_TRUE(job.result.cancel());
    EXPECT_TRUE(job.result.is_cancelled());
    EXPECT_TRUE(stopped.opens());
    EXPECT_TRUE(eventually([&] { return record(*broker_, job.id).state == job_state::cancelled; }));
}

TEST_P(remote_round_trip, cancel_of_a_queued_job_reaches_the_broker) {
    executor cluster{options()};
    const auto job = cluster.submit_job({}, add, 1, 1);
    EXPECT_TRUE(job.result.cancel());
    EXPECT_TRUE(eventually([&] { return record(*broker_, job.id).state == job_state::cancelled; }));
    const auto other = cluster.submit_job({}, add, 1, 1);
    EXPECT_TRUE(cluster.cancel(other.id));
    EXPECT_FALSE(cluster.cancel(other.id));
    EXPECT_THROW(get(other.result), spool::cancelled);
}

TEST_P(remote_round_trip, a_run_beyond_its_time_limit_is_stopped_and_counts_as_error) {
    site s{engine_->connect()};
    s.worker.handle(nothing, [] { spool::this_task::sleep_for(1h); });
    s.worker.start();
    executor cluster{options()};
    EXPECT_THROW(get(cluster.submit({.time_limit = 20ms}, nothing)), spool::timed_out);
}

TEST_P(remote_round_trip, a_job_of_another_signature_is_refused_with_a_sentence) {
    static constexpr function<int(std::string)> other_add{"add"};
    site s{engine_->connect()};
    s.worker.handle(add, [](int a, int b) { return a + b; });
    s.worker.start();
    executor cluster{options()};
    const std::string what =
        what_of<remote_error>([&] { get(cluster.submit({.retries = 9}, other_add, "x")); });
    EXPECT_NE(what.find("i32(i32,i32)"), std::string::npos) << what;
}

TEST_P(remote_round_trip, submitting_a_key_twice_gives_two_futures_of_one_job) {
    executor cluster{options()};
    const auto first = cluster.submit_job({.key = "k"}, add, 1, 1);
    const auto second = cluster.submit_job({.key = "k"}, add, 2, 2);
    EXPECT_EQ(first.id, second.id);
    site s{engine_->connect()};
    s.worker.handle(add, [](int a, int b) { return a + b; });
    s.worker.start();
    EXPECT_EQ(get(first.result), 2);
    EXPECT_EQ(get(second.result), 2);
}

TEST_P(remote_round_trip, a_job_outlives_its_executor_and_is_found_again) {
    job_id id;
    spool::future<int> orphan;
    {
        executor cluster{options()};
        auto job = cluster.submit_job({}, add, 20, 22);
        id = job.id;
        orphan = job.result;
    }
    EXPECT_TRUE(orphan.is_cancelled());
    site s{engine_->connect()};
    s.worker.handle(add, [](int a, int b) { return a + b; });
    s.worker.start();
    executor cluster{options()};
    EXPECT_EQ(get(cluster.find(add, id)), 42);
    EXPECT_EQ(get(cluster.find(add, id)), 42);
    EXPECT_THROW(get(cluster.find(greet, id)), std::invalid_argument);
    EXPECT_THROW(get(cluster.find(add, job_id::random())), remote_error);
}

TEST_P(remote_round_trip, close_runs_what_has_begun_and_hands_back_the_rest) {
    gate started;
    gate release;
    auto s = std::make_unique<site>(engine_->connect(), 1);
    s->worker.handle(nothing, [&] {
        started.open();
        release.wait();
    });
    s->worker.start();
    const open_at_end opener{release};
    executor cluster{options()};
    const auto first = cluster.submit_job({}, nothing);
    ASSERT_TRUE(started.opens());
    const auto second = cluster.submit_job({}, nothing);
    std::jthread closer{[&] { s->worker.close(); }};
    release.open();
    closer.join();
    get(first.result);
    EXPECT_EQ(record(*broker_, second.id).state, job_state::queued);
    EXPECT_EQ(record(*broker_, second.id).crashes, 0);
    EXPECT_EQ(s->worker.counts().finished, 1U);
}

TEST_P(remote_round_trip, a_job_of_a_paused_worker_goes_to_another_and_counts_once) {
    gate first_started;
    gate release;
    site slow{engine_->connect(), 1, 100ms};
    std::atomic<int> runs{0};
    slow.worker.handle(add, [&](int a, int b) {
        ++runs;
        first_started.open();
        release.wait();
        return a + b;
    });
    executor cluster{options()};
    const open_at_end opener{release};
    slow.worker.start();
    // A handler that ignores its time limit is renewed no more, as if its process were paused.
    const auto job = cluster.submit_job({.time_limit = 1ms}, add, 1, 2);
    ASSERT_TRUE(first_started.opens());
    site other{engine_->connect()};
    other.worker.handle(add, [&](int a, int b) {
        ++runs;
        return 10 * (a + b);
    });
    other.worker.start();
    EXPECT_EQ(get(job.result), 30);
    release.open();
    EXPECT_TRUE(eventually([&] { return slow.worker.counts().lost == 1; }));
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(record(*broker_, job.id).crashes, 1);
    EXPECT_EQ(decode<int>(record(*broker_, job.id).result), 30);
}

TEST_P(remote_round_trip, executors_that_share_a_periodic_key_submit_each_tick_once) {
    std::atomic<int> runs{0};
    site s{engine_->connect()};
    s.worker.handle(nothing, [&] { ++runs; });
    s.worker.start();
    executor a{options()};
    executor b{options()};
    a.submit_every(200ms, "beat", {}, nothing);
    b.submit_every(200ms, "beat", {}, nothing);
    EXPECT_TRUE(eventually([&] { return runs >= 3; }));
    a.shutdown();
    b.shutdown();
    std::vector<server_time> ticks;
    for (const job_record& job : broker_->look({.function = "nothing"})) {
        ticks.push_back(job.run_at);
    }
    std::sort(ticks.begin(), ticks.end());
    EXPECT_EQ(std::adjacent_find(ticks.begin(), ticks.end()), ticks.end());
    for (const server_time tick : ticks) {
        EXPECT_EQ(tick.time_since_epoch() % 200ms, duration{0});
    }
}

TEST_P(remote_round_trip, two_queues_are_served_by_their_weights) {
    executor cluster{options()};
    std::vector<std::string> order;  // one run at a time
    for (int i = 0; i < 30; ++i) {
        static_cast<void>(cluster.submit({.queue = "a"}, greet, "a"));
        static_cast<void>(cluster.submit({.queue = "b"}, greet, "b"));
    }
    spool::thread_pool_executor pool({.core_size = 1});
    worker w({.broker = engine_->connect(), .queues = {{"a", 2}, {"b", 1}}, .pool = pool, .poll = 100ms});
    w.handle(greet, [&](std::string queue) {
        order.push_back(queue);
        return queue;
    });
    w.start();
    EXPECT_TRUE(cluster.await_all(long_delay()));
    w.close();
    ASSERT_EQ(order.size(), 60U);
    EXPECT_EQ(std::count(order.begin(), order.begin() + 30, "a"), 20);
}

TEST_P(remote_round_trip, a_callback_may_destroy_the_executor) {
    site s{engine_->connect()};
    s.worker.handle(add, [](int a, int b) { return a + b; });
    gate destroyed;
    auto cluster = std::make_unique<executor>(options());
    const spool::future<int> sum = cluster->submit({.delay = 50ms}, add, 1, 1);
    sum.on_done([&] {
        cluster.reset();
        destroyed.open();
    });
    s.worker.start();
    EXPECT_TRUE(destroyed.opens());
    EXPECT_EQ(get(sum), 2);
}

}  // namespace
