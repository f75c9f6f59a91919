// The pool changes in the middle of an offer, or of a worker's last look at the queue. The
// submitter looks at the control word again, the worker at the queue. That second look must notice
// the change, or a task is left behind.
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "scripted_queue.hpp"

namespace {

using namespace std::chrono_literals;
using spool::admission_result;
using spool::rejection_reason;

struct leave_hooks : spool::pool_hooks {
    void worker_stopped(const spool::worker_info&) override { left.open(); }
    test::gate left;
};

class pool_second_look : public testing::Test {
protected:
    spool::pool_options options(std::size_t core) {
        return {.name = "second look",
                .core_size = core,
                .maximum_size = 1,
                .keep_alive = 1h,
                .queue = std::make_unique<test::scripted_queue>(4, script),
                .hooks = hooks};
    }
    void expect_refused_by_shutdown(spool::thread_pool_executor& pool, std::size_t left_in_the_queue = 0) {
        try {
            pool.execute([this] { ++ran; });
            ADD_FAILURE() << "accepted";
        } catch (const spool::rejected_execution& e) {
            EXPECT_EQ(e.reason(), rejection_reason::shut_down);
        }
        EXPECT_EQ(pool.queue().size(), left_in_the_queue);
        EXPECT_EQ(pool.rejected_count(), 1U);
    }

    std::atomic<int> ran{0};
    test::queue_script script;
    std::shared_ptr<leave_hooks> hooks = std::make_shared<leave_hooks>();
    test::busy_workers busy;
};

}  // namespace

// ---- The submitter's second look

TEST_F(pool_second_look, takes_the_task_back_when_the_pool_shuts_down_during_the_offer) {
    spool::thread_pool_executor pool(options(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    script.after_push.arm([&pool] { pool.shutdown(); });
    expect_refused_by_shutdown(pool);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
    EXPECT_EQ(pool.completed_task_count(), 1U);
}

// A timed task takes the slow path.
TEST_F(pool_second_look, takes_a_task_that_is_timed_back_too) {
    auto with_times = options(1);
    with_times.task_times = true;
    spool::thread_pool_executor pool(std::move(with_times));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    script.after_push.arm([&pool] { pool.shutdown(); });
    expect_refused_by_shutdown(pool);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
}

TEST_F(pool_second_look, takes_the_task_back_when_shutdown_now_has_emptied_the_queue_before_it_came) {
    spool::thread_pool_executor pool(options(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    script.before_push.arm([&pool] { EXPECT_TRUE(pool.shutdown_now().empty()); });
    expect_refused_by_shutdown(pool);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
}

TEST_F(pool_second_look, leaves_a_task_that_shutdown_now_took_during_the_offer_to_whoever_called_it) {
    std::vector<spool::task> handed_back;
    spool::thread_pool_executor pool(options(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    script.after_push.arm([&] { handed_back = pool.shutdown_now(); });
    EXPECT_NO_THROW(pool.execute([this] { ++ran; }));
    EXPECT_EQ(pool.rejected_count(), 0U);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
    ASSERT_EQ(handed_back.size(), 1U);
    handed_back.front()();
    EXPECT_EQ(ran, 1);
}

TEST_F(pool_second_look, leaves_nothing_in_a_pool_that_has_ended_before_the_task_was_stored) {
    spool::thread_pool_executor pool(options(0));
    script.before_push.arm([&pool] {
        pool.shutdown();
        EXPECT_TRUE(pool.is_terminated());
    });
    expect_refused_by_shutdown(pool);
    EXPECT_EQ(ran, 0);
}

TEST_F(pool_second_look, names_the_shutdown_when_it_came_during_an_offer_that_a_full_queue_refused) {
    spool::thread_pool_executor pool(options(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    for (int i = 0; i < 4; ++i) {
        pool.execute([this] { ++ran; });
    }
    script.before_push.arm([&pool] { pool.shutdown(); });
    expect_refused_by_shutdown(pool, 4);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 4);
}

TEST_F(pool_second_look, is_not_one_at_a_queue_that_was_full) {
    spool::thread_pool_executor pool(options(1));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    for (int i = 0; i < 4; ++i) {
        pool.execute([this] { ++ran; });
    }
    script.pushes = 0;
    EXPECT_THROW(pool.execute([this] { ++ran; }), spool::rejected_execution);
    EXPECT_EQ(script.pushes, 1);
    EXPECT_EQ(pool.try_execute([this] { ++ran; }), admission_result::full);
    EXPECT_EQ(script.pushes, 2);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, 4);
}

TEST_F(pool_second_look, makes_try_execute_answer_shut_down_with_the_task_whole) {
    spool::thread_pool_executor pool(options(0));
    spool::task mine = [this] { ++ran; };
    const auto id = mine.id();
    script.before_push.arm([&pool] { pool.shutdown(); });
    EXPECT_EQ(pool.try_execute(std::move(mine)), admission_result::shut_down);
    ASSERT_EQ(mine.id(), id);
    EXPECT_EQ(pool.rejected_count(), 0U);
    mine();
    EXPECT_EQ(ran, 1);
}

TEST_F(pool_second_look, ends_a_pool_that_had_only_waited_for_somebody_to_run_the_task_taken_back) {
    spool::thread_pool_executor pool(options(0));
    script.after_push.arm([&pool] {
        pool.set_thread_factory(
            [](spool::task, const spool::worker_info&) { return spool::worker_thread{}; });
        pool.shutdown();
        EXPECT_FALSE(pool.is_terminated());  // no worker could be started for the task
    });
    expect_refused_by_shutdown(pool);
    EXPECT_TRUE(pool.is_terminated());
    EXPECT_EQ(ran, 0);
}

TEST_F(pool_second_look, starts_a_worker_when_the_last_one_has_left_before_the_task_was_stored) {
    auto with_time_out = options(1);
    with_time_out.core_threads_may_time_out = true;
    test::gate started;
    spool::thread_pool_executor pool(std::move(with_time_out));
    ASSERT_TRUE(pool.prestart_core_thread());
    script.before_push.arm([&] {
        pool.set_keep_alive(1ms);
        EXPECT_TRUE(hooks->left.opens());
        pool.set_keep_alive(1h);
    });
    pool.execute([&started] { started.open(); });
    EXPECT_TRUE(started.opens());
    EXPECT_EQ(pool.pool_size(), 1U);
    ASSERT_TRUE(test::ends(pool));
}

// The search throws once and is repeated: the task is refused and does not run.
TEST_F(pool_second_look, takes_the_task_back_from_a_queue_that_throws_once) {
    auto quiet = options(1);
    quiet.uncaught = test::quiet();
    spool::thread_pool_executor pool(std::move(quiet));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    script.after_push.arm([&] {
        pool.shutdown();
        script.before_extract.arm([] { throw std::runtime_error("not now"); });
    });
    expect_refused_by_shutdown(pool);
    busy.release();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(ran, 0);
}

// The task cannot be taken back, so it is accepted: execute() does not throw, and the task runs
// once.
TEST_F(pool_second_look, accepts_a_task_that_a_queue_which_throws_does_not_give_back) {
    for (const bool times : {false, true}) {  // the fast path, and the slow path
        test::busy_workers held;
        std::atomic<int> reported{0};
        auto with_times = options(1);
        with_times.task_times = times;
        with_times.uncaught = [&](const spool::worker_info&, const std::exception_ptr&) { ++reported; };
        spool::thread_pool_executor pool(std::move(with_times));
        const test::open_at_end guard{held.release_gate()};
        held.hold(pool);
        ASSERT_TRUE(held.started());
        script.after_push.arm([&] {
            pool.shutdown();
            script.before_extract.arm([&] {
                script.before_extract.arm([] { throw std::runtime_error("nor now"); });
                throw std::runtime_error("not now");
            });
        });
        ran = 0;
        EXPECT_NO_THROW(pool.execute([this] { ++ran; }));
        held.release();
        EXPECT_TRUE(pool.await_termination(test::long_delay()));
        EXPECT_EQ(ran, 1);
        EXPECT_EQ(pool.rejected_count(), 0U);
        EXPECT_EQ(reported, 2);
    }
}

// ---- The worker's second look

TEST_F(pool_second_look, keeps_a_worker_that_leaves_when_a_task_was_queued_after_it_had_found_none) {
    auto with_time_out = options(1);
    with_time_out.core_threads_may_time_out = true;
    test::gate started;
    spool::thread_pool_executor pool(std::move(with_time_out));
    // The worker's keep-alive is over. It asks whether tasks are queued, finds none, and begins to
    // leave.
    script.after_size.arm([&] {
        pool.set_keep_alive(1h);
        pool.execute([&started] { started.open(); });
        EXPECT_EQ(pool.pool_size(), 1U);
    });
    pool.set_keep_alive(1ms);
    ASSERT_TRUE(pool.prestart_core_thread());
    EXPECT_TRUE(started.opens());
    EXPECT_FALSE(hooks->left.is_open());
    ASSERT_TRUE(test::ends(pool));
}

TEST_F(pool_second_look, keeps_a_worker_that_leaves_when_the_core_size_was_raised_meanwhile) {
    auto for_two = options(2);
    for_two.maximum_size = 2;
    test::gate back;
    spool::thread_pool_executor pool(std::move(for_two));
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    ASSERT_TRUE(pool.prestart_core_thread());
    script.after_size.arm([&] {
        pool.set_keep_alive(1h);
        pool.set_core_size(2);
        script.before_pop.arm([&back] { back.open(); });
    });
    pool.set_core_size(1);
    // The idle worker is one above the core size, and its keep-alive is over.
    pool.set_keep_alive(1ms);
    EXPECT_TRUE(back.opens());
    EXPECT_FALSE(hooks->left.is_open());
    EXPECT_EQ(pool.pool_size(), 2U);
    busy.release();
    ASSERT_TRUE(test::ends(pool));
}
