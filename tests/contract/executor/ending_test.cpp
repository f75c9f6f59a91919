// What every service guarantees for close() and its destructor.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>

#include "contract/executor/kinds.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/live_threads.hpp"
#include "support/stop_comes.hpp"
#include "support/tracked.hpp"
#include "unit/executor/stderr_of.hpp"
#include "unit/sync/in_background.hpp"

namespace {

class ending_service : public test::executor_test<spool::executor_service> {};
INSTANTIATE_TEST_SUITE_P(kinds, ending_service,
                         testing::ValuesIn(test::executor_kinds(test::is_threaded_service)),
                         test::name_of_kind{});

TEST_P(ending_service, close_refuses_new_tasks_and_waits_for_all_tasks_callables_and_threads) {
    const std::size_t before = test::threads_at_rest();
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    auto service = make();
    for (int i = 0; i < 50; ++i) {
        service->execute([&ran, guard = test::tracked{alive}] { ++ran; });
    }
    service->close();
    EXPECT_EQ(ran, 50);
    EXPECT_EQ(alive, 0);
    EXPECT_TRUE(service->is_terminated());
    EXPECT_TRUE(test::threads_are_back_to(before));
    EXPECT_THROW(service->execute([] {}), spool::rejected_execution);
    service->close();  // a second call does nothing
    EXPECT_EQ(ran, 50);
}

TEST_P(ending_service, close_in_a_task_that_is_stopped_continues_with_shutdown_now) {
    test::gate running;
    std::atomic<bool> stopped{false};
    auto service = make();
    service->execute([&](std::stop_token stop) {
        running.open();
        stopped = test::stop_comes(stop);
    });
    ASSERT_TRUE(running.opens());
    test::in_background closing{[&] { service->close(); }};
    ASSERT_TRUE(test::eventually([&] { return service->is_shutdown(); }));
    EXPECT_FALSE(stopped);
    closing.interrupt();
    ASSERT_TRUE(closing.ends());
    EXPECT_FALSE(closing.was_interrupted()) << "close() still waits for termination";
    EXPECT_TRUE(stopped);
    EXPECT_TRUE(service->is_terminated());
}

TEST_P(ending_service, the_destructor_runs_queued_tasks_and_leaves_no_thread) {
    const std::size_t before = test::threads_at_rest();
    std::atomic<int> ran{0};
    auto service = make();
    service->execute(service.blocked());
    ASSERT_TRUE(service.holds(1));
    EXPECT_GE(test::live_threads(), before + 1);
    for (int i = 0; i < 20; ++i) {
        service->execute([&ran] { ++ran; });
    }
    service.release();
    service.destroy();
    EXPECT_EQ(ran, 20);
    EXPECT_EQ(service.left(), 1);
    EXPECT_TRUE(test::threads_are_back_to(before));
}

TEST_P(ending_service, interrupted_leaving_a_stopped_task_is_not_reported) {
    test::gate running;
    const std::string text = test::stderr_of([&] {
        auto service = make();
        service->execute([&] {
            running.open();
            spool::this_task::sleep_for(2 * test::long_delay());
        });
        EXPECT_TRUE(running.opens());
        service->shutdown_now();
        EXPECT_TRUE(service->await_termination(test::long_delay()));
    });
    EXPECT_EQ(text, "");
}

}  // namespace
