// block_policy and caller_runs_policy on a worker of the same pool: the worker runs the refused
// task at once, like any other. Where the stack has no room for that, the worker keeps the task and
// runs it later.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "own_block_policy.hpp"
#include "pool_helpers.hpp"
#include "support/eventually.hpp"
#include "support/stack_frame.hpp"
#include "support/throws.hpp"

namespace {

constexpr std::size_t kib = 1024;
// A sanitizer's thread-local storage may take 1 MiB of it.
constexpr std::size_t stack_size = 8 * kib * kib;

struct noting_hooks : spool::pool_hooks {
    void before_execute(const spool::task_info& info) override {
        notes.add("before " + std::to_string(info.id) + " on " + info.worker->name);
    }
    void after_execute(const spool::task_info& info, const std::exception_ptr& thrown) override {
        notes.add("after " + std::to_string(info.id) +
                  (thrown != nullptr ? ": " + spool::describe(thrown) : std::string{}));
    }
    void worker_stopped(const spool::worker_info&) override { notes.add("stopped"); }
    test::record<std::string> notes;
};

// One worker. Its queue stores nothing, so the pool refuses what this worker submits.
enum class policy_kind { block, own_block, caller_runs };
class own_worker_rejection : public testing::TestWithParam<policy_kind> {
protected:
    [[nodiscard]] static bool blocks() { return GetParam() != policy_kind::caller_runs; }
    [[nodiscard]] static spool::rejection_policy policy() {
        switch (GetParam()) {
            case policy_kind::block: return spool::block_policy{};
            case policy_kind::own_block: return test::own_block_policy{};
            case policy_kind::caller_runs: break;
        }
        return spool::caller_runs_policy{};
    }
    [[nodiscard]] spool::pool_options options(std::size_t size = 1) {
        return {.name = "own",
                .core_size = size,
                .maximum_size = size,
                .queue = test::synchronous(),
                .thread_factory = spool::worker_thread_factory({.stack_size = stack_size}),
                .rejection = policy(),
                .hooks = hooks,
                .uncaught = [this](const spool::worker_info&, const std::exception_ptr& e) {
                    uncaught.add(spool::describe(e));
                }};
    }
    // Calls `f` where a worker's stack has no room for a nested task.
    template <class F>
    static void without_room(F f) {
        test::with_frame<6450 * kib>([&] { return f(), 0; });
    }

    std::shared_ptr<noting_hooks> hooks;
    test::record<std::string> uncaught;
};
INSTANTIATE_TEST_SUITE_P(policies, own_worker_rejection,
                         testing::Values(policy_kind::block, policy_kind::own_block,
                                         policy_kind::caller_runs),
                         [](const auto& instance) {
                             return instance.param == policy_kind::block       ? "block"
                                    : instance.param == policy_kind::own_block ? "own_block"
                                                                               : "caller_runs";
                         });

}  // namespace

TEST_P(own_worker_rejection, runs_the_task_there_and_then_with_hooks_and_counts) {
    hooks = std::make_shared<noting_hooks>();
    spool::thread_pool_executor pool(options());
    spool::task_id inner = 0;
    bool ran_in_place = false;
    std::uint64_t completed_inside = 0;
    pool.submit([&] {
            spool::task work = [&] { ran_in_place = true; };
            inner = work.id();
            pool.execute(std::move(work));
            completed_inside = pool.completed_task_count();
        })
        .get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_TRUE(ran_in_place);
    EXPECT_EQ(completed_inside, 1U);
    EXPECT_EQ(pool.completed_task_count(), 2U);
    EXPECT_EQ(pool.task_count(), 2U);
    EXPECT_EQ(hooks->notes.count("before " + std::to_string(inner) + " on own-1"), 1U);
    EXPECT_EQ(hooks->notes.count("after " + std::to_string(inner)), 1U);
}

TEST_P(own_worker_rejection, gives_the_task_a_stop_token_that_shutdown_now_reaches) {
    test::gate running;
    std::atomic<bool> stopped{false};
    spool::thread_pool_executor pool(options());
    pool.execute([&] {
        pool.execute([&] {
            running.open();
            try {
                spool::this_task::sleep_for(std::chrono::hours{1});
            } catch (const spool::interrupted&) {
                stopped = true;
            }
        });
    });
    ASSERT_TRUE(running.opens());
    EXPECT_TRUE(pool.shutdown_now().empty());
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(stopped);
}

TEST_P(own_worker_rejection, hands_what_the_task_throws_to_the_one_that_the_policy_names) {
    hooks = std::make_shared<noting_hooks>();
    spool::thread_pool_executor pool(options());
    spool::task_id inner = 0;
    std::string out_of_execute;
    pool.submit([&] {
            spool::task work = [] { throw std::runtime_error("inner"); };
            inner = work.id();
            try {
                pool.execute(std::move(work));
            } catch (const std::runtime_error& e) {
                out_of_execute = e.what();
            }
        })
        .get();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(out_of_execute, blocks() ? "" : "inner");
    EXPECT_EQ(uncaught.count("inner"), blocks() ? 1U : 0U);
    EXPECT_EQ(hooks->notes.count("after " + std::to_string(inner) + ": inner"), 1U);
    EXPECT_EQ(pool.completed_task_count(), 2U);
    EXPECT_EQ(pool.largest_pool_size(), 1U);
}

// Each task submits the next. The stack has room for some of them; the worker keeps the rest for
// later.
TEST_P(own_worker_rejection, a_chain_of_tasks_never_ends_the_stack) {
    constexpr int length = 50'000;
    std::atomic<int> ran{0};
    spool::thread_pool_executor pool(options());
    const std::function<void()> next = [&] {
        if (++ran < length) {
            pool.execute(next);
        }
    };
    pool.execute(next);
    ASSERT_TRUE(test::eventually([&] { return pool.completed_task_count() == length; }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(ran, length);
    EXPECT_EQ(pool.snapshot().queued, 0U);
}

// The request for the token asks every enclosing scope for its own, recursively.
TEST_P(own_worker_rejection, a_stop_token_asked_for_first_at_the_deepest_level_fits_the_stack) {
    std::atomic<bool> reached{false};
    spool::thread_pool_executor pool(options());
    const std::function<void()> next = [&] {
        if (reached) {
            return;
        }
        pool.execute(next);
        if (pool.snapshot().queued != 0 && !reached.exchange(true)) {
            static_cast<void>(spool::this_task::stop_token());
        }
    };
    pool.execute(next);
    ASSERT_TRUE(test::eventually([&] { return reached.load(); }));
    ASSERT_TRUE(test::ends(pool));
}

TEST_P(own_worker_rejection, without_stack_room_the_worker_keeps_the_task_until_its_own_has_ended) {
    hooks = std::make_shared<noting_hooks>();
    std::atomic<bool> ran{false};
    std::atomic<bool> ran_before_the_end{true};
    std::atomic<std::size_t> queued{0};
    spool::thread_pool_executor pool(options());
    std::thread::id submitter;
    std::thread::id runner;
    pool.execute([&] {
        submitter = std::this_thread::get_id();
        without_room([&] {
            pool.execute([&] {
                runner = std::this_thread::get_id();
                ran = true;
                throw std::runtime_error("kept");
            });
        });
        queued = pool.snapshot().queued;
        ran_before_the_end = ran.load();
    });
    ASSERT_TRUE(test::eventually([&] { return pool.completed_task_count() == 2; }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_FALSE(ran_before_the_end);
    EXPECT_EQ(queued, 1U);
    EXPECT_TRUE(ran);
    EXPECT_EQ(runner, submitter);
    EXPECT_EQ(uncaught.count("kept"), 1U);
    EXPECT_EQ(hooks->notes.size() - hooks->notes.count("stopped"), 4U);
}

TEST_P(own_worker_rejection, a_wait_for_a_kept_task_runs_it) {
    spool::thread_pool_executor pool(options());
    const auto sum = pool.submit([&] {
        int total = 0;
        without_room([&] {
            const auto kept = pool.submit([] { return 6; });
            EXPECT_FALSE(kept.is_done());
            total = kept.get();
        });
        const auto kept = pool.submit([] { return 1; });
        return total + kept.get();
    });
    ASSERT_TRUE(sum.wait_for(test::long_delay()));
    EXPECT_EQ(sum.get(), 7);
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 3U);
    EXPECT_EQ(pool.snapshot().queued, 0U);
}

TEST_P(own_worker_rejection, another_worker_that_waits_for_a_kept_task_runs_it) {
    test::gate known;
    test::gate finish;
    spool::future<std::thread::id> kept;
    spool::thread_pool_executor pool(options(2));
    const test::open_at_end guard{finish};
    test::busy_workers busy;
    pool.execute([&] {
        busy.release_gate().wait();
        without_room([&] { kept = pool.submit([] { return std::this_thread::get_id(); }); });
        known.open();
        finish.wait();
    });
    const auto waiter = pool.submit([&] {
        busy.release();
        EXPECT_TRUE(known.opens());
        return kept.get() == std::this_thread::get_id();
    });
    ASSERT_TRUE(waiter.wait_for(test::long_delay()));
    EXPECT_TRUE(waiter.get());
    finish.open();
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 3U);
    EXPECT_EQ(pool.snapshot().queued, 0U);
}

TEST_P(own_worker_rejection, a_worker_that_sleeps_in_a_wait_gives_what_it_keeps_to_the_others) {
    test::gate opened;
    test::busy_workers busy;
    spool::thread_pool_executor other({.core_size = 1});
    spool::thread_pool_executor pool(options(2));
    const test::open_at_end guard{opened};
    const test::open_at_end release{busy.release_gate()};
    const auto waiter = pool.submit([&] {
        busy.hold(pool);
        without_room([&] { pool.execute([&] { opened.open(); }); });
        EXPECT_FALSE(opened.is_open());
        busy.release();
        other.submit([&] { opened.wait(); }).get();
    });
    ASSERT_TRUE(waiter.wait_for(test::long_delay()));
    waiter.get();
    ASSERT_TRUE(test::ends(pool));
    ASSERT_TRUE(test::ends(other));
    EXPECT_EQ(pool.completed_task_count(), 3U);
}

TEST_P(own_worker_rejection, a_kept_task_runs_although_the_task_that_submitted_it_throws) {
    std::atomic<bool> ran{false};
    spool::thread_pool_executor pool(options());
    pool.execute([&] {
        without_room([&] { pool.execute([&] { ran = true; }); });
        throw std::runtime_error("on purpose");
    });
    ASSERT_TRUE(test::eventually([&] { return ran.load(); }));
    ASSERT_TRUE(test::ends(pool));
    EXPECT_EQ(uncaught.count("on purpose"), 1U);
    EXPECT_EQ(pool.completed_task_count(), 2U);
}

TEST_P(own_worker_rejection, a_kept_task_runs_after_shutdown) {
    std::atomic<bool> ran{false};
    spool::thread_pool_executor pool(options());
    pool.execute([&] {
        without_room([&] { pool.execute([&] { ran = true; }); });
        pool.shutdown();
    });
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(ran);
}

TEST_P(own_worker_rejection, a_kept_task_runs_with_a_stop_requested_after_shutdown_now) {
    std::atomic<bool> ran_stopped{false};
    std::atomic<std::size_t> handed_back{1};
    spool::thread_pool_executor pool(options());
    pool.execute([&] {
        without_room([&] { pool.execute([&] { ran_stopped = spool::this_task::stop_requested(); }); });
        handed_back = pool.shutdown_now().size();
    });
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_EQ(handed_back, 0U);
    EXPECT_TRUE(ran_stopped);
}

TEST_P(own_worker_rejection, close_in_the_task_runs_what_the_worker_keeps) {
    std::atomic<bool> ran_in_close{false};
    spool::thread_pool_executor pool(options());
    pool.execute([&] {
        std::atomic<bool> ran{false};
        without_room([&] { pool.execute([&] { ran = true; }); });
        pool.close();
        ran_in_close = ran.load();
    });
    ASSERT_TRUE(pool.await_termination(test::long_delay()));
    EXPECT_TRUE(ran_in_close);
}

TEST_P(own_worker_rejection, destroying_the_pool_in_the_task_runs_what_the_worker_keeps) {
    std::atomic<bool> ran_before{false};
    test::gate ended;
    test::gate made;
    std::unique_ptr<spool::thread_pool_executor> pool;
    hooks = std::make_shared<noting_hooks>();
    auto settings = options();
    settings.thread_factory = spool::worker_thread_factory(
        {.stack_size = stack_size, .on_exit = [&](const spool::worker_info&) { ended.open(); }});
    pool = std::make_unique<spool::thread_pool_executor>(std::move(settings));
    pool->execute([&] {
        made.wait();
        std::atomic<bool> ran{false};
        without_room([&] { pool->execute([&] { ran = true; }); });
        pool.reset();
        ran_before = ran.load();
    });
    made.open();
    ASSERT_TRUE(ended.opens());
    EXPECT_TRUE(ran_before);
    EXPECT_EQ(hooks->notes.count("stopped"), 1U);
}

TEST_P(own_worker_rejection, a_hook_of_the_worker_may_leave_a_kept_task_too) {
    struct keeping_hooks final : noting_hooks {
        void worker_started(const spool::worker_info&) override { submit_without_room(started); }
        void worker_stopped(const spool::worker_info&) override { submit_without_room(stopped); }
        void submit_without_room(std::atomic<bool>& done) const {
            without_room([&] { pool->execute([&done] { done = true; }); });
        }
        spool::thread_pool_executor* pool = nullptr;
        std::atomic<bool> started{false};
        std::atomic<bool> stopped{false};
    };
    const auto both = std::make_shared<keeping_hooks>();
    hooks = both;
    auto settings = options();
    settings.core_threads_may_time_out = true;
    settings.keep_alive = std::chrono::milliseconds{1};
    spool::thread_pool_executor pool(std::move(settings));
    both->pool = &pool;
    ASSERT_TRUE(pool.prestart_core_thread());
    EXPECT_TRUE(test::eventually([&] { return both->started.load(); }));
    EXPECT_TRUE(test::eventually([&] { return both->stopped.load(); }));
    ASSERT_TRUE(test::ends(pool));
}
