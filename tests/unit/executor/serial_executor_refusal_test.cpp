// serial_executor on a target that refuses or drops tasks: each task runs, is refused to its
// submitter, or is cancelled.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "spool/executor/serial_executor.hpp"
#include "spool/executor/submit.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "spool/sync/this_task.hpp"
#include "support/gate.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"
#include "unit/executor/stderr_of.hpp"
#include "unit/executor/test_executors.hpp"

namespace {

using spool::serial_executor;
using spool::task;

/// Forwards tasks to a manual_service, until it is told to refuse or drop them.
struct fickle_target {
    enum class mood { accept, refuse, drop };
    explicit fickle_target(mood first = mood::accept) : now(first) {}
    mood now;
    int asked = 0;
    test::manual_service accepted;
    test::executor_of executor{[this](task work) {
        ++asked;
        if (now == mood::refuse) {
            throw std::domain_error{"target is full"};
        }
        if (now == mood::accept) {
            accepted.execute(std::move(work));
        }
    }};
};
using mood = fickle_target::mood;

TEST(serial_executor_refusal, execute_rethrows_the_exception_of_the_target_and_keeps_no_task) {
    std::atomic<int> alive{0};
    int ran = 0;
    fickle_target target{mood::refuse};
    serial_executor lane{target.executor};
    const std::string text = test::stderr_of([&] {
        const auto run = [&] { lane.execute([&, guard = test::tracked{alive}] { ++ran; }); };
        EXPECT_EQ(test::what_of<std::domain_error>(run), "target is full");
        EXPECT_EQ(alive, 0);
    });
    EXPECT_EQ(text, "");

    target.now = mood::accept;
    lane.execute([&] { ran += 10; });
    target.accepted.run_all();
    EXPECT_EQ(ran, 10);
}

TEST(serial_executor_refusal, submit_rethrows_the_exception_of_the_target) {
    fickle_target target{mood::refuse};
    serial_executor lane{target.executor};
    EXPECT_THROW((void)spool::submit(lane, [] { return 1; }), std::domain_error);
}

TEST(serial_executor_refusal, a_lane_on_a_service_that_is_shut_down_refuses_with_its_words) {
    spool::thread_per_task_executor threads{"io"};
    threads.shutdown();
    serial_executor lane{threads};
    const auto run = [&] { lane.execute([] {}); };
    EXPECT_EQ(test::what_of<spool::rejected_execution>(run),
              "thread_per_task_executor \"io\": task rejected, shut down (threads running 0)");
}

TEST(serial_executor_refusal, a_target_that_drops_in_silence_makes_the_future_cancelled) {
    std::atomic<int> alive{0};
    fickle_target target{mood::drop};
    serial_executor lane{target.executor};
    const auto f = spool::submit(lane, [guard = test::tracked{alive}] { return 1; });
    EXPECT_TRUE(f.is_cancelled());
    EXPECT_EQ(alive, 0);

    target.now = mood::accept;
    const auto again = spool::submit(lane, [] { return 2; });
    target.accepted.run_all();
    EXPECT_EQ(again.get(), 2);
}

TEST(serial_executor_refusal, a_target_that_drops_later_cancels_the_futures_that_wait) {
    std::atomic<int> alive{0};
    test::manual_service target;
    serial_executor lane{target};
    std::vector<spool::future<int>> futures;
    for (int i = 0; i < 3; ++i) {
        futures.push_back(spool::submit(lane, [guard = test::tracked{alive}] { return 1; }));
    }
    const std::string text = test::stderr_of([&] { EXPECT_TRUE(target.drop_one()); });
    EXPECT_EQ(text, "");
    for (const auto& f : futures) {
        EXPECT_TRUE(f.is_cancelled());
    }
    EXPECT_EQ(alive, 0);

    const auto again = spool::submit(lane, [] { return 2; });
    target.run_all();
    EXPECT_EQ(again.get(), 2);
}

TEST(serial_executor_refusal, a_target_that_drops_later_has_the_loss_of_plain_tasks_reported_once) {
    std::atomic<int> alive{0};
    test::manual_service target;
    serial_executor lane{target};
    const auto f = spool::submit(lane, [] {});
    lane.execute([guard = test::tracked{alive}] {});
    lane.execute([guard = test::tracked{alive}] {});
    const std::string text = test::stderr_of([&] { EXPECT_TRUE(target.drop_one()); });
    EXPECT_EQ(text, "spool: uncaught exception in serial_executor: the target destroyed, unrun, what it had "
                    "accepted (2 waiting tasks destroyed)\n");
    EXPECT_TRUE(f.is_cancelled());
    EXPECT_EQ(alive, 0);
}

TEST(serial_executor_refusal, a_drain_dropped_halfway_cancels_only_the_tasks_that_have_not_run) {
    test::manual_service target;
    serial_executor lane{target};
    std::vector<spool::future<void>> futures;
    for (int i = 0; i < 40; ++i) {
        futures.push_back(spool::submit(lane, [] {}));
    }
    EXPECT_TRUE(target.run_one());
    EXPECT_TRUE(target.drop_one());
    for (std::size_t i = 0; i < futures.size(); ++i) {
        EXPECT_EQ(futures[i].is_cancelled(), i >= 32) << i;
    }
}

TEST(serial_executor_refusal, a_task_that_a_cancelled_future_adds_during_the_clean_up_still_runs) {
    bool ran = false;
    test::manual_service target;
    serial_executor lane{target};
    const auto f = spool::submit(lane, [] {});
    f.on_done([&] { lane.execute([&] { ran = true; }); });
    EXPECT_TRUE(target.drop_one());
    target.run_all();
    EXPECT_TRUE(ran);
}

TEST(serial_executor_refusal, if_the_target_starts_to_refuse_halfway_the_current_thread_runs_the_rest) {
    for (const mood later : {mood::refuse, mood::drop}) {
        std::vector<int> order;
        std::vector<int> expected;
        fickle_target target;
        serial_executor lane{target.executor};
        for (int i = 0; i < 100; ++i) {
            expected.push_back(i);
            lane.execute([&order, i] { order.push_back(i); });
        }
        target.now = later;
        EXPECT_TRUE(target.accepted.run_one());
        EXPECT_EQ(order, expected);
        EXPECT_EQ(target.asked, 4);

        target.now = mood::accept;
        lane.execute([&order] { order.clear(); });
        EXPECT_TRUE(target.accepted.run_one());
        EXPECT_TRUE(order.empty());
    }
}

TEST(serial_executor_refusal, an_exception_when_the_target_is_gone_is_reported_and_the_rest_runs) {
    bool ran = false;
    fickle_target target;
    serial_executor lane{target.executor};
    lane.execute([] { throw std::domain_error{"disk full"}; });
    lane.execute([&] { ran = true; });
    target.now = mood::refuse;
    const std::string text = test::stderr_of([&] { EXPECT_TRUE(target.accepted.run_one()); });
    EXPECT_EQ(text, "spool: uncaught exception in a task of serial_executor: disk full\n");
    EXPECT_TRUE(ran);
}

TEST(serial_executor_refusal,
     interrupted_leaving_a_stopped_task_is_silent_also_when_the_target_is_shut_down) {
    test::gate running;
    std::atomic<bool> second_ran{false};
    const std::string text = test::stderr_of([&] {
        spool::thread_per_task_executor threads{"io"};
        serial_executor lane{threads};
        lane.execute([&] {
            running.open();
            spool::this_task::sleep_for(test::long_delay());
        });
        lane.execute([&] { second_ran = true; });
        EXPECT_TRUE(running.opens());
        threads.shutdown_now();
    });
    EXPECT_EQ(text, "");
    EXPECT_TRUE(second_ran);
}

TEST(serial_executor_refusal, shutdown_now_of_the_target_hands_back_the_drain_and_with_it_the_waiting_tasks) {
    int ran = 0;
    test::manual_service target;
    serial_executor lane{target};
    lane.execute([&] { ++ran; });
    const auto f = spool::submit(lane, [&] { ++ran; });
    std::vector<task> back = target.shutdown_now();
    ASSERT_EQ(back.size(), 1U);
    EXPECT_FALSE(f.is_done());
    back[0]();
    EXPECT_EQ(ran, 2);
    EXPECT_TRUE(f.is_done());
    EXPECT_NO_THROW(back[0]());
    EXPECT_EQ(ran, 2);
}

}  // namespace
