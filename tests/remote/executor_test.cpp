// What an executor does when a queue is full, a broker is away, or an option is wrong.
#include <stdexcept>

#include "remote/support/jobs.hpp"
#include "remote/support/shaky_broker.hpp"
#include "remote/support/site.hpp"
#include "spool/base/error.hpp"
#include "support/throws.hpp"

namespace {

using namespace spool::remote;
using namespace test;
using namespace std::chrono_literals;

TEST(remote_executor, caller_runs_is_refused_with_a_sentence) {
    EXPECT_NE(what_of<std::invalid_argument>([] {
                  executor{{.broker = memory(), .name = "x", .when_full = full_policy::caller_runs}};
              }).find("remote::executor \"x\": caller_runs is not possible"),
              std::string::npos);
    EXPECT_THROW(executor{{}}, std::invalid_argument);
}

TEST(remote_executor, a_full_queue_throws_with_the_numbers) {
    executor cluster{{.broker = memory(), .bound = 1}};
    const auto first = cluster.submit(add, 1, 1);
    try {
        static_cast<void>(cluster.submit(add, 1, 1));
        FAIL() << "the job was accepted";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::full);
        EXPECT_NE(std::string(e.what()).find("bound 1"), std::string::npos);
    }
    EXPECT_EQ(cluster.pending_count(), 1U);
}

TEST(remote_executor, discard_drops_the_new_job_and_cancels_its_future) {
    executor cluster{{.broker = memory(), .bound = 1, .when_full = full_policy::discard}};
    const auto first = cluster.submit(add, 1, 1);
    EXPECT_TRUE(cluster.submit(add, 1, 1).is_cancelled());
    EXPECT_FALSE(first.is_done());
}

TEST(remote_executor, discard_oldest_tells_the_evicted_future) {
    executor cluster{{.broker = memory(), .bound = 1, .when_full = full_policy::discard_oldest}};
    const auto first = cluster.submit(add, 1, 1);
    const auto second = cluster.submit(add, 1, 1);
    try {
        get(first);
        FAIL() << "the job ran";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::evicted);
    }
    EXPECT_FALSE(second.is_done());
}

TEST(remote_executor, block_waits_for_room_up_to_the_limit) {
    const auto b = memory();
    executor cluster{
        {.broker = b, .submit_timeout = long_delay(), .bound = 1, .when_full = full_policy::block}};
    const auto first = cluster.submit_job({}, add, 1, 1);
    std::jthread maker{[&] { b->cancel(first.id); }};
    const auto second = cluster.submit(add, 1, 1);  // returns only once there is room
    EXPECT_FALSE(second.is_done());

    executor hasty{
        {.broker = b, .submit_timeout = short_delay(), .bound = 1, .when_full = full_policy::block}};
    EXPECT_THROW(static_cast<void>(hasty.submit(add, 1, 1)), spool::rejected_execution);
}

TEST(remote_executor, arguments_beyond_the_limit_are_refused_before_they_travel) {
    executor cluster{{.broker = memory(), .limits = {.size = 100}}};
    EXPECT_NE(what_of<codec_error>([&] {
                  static_cast<void>(cluster.submit(greet, std::string(200, 'x')));
              }).find("the limit is 100"),
              std::string::npos);
    EXPECT_EQ(cluster.pending_count(), 0U);
}

TEST(remote_executor, after_shutdown_submit_is_rejected_and_pending_futures_go_on) {
    const auto b = memory();
    executor cluster{{.broker = b}};
    const auto sum = cluster.submit(add, 1, 1);
    cluster.shutdown();
    try {
        static_cast<void>(cluster.submit(add, 1, 1));
        FAIL() << "the job was accepted";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::shut_down);
    }
    site s{b};
    s.worker.handle(add, [](int a, int c) { return a + c; });
    s.worker.start();
    EXPECT_EQ(get(sum), 2);
}

TEST(remote_executor, submit_gives_up_on_an_absent_broker_with_its_reason) {
    const auto b = std::make_shared<shaky_broker>(memory());
    executor cluster{{.broker = b, .submit_timeout = short_delay()}};
    b->go_away();
    try {
        static_cast<void>(cluster.submit(add, 1, 1));
        FAIL() << "the job was accepted";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::broker_unavailable);
        EXPECT_NE(std::string(e.what()).find("shaky broker is away"), std::string::npos);
    }
    EXPECT_FALSE(cluster.cancel(job_id::random()));
    EXPECT_EQ(cluster.pending_count(), 0U);
}

TEST(remote_executor, a_lost_answer_of_put_makes_no_second_job) {
    const auto b = std::make_shared<shaky_broker>(memory());
    executor cluster{{.broker = b, .submit_timeout = long_delay()}};
    b->lose_next_answer();
    const auto job = cluster.submit_job({}, add, 1, 1);
    EXPECT_EQ(b->look({}).size(), 1U);
    EXPECT_EQ(b->look({}).at(0).id, job.id);
}

TEST(remote_executor, get_goes_on_through_an_absence_of_the_broker) {
    const auto b = std::make_shared<shaky_broker>(memory());
    executor cluster{{.broker = b, .poll = 10ms}};
    site s{b};
    gate release;
    s.worker.handle(add, [&](int a, int c) {
        release.wait();
        return a + c;
    });
    const open_at_end opener{release};
    s.worker.start();
    const auto sum = cluster.submit(add, 1, 1);
    b->go_away();
    release.open();
    EXPECT_TRUE(eventually([&] { return b->refused() > 5; }));
    EXPECT_FALSE(sum.is_done());
    b->come_back();
    EXPECT_EQ(get(sum), 2);
}

TEST(remote_executor, a_worker_closes_in_time_without_its_broker) {
    const auto b = std::make_shared<shaky_broker>(memory());
    spool::thread_pool_executor pool({.core_size = 1});
    worker w({.broker = b, .pool = pool, .close_limit = short_delay()});
    gate started;
    w.handle(nothing, [&] { started.open(); });
    w.start();
    executor cluster{{.broker = b}};
    const auto job = cluster.submit(nothing);
    ASSERT_TRUE(started.opens());
    b->go_away();
    w.close();
    SUCCEED();
}

}  // namespace
