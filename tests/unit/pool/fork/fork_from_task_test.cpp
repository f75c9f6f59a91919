// A task forks. In the child, its thread is a worker that has lost its pool.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "support/stack_frame.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/fork/fork_helpers.hpp"
#include "unit/pool/queues/queue_kinds.hpp"

namespace {

using spool::fork_policy;
using spool::thread_pool_executor;

class pool_fork_from_task : public testing::TestWithParam<test::queue_kind> {
protected:
    spool::pool_options sized(std::size_t n) {
        return {.core_size = n, .maximum_size = n, .queue = GetParam().make(), .on_fork = fork_policy::empty};
    }
};
INSTANTIATE_TEST_SUITE_P(kinds, pool_fork_from_task, testing::ValuesIn(test::queue_kinds()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(pool_fork_from_task, the_child_can_use_the_pool_inside_the_task) {
    thread_pool_executor pool(sized(2));
    const test::child_end end = pool.submit([&] {
                                        return test::in_child([&] {
                                            const auto sum = pool.submit([] { return 3; });
                                            return test::first_wrong(sum.get() == 3, pool.pool_size() == 1);
                                        });
                                    })
                                    .get();
    EXPECT_EQ(end.status, 0) << end.said;
}

TEST_P(pool_fork_from_task, returning_in_the_child_ends_its_thread_and_so_the_child) {
    test::gate ran;
    pid_t child = 0;
    thread_pool_executor pool(sized(1));
    pool.submit([&] {
            child = ::fork();
            if (child == 0) {
                test::expect_last_thread_to_end();
            }
        })
        .get();
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == test::last_thread_ended) << status;
    // A synchronous queue accepts the task only when the worker waits for a task again.
    EXPECT_EQ(pool.execute_for([&] { ran.open(); }, test::long_delay()), spool::admission_result::accepted);
    EXPECT_TRUE(ran.opens());
}

TEST(pool_fork_task_futures, the_task_that_forks_goes_on_and_others_are_cancelled) {
    test::busy_workers busy;
    test::gate known;
    thread_pool_executor pool({.core_size = 2, .on_fork = fork_policy::empty});
    const test::open_at_end release{busy.release_gate()};
    const auto other = pool.submit([&] { busy.release_gate().wait(); });
    spool::future<int> own;
    own = pool.submit([&] {
        known.wait();
        const test::child_end end = test::in_child([&] {
            return test::first_wrong(!own.is_done(), own.state() == spool::future_state::running,
                                     other.is_cancelled());
        });
        return end.status;
    });
    known.open();
    EXPECT_EQ(own.get(), 0);
}

TEST(pool_fork_task_futures, a_group_throws_cancelled_for_children_that_the_parent_has) {
    thread_pool_executor pool({.core_size = 2, .on_fork = fork_policy::empty});
    const int answer = pool.submit([&] {
                               test::gate begun;
                               test::gate release;
                               spool::task_group group{pool};
                               group.run([&] {
                                   begun.open();
                                   release.wait();
                               });
                               begun.wait();
                               const test::child_end end = test::in_child([&] {
                                   bool ran = false;
                                   group.run([&] { ran = true; });
                                   try {
                                       group.wait();
                                       return 2;
                                   } catch (const spool::cancelled&) {}
                                   group.run([] {});
                                   group.wait();
                                   return ran ? 0 : 3;
                               });
                               release.open();
                               group.wait();
                               return end.status;
                           })
                           .get();
    EXPECT_EQ(answer, 0);
}

TEST(pool_fork_task_futures, a_nested_wait_in_the_child_claims_nothing_of_the_parents) {
    std::atomic<bool> ran{false};
    thread_pool_executor pool({.core_size = 1, .on_fork = fork_policy::empty});
    const int answer = pool.submit([&] {
                               const auto queued = pool.submit([&] { ran = true; });
                               const test::child_end end = test::in_child([&] {
                                   queued.wait();
                                   return test::first_wrong(queued.is_cancelled(), !ran);
                               });
                               queued.get();
                               return end.status;
                           })
                           .get();
    EXPECT_EQ(answer, 0);
    EXPECT_TRUE(ran);
}

// The child returns from a task that the worker had kept for later. Another kept task and a queued
// one follow; the child must run neither.
TEST(pool_fork_task_futures, returning_in_the_child_of_a_kept_task_runs_nothing_of_the_parents) {
    std::atomic<int> ran{0};
    pid_t child = 0;
    thread_pool_executor pool(
        {.core_size = 1,
         .maximum_size = 1,
         .queue = test::bounded(1),
         .thread_factory = spool::worker_thread_factory({.stack_size = 8 * 1024 * 1024}),
         .rejection = spool::caller_runs_policy{},
         .on_fork = fork_policy::empty});
    const auto run_one = [&] {
        if (child == 0 && ran != 0) {
            ::_exit(1);
        }
        ++ran;
    };
    pool.submit([&] {
            pool.execute(run_one);
            test::with_frame<6450 * 1024>([&] {
                pool.execute([&] {
                    child = ::fork();
                    if (child == 0) {
                        ran = 1;
                        test::expect_last_thread_to_end();
                    }
                });
                pool.execute(run_one);
                return 0;
            });
        })
        .get();
    pool.close();
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == test::last_thread_ended) << status;
    EXPECT_EQ(ran, 2);
}

TEST(pool_fork_task_futures, a_task_that_a_worker_keeps_is_the_parents) {
    std::atomic<int> ran{0};
    test::child_end end;
    thread_pool_executor pool(
        {.core_size = 1,
         .maximum_size = 1,
         .queue = test::synchronous(),
         .thread_factory = spool::worker_thread_factory({.stack_size = 8 * 1024 * 1024}),
         .rejection = spool::caller_runs_policy{},
         .on_fork = fork_policy::empty});
    spool::future<void> kept;
    pool.submit([&] {
            test::with_frame<6450 * 1024>([&] { return kept = pool.submit([&ran] { ++ran; }), 0; });
            end = test::in_child([&] { return test::first_wrong(ran == 0, kept.is_cancelled()); });
        })
        .get();
    EXPECT_EQ(end.status, 0) << end.said;
    ASSERT_TRUE(kept.wait_for(test::long_delay()));
    EXPECT_FALSE(kept.is_cancelled());
    EXPECT_EQ(ran, 1);
}

}  // namespace
