// How thread_per_task_executor ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "spool/executor/thread_per_task_executor.hpp"
#include "spool/sync/this_task.hpp"
#include "support/any_timeout.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/tracked.hpp"

namespace {

using namespace std::chrono_literals;
using spool::thread_per_task_executor;

/// Blocks until its stop is requested; false if that does not happen.
bool stop_comes(const std::stop_token& stop) {
    test::gate stopped;
    const std::stop_callback on_stop{stop, [&] { stopped.open(); }};
    return stopped.opens();
}

TEST(thread_per_task_shutdown, a_task_after_shutdown_is_refused_with_name_reason_and_number_of_threads) {
    test::gate release;
    std::atomic<int> alive{0};
    thread_per_task_executor threads{"io"};
    const test::open_at_end at_end{release};
    threads.execute([&] { release.wait(); });
    threads.shutdown();
    try {
        threads.execute([guard = test::tracked{alive}] {});
        FAIL() << "accepted after shutdown";
    } catch (const spool::rejected_execution& e) {
        EXPECT_EQ(e.reason(), spool::rejection_reason::shut_down);
        EXPECT_EQ(e.executor(), "thread_per_task_executor \"io\"");
        EXPECT_STREQ(e.what(),
                     "thread_per_task_executor \"io\": task rejected, shut down (threads running 1)");
    }
    EXPECT_EQ(alive, 0);
}

TEST(thread_per_task_shutdown, a_refused_task_is_destroyed_where_it_may_use_the_executor) {
    thread_per_task_executor threads;
    threads.shutdown();
    std::size_t seen = 99;
    struct asks {
        thread_per_task_executor* threads;
        std::size_t* seen;
        asks(thread_per_task_executor* t, std::size_t* s) : threads(t), seen(s) {}
        asks(asks&& other) noexcept : threads(std::exchange(other.threads, nullptr)), seen(other.seen) {}
        ~asks() {
            if (threads != nullptr) {
                *seen = threads->thread_count();
            }
        }
        void operator()() const {}
    };
    EXPECT_THROW(threads.execute(asks{&threads, &seen}), spool::rejected_execution);
    EXPECT_EQ(seen, 0U);
}

TEST(thread_per_task_shutdown, running_tasks_are_left_alone) {
    test::gate release;
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    const auto f = threads.submit([&] {
        release.wait();
        return spool::this_task::stop_requested();
    });
    threads.shutdown();
    EXPECT_TRUE(threads.is_shutdown());
    EXPECT_TRUE(threads.is_terminating());
    EXPECT_FALSE(threads.is_terminated());
    release.open();
    EXPECT_FALSE(f.get());
    EXPECT_TRUE(threads.await_termination(test::long_delay()));
    EXPECT_FALSE(threads.is_terminating());
    EXPECT_TRUE(threads.is_terminated());
}

TEST(thread_per_task_shutdown, shutdown_now_stops_every_running_task_and_hands_back_nothing) {
    std::atomic<int> running{0};
    std::atomic<int> stopped{0};
    thread_per_task_executor threads;
    for (int i = 0; i < 8; ++i) {
        threads.execute([&](std::stop_token stop) {
            ++running;
            stopped += stop_comes(stop) ? 1 : 0;
        });
    }
    ASSERT_TRUE(test::eventually([&] { return running == 8; }));
    EXPECT_TRUE(threads.shutdown_now().empty());
    EXPECT_TRUE(threads.is_shutdown());
    ASSERT_TRUE(threads.await_termination(test::long_delay()));
    EXPECT_EQ(stopped, 8);
}

TEST(thread_per_task_shutdown, shutdown_now_stops_a_task_that_is_just_starting) {
    std::atomic<int> stopped{0};
    for (int round = 0; round < 200; ++round) {
        thread_per_task_executor threads;
        threads.execute([&](std::stop_token stop) { stopped += stop_comes(stop) ? 1 : 0; });
        threads.shutdown_now();
        ASSERT_TRUE(threads.await_termination(test::long_delay()));
        ASSERT_EQ(stopped, round + 1);
    }
}

TEST(thread_per_task_shutdown, a_stop_callback_may_use_the_executor) {
    test::gate running;
    std::atomic<std::size_t> seen{0};
    std::atomic<bool> stopped{false};
    thread_per_task_executor threads;
    threads.execute([&](std::stop_token stop) {
        const std::stop_callback on_stop{stop, [&] { seen = threads.thread_count(); }};
        running.open();
        stopped = stop_comes(stop);
    });
    ASSERT_TRUE(running.opens());
    threads.shutdown_now();
    threads.close();
    EXPECT_TRUE(stopped);
    EXPECT_EQ(seen, 1U);
}

TEST(thread_per_task_shutdown, shutdown_now_after_shutdown_still_stops_what_runs) {
    std::atomic<bool> stopped{false};
    thread_per_task_executor threads;
    threads.execute([&](std::stop_token stop) { stopped = stop_comes(stop); });
    threads.shutdown();
    threads.shutdown_now();
    ASSERT_TRUE(threads.await_termination(test::long_delay()));
    EXPECT_TRUE(stopped);
}

TEST(thread_per_task_shutdown, await_termination_is_false_while_a_task_runs_and_true_afterwards) {
    test::gate release;
    int plain = 0;
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    threads.execute([&] {
        release.wait();
        plain = 7;
    });
    EXPECT_FALSE(threads.await_termination(0ns));
    threads.shutdown();
    EXPECT_FALSE(threads.await_termination(std::chrono::hours::min()));
    const auto took = test::time_of([&] { EXPECT_FALSE(threads.await_termination(test::short_delay())); });
    EXPECT_GE(took, test::short_delay());
    release.open();
    EXPECT_TRUE(threads.await_termination(std::chrono::hours::max()));
    EXPECT_EQ(plain, 7);
    test::for_any_timeout([&](auto timeout) { EXPECT_TRUE(threads.await_termination(timeout)); });
}

TEST(thread_per_task_shutdown, await_termination_without_a_shutdown_does_not_end_with_the_tasks) {
    thread_per_task_executor threads;
    threads.submit([] {}).get();
    EXPECT_FALSE(threads.await_termination(test::short_delay()));
}

TEST(thread_per_task_shutdown, await_termination_is_interrupted_by_its_token) {
    test::gate release;
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    threads.execute([&] { release.wait(); });
    threads.shutdown();
    std::stop_source stop;
    std::jthread stopper{[&] { stop.request_stop(); }};
    EXPECT_THROW(threads.await_termination(test::long_delay(), stop.get_token()), spool::interrupted);
}

TEST(thread_per_task_shutdown, one_shutdown_wakes_every_waiter) {
    std::atomic<int> woken{0};
    std::atomic<int> waiting{0};
    thread_per_task_executor threads;
    const auto took = test::time_of([&] {
        std::vector<std::jthread> waiters;
        for (int i = 0; i < 4; ++i) {
            waiters.emplace_back([&] {
                ++waiting;
                woken += threads.await_termination(2 * test::long_delay()) ? 1 : 0;
            });
        }
        EXPECT_TRUE(test::eventually([&] { return waiting == 4; }));
        (void)test::gate{}.opens_within(test::short_delay());  // most of them sleep by now
        threads.shutdown();
    });
    EXPECT_EQ(woken, 4);
    EXPECT_LT(took, test::long_delay());  // one who is not woken finds out at its time-out
}

TEST(thread_per_task_shutdown, each_task_submitted_during_a_shutdown_ran_or_was_refused) {
    constexpr int per_thread = 200;
    std::atomic<int> alive{0};
    std::atomic<int> ran{0};
    std::atomic<int> refused{0};
    test::gate some_accepted;
    {
        thread_per_task_executor threads;
        std::vector<std::jthread> submitters;
        for (int i = 0; i < 4; ++i) {
            submitters.emplace_back([&] {
                for (int n = 0; n < per_thread; ++n) {
                    try {
                        threads.execute([&, guard = test::tracked{alive}] { ++ran; });
                        some_accepted.open();
                    } catch (const spool::rejected_execution&) {
                        ++refused;
                    }
                }
            });
        }
        EXPECT_TRUE(some_accepted.opens());
        threads.shutdown();
        submitters.clear();
        EXPECT_TRUE(threads.await_termination(test::long_delay()));
        EXPECT_EQ(ran + refused, 4 * per_thread);
    }
    EXPECT_GE(ran, 1);
    EXPECT_EQ(alive, 0);
}

}  // namespace
