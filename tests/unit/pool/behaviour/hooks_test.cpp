// Hooks: when they are called, on which thread, and in which order.
#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

namespace {

using namespace std::chrono_literals;
using steps = std::vector<std::string>;

// Records every call.
class noting_hooks : public spool::pool_hooks {
public:
    void before_execute(const spool::task_info& t) override {
        notes.add("before");
        threads.add(std::this_thread::get_id());
        tasks.add(t.id);
        workers.add(t.worker->name);
    }
    void after_execute(const spool::task_info& t, const std::exception_ptr& thrown) override {
        notes.add(thrown == nullptr ? "after" : "after " + spool::describe(thrown));
        threads.add(std::this_thread::get_id());
        tasks.add(t.id);
    }
    void worker_started(const spool::worker_info& w) override { notes.add("started " + w.name); }
    void worker_stopped(const spool::worker_info& w) override { notes.add("stopped " + w.name); }
    void rejected(const spool::task_info& t, spool::rejection_reason why) override {
        reasons.add(std::string{spool::to_string(why)});
        refused.add(t.id);
        threads.add(std::this_thread::get_id());
    }
    void terminated() override { notes.add("terminated"); }

    test::record<std::string> notes;
    test::record<std::string> reasons;
    test::record<std::string> workers;
    test::record<spool::task_id> tasks;
    test::record<spool::task_id> refused;
    test::record<std::thread::id> threads;
};

// Holds each worker that leaves until `may_leave` opens.
class slow_leaving_hooks : public noting_hooks {
public:
    void worker_stopped(const spool::worker_info& w) override {
        leaves.open();
        may_leave.wait();
        noting_hooks::worker_stopped(w);
    }
    test::gate leaves;
    test::gate may_leave;
};

std::size_t starting_with(const steps& notes, const std::string& beginning) {
    return static_cast<std::size_t>(std::count_if(
        notes.begin(), notes.end(), [&](const std::string& n) { return n.rfind(beginning, 0) == 0; }));
}

}  // namespace

TEST(pool_hooks_order, everything_is_called_in_order_and_on_the_worker) {
    const auto hooks = std::make_shared<noting_hooks>();
    std::thread::id body_thread;
    spool::thread_pool_executor pool({.name = "h", .core_size = 1, .hooks = hooks});
    spool::task work = [&] {
        hooks->notes.add("body");
        body_thread = std::this_thread::get_id();
    };
    const spool::task_id id = work.id();
    pool.execute(std::move(work));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(hooks->notes.all(),
              (steps{"started h-1", "before", "body", "after", "stopped h-1", "terminated"}));
    EXPECT_EQ(hooks->threads.all(), (std::vector<std::thread::id>{body_thread, body_thread}));
    EXPECT_EQ(hooks->tasks.all(), (std::vector<spool::task_id>{id, id}));
    EXPECT_EQ(hooks->workers.all(), steps{"h-1"});
}

TEST(pool_hooks_order, after_execute_sees_what_left_the_body_but_never_what_a_future_keeps) {
    const auto hooks = std::make_shared<noting_hooks>();
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks, .uncaught = test::quiet()});
    const auto kept = pool.submit([] { throw std::runtime_error("kept"); });
    kept.wait();
    pool.execute([] { throw std::runtime_error("let out"); });
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(hooks->notes.count("after"), 1U);
    EXPECT_EQ(hooks->notes.count("after let out"), 1U);
}

TEST(pool_hooks_order, a_priority_is_told_to_the_hooks) {
    struct priority_hooks : spool::pool_hooks {
        void before_execute(const spool::task_info& t) override { seen.add(t.priority); }
        test::record<int> seen;
    };
    const auto hooks = std::make_shared<priority_hooks>();
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks});
    pool.execute(spool::with_priority(5, [] {}));
    pool.submit(spool::with_priority(-3, [] {})).get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(hooks->seen.all(), (std::vector<int>{5, -3}));
}

TEST(pool_hooks_order, a_pause_in_before_execute_ends_at_shutdown_now_and_the_body_sees_the_stop) {
    struct pausing_hooks : spool::pool_hooks {
        void before_execute(const spool::task_info&) override {
            paused.open();
            try {
                spool::this_task::sleep_for(1h);
            } catch (const spool::interrupted&) {
                ended_by_stop = true;
            }
        }
        test::gate paused;
        std::atomic<bool> ended_by_stop{false};
    };
    const auto hooks = std::make_shared<pausing_hooks>();
    std::atomic<bool> stop_seen{false};
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks});
    pool.execute([&](std::stop_token stop) { stop_seen = stop.stop_requested(); });
    ASSERT_TRUE(hooks->paused.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(hooks->ended_by_stop);
    EXPECT_TRUE(stop_seen);
}

TEST(pool_hooks_order, before_execute_body_and_after_execute_share_one_stop_token) {
    struct token_hooks : spool::pool_hooks {
        void before_execute(const spool::task_info&) override { seen.add(spool::this_task::stop_token()); }
        void after_execute(const spool::task_info&, const std::exception_ptr&) override {
            seen.add(spool::this_task::stop_token());
        }
        test::record<std::stop_token> seen;
    };
    const auto hooks = std::make_shared<token_hooks>();
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks});
    pool.execute([&](std::stop_token stop) { hooks->seen.add(stop); });
    pool.submit([&](std::stop_token stop) { hooks->seen.add(stop); }).get();
    ASSERT_TRUE(test::ends(pool));
    const std::vector<std::stop_token> seen = hooks->seen.all();
    ASSERT_EQ(seen.size(), 6U);
    EXPECT_TRUE(seen[0] == seen[1] && seen[1] == seen[2]);
    EXPECT_TRUE(seen[3] == seen[4] && seen[4] == seen[5]);
    EXPECT_FALSE(seen[0] == seen[3]);
}

TEST(pool_hooks_order, started_and_stopped_balance_also_after_exceptions_and_destruction) {
    const auto hooks = std::make_shared<noting_hooks>();
    {
        spool::thread_pool_executor pool(
            {.core_size = 3, .maximum_size = 3, .hooks = hooks, .uncaught = test::quiet()});
        for (int i = 0; i < 12; ++i) {
            pool.execute([i] {
                if (i % 3 == 0) {
                    throw std::runtime_error("on purpose");
                }
            });
        }
    }
    const steps notes = hooks->notes.all();
    EXPECT_GE(starting_with(notes, "started"), 3U);
    EXPECT_EQ(starting_with(notes, "started"), starting_with(notes, "stopped"));
    EXPECT_EQ(starting_with(notes, "before"), 12U);
    EXPECT_EQ(starting_with(notes, "after"), 12U);
    EXPECT_EQ(starting_with(notes, "terminated"), 1U);
    EXPECT_EQ(notes.back(), "terminated");
}

TEST(pool_hooks_order, terminated_waits_for_a_worker_that_is_about_to_leave) {
    const auto hooks = std::make_shared<slow_leaving_hooks>();
    spool::thread_pool_executor pool(
        {.name = "h", .core_size = 1, .keep_alive = 1ms, .core_threads_may_time_out = true, .hooks = hooks});
    const test::open_at_end guard{hooks->may_leave};
    ASSERT_TRUE(pool.prestart_core_thread());
    ASSERT_TRUE(hooks->leaves.opens());
    EXPECT_EQ(pool.pool_size(), 0U);
    pool.shutdown();
    EXPECT_FALSE(pool.is_terminated());
    EXPECT_EQ(hooks->notes.all(), steps{"started h-1"});
    hooks->may_leave.open();
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(hooks->notes.all(), (steps{"started h-1", "stopped h-1", "terminated"}));
}

TEST(pool_hooks_order, terminated_is_called_once_however_often_the_pool_is_ended) {
    const auto hooks = std::make_shared<noting_hooks>();
    {
        spool::thread_pool_executor pool({.core_size = 2, .hooks = hooks});
        pool.execute([] {});
        pool.shutdown();
        static_cast<void>(pool.shutdown_now());
        pool.close();
        pool.shutdown();
        static_cast<void>(pool.shutdown_now());
        pool.close();
    }
    EXPECT_EQ(hooks->notes.count("terminated"), 1U);
}

TEST(pool_hooks_order, terminated_is_called_once_without_any_worker_and_before_the_wait_for_it_ends) {
    struct slow_end : spool::pool_hooks {
        void terminated() override {
            state_inside = pool->state();
            ++calls;
        }
        spool::thread_pool_executor* pool = nullptr;
        std::atomic<spool::run_state> state_inside{spool::run_state::running};
        std::atomic<int> calls{0};
    };
    const auto hooks = std::make_shared<slow_end>();
    spool::thread_pool_executor pool({.core_size = 1, .hooks = hooks});
    hooks->pool = &pool;
    pool.shutdown();
    EXPECT_TRUE(pool.await_termination(0s));
    EXPECT_EQ(hooks->calls, 1);
    EXPECT_EQ(hooks->state_inside, spool::run_state::tidying);
}

TEST(pool_hooks_order, the_rejected_hook_gets_full_shut_down_and_evicted_on_the_submitting_thread) {
    const auto hooks = std::make_shared<noting_hooks>();
    test::busy_workers busy;
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = test::bounded(1), .hooks = hooks});
    const test::open_at_end guard{busy.release_gate()};
    busy.hold(pool);
    ASSERT_TRUE(busy.started());
    spool::task oldest = [] {};
    spool::task refused = [] {};
    const spool::task_id oldest_id = oldest.id();
    const spool::task_id refused_id = refused.id();
    pool.execute(std::move(oldest));
    EXPECT_THROW(pool.execute(std::move(refused)), spool::rejected_execution);
    EXPECT_EQ(hooks->reasons.all(), steps{"queue full"});
    pool.set_rejection(spool::discard_oldest_policy{});
    pool.execute([] {});
    EXPECT_EQ(hooks->reasons.all().back(), "evicted");
    EXPECT_EQ(hooks->refused.all().back(), oldest_id);
    EXPECT_EQ(hooks->refused.all().front(), refused_id);
    pool.set_rejection(spool::discard_policy{});
    pool.shutdown();
    pool.execute([] {});
    EXPECT_EQ(hooks->reasons.all().back(), "shut down");
    EXPECT_EQ(hooks->threads.all().back(), std::this_thread::get_id());
    busy.release();
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_hooks_order, the_rejected_hook_gets_no_thread_when_the_only_worker_cannot_be_started) {
    const auto hooks = std::make_shared<noting_hooks>();
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .thread_factory = [](spool::task, const spool::worker_info&) { return spool::worker_thread{}; },
         .hooks = hooks});
    EXPECT_THROW(pool.execute([] {}), spool::rejected_execution);
    pool.set_thread_factory([](spool::task, const spool::worker_info&) -> spool::worker_thread {
        throw std::runtime_error("no thread today");
    });
    EXPECT_THROW(pool.execute([] {}), std::runtime_error);
    EXPECT_EQ(hooks->reasons.all(), (steps{"no thread", "no thread"}));
    EXPECT_EQ(pool.rejected_count(), 2U);
    EXPECT_TRUE(test::ends(pool));
}

TEST(pool_hooks_order, the_hooks_object_outlives_every_worker) {
    struct living_hooks : spool::pool_hooks {
        explicit living_hooks(std::atomic<int>& w, std::atomic<int>& at_death) : workers(w), left(at_death) {}
        ~living_hooks() override { left = workers.load(); }
        void worker_started(const spool::worker_info&) override { ++workers; }
        void worker_stopped(const spool::worker_info&) override { --workers; }
        std::atomic<int>& workers;
        std::atomic<int>& left;
    };
    std::atomic<int> workers{0};
    std::atomic<int> left_at_death{-1};
    {
        spool::thread_pool_executor pool(
            {.core_size = 4, .hooks = std::make_shared<living_hooks>(workers, left_at_death)});
        EXPECT_EQ(pool.prestart_all_core_threads(), 4U);
        EXPECT_EQ(left_at_death, -1);
    }
    EXPECT_EQ(left_at_death, 0);
}
