// Submitters that wait for room, in block_policy and execute_for, and everything that wakes them.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "own_block_policy.hpp"
#include "pool_helpers.hpp"
#include "scripted_queue.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using spool::admission_result;

enum class way { block_policy, own_policy, execute_for };

// One held worker, a queue whose only place is taken, and a submitter that waits for room.
class pool_with_a_full_queue : public testing::Test {
protected:
    explicit pool_with_a_full_queue(way w = way::block_policy) : how(w) {}
    void saturate() {
        busy.hold(pool);
        ASSERT_TRUE(busy.started());
        pool.execute([this] { ++ran; });
    }
    void start_submitter() {
        submitter = std::jthread([this] {
            spool::task work = [this] { ++submitted_ran; };
            try {
                if (how != way::execute_for) {
                    pool.execute(std::move(work));
                    outcome.add("accepted");
                } else {
                    outcome.add(name_of(pool.execute_for(std::move(work), 1h, stop.get_token())));
                }
            } catch (const spool::rejected_execution& e) {
                outcome.add(std::string{spool::to_string(e.reason())});
            } catch (const spool::interrupted&) {
                outcome.add("interrupted");
            }
        });
        ASSERT_TRUE(test::eventually([this] { return script.waiting_for_room == 1; }));
        EXPECT_EQ(outcome.size(), 0U);
    }
    std::string wait_for_outcome() {
        EXPECT_TRUE(test::eventually([this] { return outcome.size() == 1; }));
        const auto all = outcome.all();
        return all.empty() ? "none" : all.front();
    }
    void finish(int submitted) {
        busy.release();
        EXPECT_TRUE(test::ends(pool));
        if (submitter.joinable()) {
            submitter.join();
        }
        EXPECT_EQ(submitted_ran, submitted);
        EXPECT_EQ(pool.queue().size(), 0U);
    }
    [[nodiscard]] spool::rejection_policy policy() const {
        return how == way::own_policy ? spool::rejection_policy{test::own_block_policy{}}
                                      : spool::block_policy{};
    }
    static std::string name_of(admission_result r) {
        switch (r) {
            case admission_result::accepted: return "accepted";
            case admission_result::full: return "full";
            case admission_result::shut_down: return "shut down";
            case admission_result::no_thread: return "no thread";
            case admission_result::timed_out: return "timed out";
        }
        return "?";
    }

    const way how;
    std::atomic<int> ran{0};
    std::atomic<int> submitted_ran{0};
    std::stop_source stop;
    test::record<std::string> outcome;
    test::queue_script script;
    test::busy_workers busy;
    spool::thread_pool_executor pool{{.name = "block",
                                      .core_size = 1,
                                      .maximum_size = 1,
                                      .keep_alive = 1ms,
                                      .queue = std::make_unique<test::scripted_queue>(1, script),
                                      .rejection = policy()}};
    std::jthread submitter;  // joined before the pool is destroyed
    test::open_at_end guard{busy.release_gate()};
};

class pool_blocking : public pool_with_a_full_queue, public testing::WithParamInterface<way> {
protected:
    pool_blocking() : pool_with_a_full_queue(GetParam()) {}
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(ways, pool_blocking,
                         testing::Values(way::block_policy, way::own_policy, way::execute_for),
                         [](const auto& p) {
                             return p.param == way::block_policy ? "block_policy"
                                    : p.param == way::own_policy ? "own_policy"
                                                                 : "execute_for";
                         });

TEST_P(pool_blocking, is_released_by_room_in_the_queue) {
    saturate();
    start_submitter();
    busy.release();
    EXPECT_EQ(wait_for_outcome(), "accepted");
    finish(1);
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(pool.rejected_count(), 0U);
}

TEST_P(pool_blocking, is_released_by_room_that_remove_makes) {
    saturate();
    start_submitter();
    EXPECT_EQ(pool.queue().remove_if([](const spool::task&) { return true; }), 1U);
    EXPECT_EQ(wait_for_outcome(), "accepted");
    EXPECT_EQ(pool.queue().size(), 1U);
    finish(1);
    EXPECT_EQ(ran, 0);
}

TEST_P(pool_blocking, is_released_by_a_raised_maximum) {
    saturate();
    start_submitter();
    pool.set_maximum_size(2);
    EXPECT_EQ(wait_for_outcome(), "accepted");
    // On the new worker.
    EXPECT_TRUE(test::eventually([&] { return submitted_ran == 1; }));
    finish(1);
    EXPECT_EQ(ran, 1);
}

TEST_P(pool_blocking, is_released_by_a_worker_that_leaves) {
    test::gate extra_release;
    pool.set_maximum_size(2);
    saturate();
    test::gate extra_started;
    // The second worker's first task.
    pool.execute([&] { extra_started.open(), extra_release.wait(); });
    const test::open_at_end extra_guard{extra_release};
    ASSERT_TRUE(extra_started.opens());
    start_submitter();
    // Makes the second worker time out although a task is queued.
    script.plays_empty = true;
    extra_release.open();
    EXPECT_EQ(wait_for_outcome(), "accepted");
    EXPECT_TRUE(test::eventually([&] { return submitted_ran == 1; }));
    script.plays_empty = false;
    finish(1);
    EXPECT_EQ(ran, 1);
}

TEST_P(pool_blocking, is_released_by_shutdown_and_the_task_is_refused) {
    saturate();
    start_submitter();
    pool.shutdown();
    EXPECT_EQ(wait_for_outcome(), "shut down");
    EXPECT_EQ(pool.rejected_count(), how != way::execute_for ? 1U : 0U);
    finish(0);
    EXPECT_EQ(ran, 1);
}

TEST_P(pool_blocking, is_released_by_shutdown_now_and_the_task_is_refused_not_handed_back) {
    saturate();
    start_submitter();
    const auto back = pool.shutdown_now();
    EXPECT_EQ(wait_for_outcome(), "shut down");
    EXPECT_EQ(back.size(), 1U);
    finish(0);
    EXPECT_EQ(ran, 0);
}

TEST_P(pool_blocking, is_refused_when_the_pool_shuts_down_just_after_room_was_found) {
    saturate();
    start_submitter();
    script.after_push.arm([this] { pool.shutdown(); });
    EXPECT_EQ(pool.queue().remove_if([](const spool::task&) { return true; }), 1U);
    EXPECT_EQ(wait_for_outcome(), "shut down");
    EXPECT_EQ(pool.queue().size(), 0U);
    finish(0);
    EXPECT_EQ(ran, 0);
}

TEST_F(pool_with_a_full_queue, block_policy_ends_with_interrupted_when_the_submitting_task_is_stopped) {
    saturate();
    spool::thread_pool_executor other({.name = "other", .core_size = 1});
    const auto blocked = other.submit([this] { pool.execute([this] { ++submitted_ran; }); });
    ASSERT_TRUE(test::eventually([this] { return script.waiting_for_room == 1; }));
    static_cast<void>(other.shutdown_now());
    ASSERT_TRUE(other.await_termination(test::long_delay()));
    EXPECT_THROW(blocked.get(), spool::interrupted);
    finish(0);
}

TEST_F(pool_with_a_full_queue, execute_for_ends_with_interrupted_at_a_stop_and_leaves_the_task_untouched) {
    saturate();
    spool::task work = [this] { ++submitted_ran; };
    const auto id = work.id();
    std::jthread stopper([this] {
        static_cast<void>(test::eventually([this] { return script.waiting_for_room == 1; }));
        stop.request_stop();
    });
    EXPECT_THROW(static_cast<void>(pool.execute_for(std::move(work), 1h, stop.get_token())),
                 spool::interrupted);
    EXPECT_EQ(work.id(), id);
    finish(0);
    work();
    EXPECT_EQ(submitted_ran, 1);
}

TEST_F(pool_with_a_full_queue, execute_for_answers_timed_out_no_sooner_and_leaves_the_task_untouched) {
    saturate();
    spool::task work = [this] { ++submitted_ran; };
    const auto id = work.id();
    auto answer = admission_result::accepted;
    const auto took = test::time_of([&] { answer = pool.execute_for(std::move(work), test::short_delay()); });
    EXPECT_EQ(answer, admission_result::timed_out);
    EXPECT_GE(took, test::short_delay());
    EXPECT_EQ(work.id(), id);
    EXPECT_EQ(pool.execute_for(std::move(work), -1s), admission_result::timed_out);
    EXPECT_EQ(pool.rejected_count(), 0U);
    finish(0);
    EXPECT_EQ(pool.execute_for(std::move(work), 1h), admission_result::shut_down);
    EXPECT_EQ(work.id(), id);
}

TEST_F(pool_with_a_full_queue, block_policy_with_a_limit_rejects_no_sooner_and_counts_it) {
    pool.set_rejection(spool::block_policy{.limit = test::short_delay()});
    saturate();
    const auto took = test::time_of([&] {
        try {
            pool.execute([this] { ++submitted_ran; });
            ADD_FAILURE() << "accepted";
        } catch (const spool::rejected_execution& e) {
            EXPECT_EQ(e.reason(), spool::rejection_reason::full);
        }
    });
    EXPECT_GE(took, test::short_delay());
    EXPECT_EQ(pool.rejected_count(), 1U);
    finish(0);
}

TEST_F(pool_with_a_full_queue, block_policy_on_a_worker_of_the_same_pool_runs_the_task_there) {
    std::thread::id outer;
    std::thread::id inner;
    const auto done = pool.submit([&] {
        outer = std::this_thread::get_id();
        pool.execute([this] { ++ran; });  // takes the only place in the queue
        pool.execute([&] { inner = std::this_thread::get_id(); });
    });
    ASSERT_TRUE(done.wait_for(test::long_delay()));
    EXPECT_EQ(outer, inner);
    EXPECT_EQ(pool.rejected_count(), 0U);
    finish(0);
    EXPECT_EQ(ran, 1);
}

TEST_F(pool_with_a_full_queue, execute_for_answers_no_thread_when_nobody_can_be_started) {
    pool.set_thread_factory([](spool::task, const spool::worker_info&) { return spool::worker_thread{}; });
    spool::task work = [this] { ++submitted_ran; };
    EXPECT_EQ(pool.execute_for(std::move(work), 1h), admission_result::no_thread);
    EXPECT_FALSE(work.empty());
    finish(0);
}

// While the submitter waits for room, its task is not in the queue, so no worker may start it. The
// task is refused or it runs, never both.
TEST_F(pool_with_a_full_queue, a_task_that_still_waits_for_room_is_not_run_by_a_worker_that_waits_for_it) {
    auto [handle, work] = spool::future_task<void>{[this] { ++submitted_ran; }}.split();
    test::gate submitter_waits;
    std::stop_source end_of_wait;
    pool.execute([&, waited_for = handle] {
        submitter_waits.wait();
        try {
            waited_for.wait(end_of_wait.get_token());
        } catch (const spool::interrupted&) {}
        busy.release_gate().wait();
    });
    ASSERT_TRUE(test::eventually([&] { return pool.active_count() == 1; }));
    pool.execute([this] { ++ran; });  // takes the only place in the queue
    std::jthread opener([&] {
        static_cast<void>(test::eventually([this] { return script.waiting_for_room == 1; }));
        submitter_waits.open();
    });
    EXPECT_EQ(pool.execute_for(std::move(work), test::medium_delay()), admission_result::timed_out);
    EXPECT_EQ(submitted_ran, 0);
    EXPECT_FALSE(handle.is_done());
    EXPECT_EQ(pool.snapshot().queued, 1U);
    end_of_wait.request_stop();
    work = nullptr;
    finish(submitted_ran);
}
