// What every service guarantees from its first task to its termination.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "contract/executor/kinds.hpp"
#include "contract/interruption.hpp"
#include "support/any_timeout.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/stop_comes.hpp"
#include "support/throws.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;
using spool::executor_service;

class any_service : public test::executor_test<executor_service> {};
INSTANTIATE_TEST_SUITE_P(kinds, any_service, testing::ValuesIn(test::executor_kinds(test::is_service)),
                         test::name_of_kind{});

class threaded_service : public test::executor_test<executor_service> {};
INSTANTIATE_TEST_SUITE_P(kinds, threaded_service,
                         testing::ValuesIn(test::executor_kinds(test::is_threaded_service)),
                         test::name_of_kind{});

class service_with_factory : public test::executor_test<executor_service> {};
INSTANTIATE_TEST_SUITE_P(kinds, service_with_factory,
                         testing::ValuesIn(test::executor_kinds([](const auto& kind) {
                             return kind.takes_factory;
                         })),
                         test::name_of_kind{});

// ---- From the first task to the end

TEST_P(any_service, EX_001_EX_004_EX_008_EX_012_a_service_runs_three_actions_and_terminates) {
    std::atomic<int> ran{0};
    auto service = make();
    for (int i = 0; i < 3; ++i) {
        service->execute([&ran] { ++ran; });
    }
    ASSERT_TRUE(service.ends());
    EXPECT_EQ(ran, 3);
    EXPECT_TRUE(service->is_terminated());
}

TEST_P(service_with_factory, EX_002_EX_005_EX_009_tasks_run_on_threads_of_the_given_factory) {
    std::atomic<int> made{0};
    std::atomic<int> ran{0};
    auto service = make(2, test::counting_factory(made));
    for (int i = 0; i < 3; ++i) {
        service->execute([&ran] { ++ran; });
    }
    ASSERT_TRUE(service.ends());
    EXPECT_EQ(ran, 3);
    if (GetParam().workers == test::crew::unlimited) {
        EXPECT_GE(made, 1);
        EXPECT_EQ(static_cast<std::size_t>(made), service.numbers().largest_pool_size);
    } else {
        EXPECT_EQ(made, GetParam().workers == test::crew::one ? 1 : 2);
    }
}

TEST_P(service_with_factory, EX_003_EX_006_EX_010_an_empty_factory_is_refused) {
    const std::string what =
        test::what_of<std::invalid_argument>([] { const auto service = make(2, spool::thread_factory{}); });
    EXPECT_NE(what.find("the thread factory is empty"), std::string::npos) << what;
}

TEST_P(any_service, TPE_019_STPE_020_shutdown_is_seen_at_once) {
    auto service = make();
    EXPECT_FALSE(service->is_shutdown());
    EXPECT_FALSE(service->is_terminated());
    service->shutdown();
    EXPECT_TRUE(service->is_shutdown());
}

TEST_P(threaded_service,
       TPE_021_TPE_022_STPE_021_STPE_022_a_service_is_terminating_only_between_shutdown_and_termination) {
    std::atomic<bool> terminating_inside{true};
    std::atomic<bool> terminated_inside{true};
    auto service = make(1);
    EXPECT_FALSE(service->is_terminating());
    EXPECT_FALSE(service->is_terminated());
    service->execute([&, block = service.blocked()] {
        terminating_inside = service->is_terminating();
        terminated_inside = service->is_terminated();
        block();
    });
    ASSERT_TRUE(service.holds(1));
    EXPECT_FALSE(terminating_inside);
    EXPECT_FALSE(terminated_inside);
    EXPECT_FALSE(service->is_terminating());
    EXPECT_FALSE(service->is_terminated());

    service->shutdown();
    EXPECT_TRUE(service->is_terminating()) << "its task still runs";
    EXPECT_FALSE(service->is_terminated());

    ASSERT_TRUE(service.ends());
    EXPECT_TRUE(service->is_terminated());
    EXPECT_FALSE(service->is_terminating());
}

// ---- shutdown()

TEST_P(any_service, after_shutdown_every_form_of_submission_is_refused_and_its_task_destroyed) {
    std::atomic<int> alive{0};
    auto service = make();
    const auto expect_refused = [&](auto call) {
        try {
            call([guard = test::tracked{alive}] { ADD_FAILURE() << "it ran"; });
            ADD_FAILURE() << "accepted";
        } catch (const spool::rejected_execution& e) {
            EXPECT_EQ(e.reason(), spool::rejection_reason::shut_down) << e.what();
        }
        EXPECT_EQ(alive, 0);
    };
    const auto expect_all_refused = [&] {
        expect_refused([&](auto work) { service->execute(std::move(work)); });
        expect_refused([&](auto work) { static_cast<void>(service.submit(std::move(work))); });
        expect_refused([&](auto work) { static_cast<void>(service.submit(std::move(work), "given")); });
        expect_refused([&](auto work) {
            static_cast<void>(service.submit([work] {
                work();
                return "value";
            }));
        });
    };
    if (test::has_threads(GetParam())) {
        service->execute(service.blocked());
        ASSERT_TRUE(service.holds(1));
    }
    service->shutdown();
    EXPECT_EQ(service->is_terminated(), !test::has_threads(GetParam()));
    expect_all_refused();
    ASSERT_TRUE(service.ends());
    expect_all_refused();
}

TEST_P(threaded_service, shutdown_stops_no_task_and_lets_the_queued_ones_run) {
    constexpr int tasks = 5;
    test::gate release;
    std::atomic<int> entered{0};
    std::atomic<int> stopped{0};
    auto service = make();
    const test::open_at_end at_end{release};
    for (int i = 0; i < tasks; ++i) {
        service->execute([&](std::stop_token stop) {
            ++entered;
            release.wait();
            stopped += stop.stop_requested() || spool::this_task::stop_requested() ? 1 : 0;
        });
    }
    ASSERT_TRUE(test::eventually([&] { return entered > 0; }));
    service->shutdown();
    release.open();
    ASSERT_TRUE(service->await_termination(test::long_delay()));
    EXPECT_EQ(entered, tasks);
    EXPECT_EQ(stopped, 0);
}

TEST_P(threaded_service, each_task_submitted_during_a_shutdown_runs_or_is_refused) {
    constexpr int per_thread = 200;
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    std::atomic<int> refused{0};
    test::gate some_accepted;
    auto service = make();
    {
        std::vector<std::jthread> submitters;
        for (int i = 0; i < 4; ++i) {
            submitters.emplace_back([&] {
                for (int n = 0; n < per_thread; ++n) {
                    try {
                        service->execute([&, guard = test::tracked{alive}] { ++ran; });
                        some_accepted.open();
                    } catch (const spool::rejected_execution&) {
                        ++refused;
                    }
                }
            });
        }
        EXPECT_TRUE(some_accepted.opens());
        service->shutdown();
    }
    ASSERT_TRUE(service.ends());
    EXPECT_EQ(ran + refused, 4 * per_thread);
    EXPECT_GE(ran, 1);
    EXPECT_EQ(alive, 0);
}

// ---- shutdown_now()

TEST_P(threaded_service, TPE_026_STPE_026_shutdown_now_stops_running_tasks_and_hands_back_the_queued_ones) {
    constexpr std::size_t tasks = 5;
    const std::size_t running = GetParam().workers == test::crew::unlimited ? tasks
                                : GetParam().workers == test::crew::one     ? 1
                                                                            : 2;
    std::atomic<std::size_t> entered{0};
    std::atomic<std::size_t> interrupted{0};
    auto service = make(2);
    std::vector<spool::future<void>> futures;
    for (std::size_t i = 0; i < tasks; ++i) {
        futures.push_back(service.submit([&] {
            ++entered;
            try {
                spool::this_task::sleep_for(2 * test::long_delay());
            } catch (const spool::interrupted&) {
                ++interrupted;
            }
        }));
        if (i < running) {
            ASSERT_TRUE(test::eventually([&] { return entered == i + 1; }));
        }
    }
    auto* const pool = service.as<spool::thread_pool_executor>();
    EXPECT_EQ(pool != nullptr ? pool->queue().size() : tasks - running, tasks - running);

    std::vector<spool::task> handed_back = service->shutdown_now();
    ASSERT_EQ(handed_back.size(), tasks - running);
    for (std::size_t i = 0; i < handed_back.size(); ++i) {
        EXPECT_EQ(handed_back[i].id(), futures[GetParam().lifo ? tasks - 1 - i : running + i].id());
    }
    EXPECT_TRUE(service->is_shutdown());
    EXPECT_TRUE(pool == nullptr || pool->queue().empty());

    ASSERT_TRUE(service->await_termination(test::long_delay()));
    EXPECT_EQ(entered, running);
    EXPECT_EQ(interrupted, running);
    EXPECT_TRUE(pool == nullptr || pool->completed_task_count() == running);
    if (running < tasks) {
        EXPECT_FALSE(futures[4].is_done()) << "the caller has the task and could still run it";
        handed_back.clear();
        EXPECT_TRUE(futures[4].is_cancelled());
    }
}

TEST_P(threaded_service, shutdown_now_after_shutdown_still_stops_a_running_task) {
    test::gate running;
    std::atomic<bool> stopped{false};
    auto service = make();
    service->execute([&](std::stop_token stop) {
        running.open();
        stopped = test::stop_comes(stop);
    });
    ASSERT_TRUE(running.opens());
    service->shutdown();
    EXPECT_TRUE(service->shutdown_now().empty());
    ASSERT_TRUE(service->await_termination(test::long_delay()));
    EXPECT_TRUE(stopped);
}

// ---- await_termination()

TEST_P(threaded_service, TPE_020_waiting_for_the_end_of_a_live_service_times_out) {
    auto service = make();
    EXPECT_NO_THROW(service.submit([] {}).get_for(test::long_delay()))
        << "the end of all tasks is not the end of the service";
    for (const auto over : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        EXPECT_FALSE(service->await_termination(over));
    }
    EXPECT_FALSE(service->await_termination(std::chrono::hours::min()));

    const std::chrono::nanoseconds short_delay = test::short_delay();
    for (const auto limit : {std::chrono::nanoseconds{999999}, short_delay}) {
        bool ended = true;
        EXPECT_GE(test::time_of([&] { ended = service->await_termination(limit); }), limit);
        EXPECT_FALSE(ended);
    }

    service->shutdown();
    EXPECT_TRUE(service->await_termination(test::long_delay()));
    EXPECT_TRUE(service->await_termination(0ns));
}

TEST_P(threaded_service, await_termination_is_false_while_a_task_runs_and_then_true_for_any_timeout) {
    int plain = 0;
    auto service = make();
    service->execute([&, block = service.blocked()] {
        block();
        plain = 7;
    });
    ASSERT_TRUE(service.holds(1));
    EXPECT_FALSE(service->await_termination(0ns));
    service->shutdown();
    EXPECT_FALSE(service->await_termination(std::chrono::hours::min()));
    const auto took = test::time_of([&] { EXPECT_FALSE(service->await_termination(test::short_delay())); });
    EXPECT_GE(took, test::short_delay());

    service.release();
    EXPECT_TRUE(service->await_termination(std::chrono::hours::max()));
    EXPECT_EQ(plain, 7) << "the writes of a task are visible after the wait";
    test::for_any_timeout([&](auto timeout) { EXPECT_TRUE(service->await_termination(timeout)); });
}

TEST_P(threaded_service, await_termination_can_be_interrupted) {
    auto service = make();
    service->execute(service.blocked());
    service->shutdown();
    test::expect_interruptible([&] { service->await_termination(1h); },
                               [&](std::stop_token stop) { service->await_termination(1h, stop); });
    EXPECT_FALSE(service->is_terminated());
}

TEST_P(threaded_service, one_shutdown_wakes_every_waiter) {
    std::atomic<int> woken{0};
    auto service = make();
    std::vector<std::unique_ptr<test::in_background>> waiters;
    for (int i = 0; i < 4; ++i) {
        // Longer than ends() waits, so a waiter that is not woken fails the test.
        waiters.push_back(std::make_unique<test::in_background>(
            [&] { woken += service->await_termination(2 * test::long_delay()) ? 1 : 0; }));
        ASSERT_TRUE(waiters.back()->falls_asleep());
    }
    service->shutdown();
    for (const auto& waiter : waiters) {
        EXPECT_TRUE(waiter->ends());
    }
    EXPECT_EQ(woken, 4);
}

}  // namespace
