// caller_runs_policy on a worker of the same pool: the submitter gets what the task throws.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>

#include "pool_helpers.hpp"
#include "support/eventually.hpp"

TEST(caller_runs_on_own_worker, an_exception_that_the_submitter_catches_does_not_terminate) {
    const auto run = [] {
        spool::thread_pool_executor pool({.core_size = 1,
                                          .maximum_size = 1,
                                          .queue = test::synchronous(),
                                          .rejection = spool::caller_runs_policy{},
                                          .uncaught = spool::uncaught_policy::terminate()});
        bool caught = false;
        pool.submit([&] {
                try {
                    pool.execute([] { throw std::runtime_error("for the submitter"); });
                } catch (const std::runtime_error&) {
                    caught = true;
                }
            })
            .get();
        return caught;
    };
    EXPECT_EXIT(std::_Exit(run() ? 0 : 1), testing::ExitedWithCode(0), "");
}

// Each task submits itself again, so the worker always keeps one for later. The queued task must
// run all the same.
TEST(caller_runs_on_own_worker, tasks_that_submit_themselves_do_not_shut_out_the_queue) {
    std::atomic<bool> queue_ran{false};
    test::gate queued;
    spool::thread_pool_executor pool(
        {.core_size = 1,
         .maximum_size = 1,
         .queue = test::bounded(1),
         .thread_factory = spool::worker_thread_factory({.stack_size = std::size_t{256} * 1024}),
         .rejection = spool::caller_runs_policy{}});
    const std::function<void()> again = [&] {
        EXPECT_TRUE(queued.opens());
        if (!queue_ran) {
            pool.execute(again);
        }
    };
    pool.execute(again);
    pool.execute([&] { queue_ran = true; });
    queued.open();
    ASSERT_TRUE(test::eventually([&] { return queue_ran.load(); }));
    ASSERT_TRUE(test::ends(pool));
}
