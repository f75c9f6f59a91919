// The end of a thread_per_task_executor: which tasks it refuses and stops, which thread waits for
// which, and that no thread is left.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>

#include "spool/executor/thread_per_task_executor.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "support/gate.hpp"
#include "support/live_threads.hpp"
#include "support/stop_comes.hpp"
#include "support/tracked.hpp"

namespace {

using spool::thread_per_task_executor;

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

TEST(thread_per_task_shutdown, shutdown_now_stops_a_task_that_is_just_starting) {
    std::atomic<int> stopped{0};
    for (int round = 0; round < 200; ++round) {
        thread_per_task_executor threads;
        threads.execute([&](std::stop_token stop) { stopped += test::stop_comes(stop) ? 1 : 0; });
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
        stopped = test::stop_comes(stop);
    });
    ASSERT_TRUE(running.opens());
    threads.shutdown_now();
    threads.close();
    EXPECT_TRUE(stopped);
    EXPECT_EQ(seen, 1U);
}

TEST(thread_per_task_lifetime, close_in_a_task_of_its_own_waits_only_for_the_other_tasks) {
    test::gate release;
    test::gate closed;
    std::atomic<bool> other_ended{false};
    std::atomic<bool> other_had_ended{false};
    thread_per_task_executor threads;
    const test::open_at_end at_end{release};
    threads.execute([&] {
        release.wait();
        other_ended = true;
    });
    threads.execute([&] {
        threads.close();
        other_had_ended = other_ended.load();
        closed.open();
    });
    EXPECT_TRUE(test::eventually([&] { return threads.is_shutdown(); }));
    EXPECT_FALSE(closed.opens_within(test::short_delay()));
    release.open();
    EXPECT_TRUE(closed.opens());
    EXPECT_TRUE(other_had_ended);
}

TEST(thread_per_task_lifetime, the_destructor_waits_for_every_task_and_its_thread_locals) {
    static std::atomic<int> destroyed{0};
    struct slow_to_go {
        test::gate never;
        ~slow_to_go() {
            (void)never.opens_within(test::short_delay());
            ++destroyed;
        }
    };
    destroyed = 0;
    {
        thread_per_task_executor threads;
        for (int i = 0; i < 8; ++i) {
            threads.execute([] {
                thread_local slow_to_go here;
                (void)here.never.is_open();
            });
        }
    }
    EXPECT_EQ(destroyed, 8);
}

TEST(thread_per_task_lifetime, a_thread_ends_with_its_task_and_not_with_the_executor) {
    const std::size_t before = test::threads_at_rest();
    thread_per_task_executor threads;
    for (int i = 0; i < 50; ++i) {
        threads.submit([] {}).get();
    }
    // One thread may still be unjoined, but the kernel no longer lists any of them.
    EXPECT_TRUE(test::threads_are_back_to(before));
}

TEST(thread_per_task_lifetime, the_destructor_waits_for_a_task_that_has_closed_the_executor_and_still_runs) {
    test::gate closed;
    test::gate release;
    test::gate destroyed;
    std::atomic<bool> ended{false};
    std::atomic<bool> had_ended{false};
    auto threads = std::make_unique<thread_per_task_executor>();
    threads->execute([&, service = threads.get()] {
        service->close();
        closed.open();
        release.wait();
        ended = true;
    });
    ASSERT_TRUE(closed.opens());
    std::jthread destroyer{[&] {
        threads.reset();
        had_ended = ended.load();
        destroyed.open();
    }};
    const test::open_at_end at_end{release};
    EXPECT_FALSE(destroyed.opens_within(test::short_delay()));
    release.open();
    EXPECT_TRUE(destroyed.opens());
    EXPECT_TRUE(had_ended);
}

TEST(thread_per_task_lifetime, destruction_in_a_task_of_its_own_waits_for_the_other_tasks) {
    const std::size_t before = test::threads_at_rest();
    test::gate release;
    test::gate destroyed;
    std::atomic<bool> other_ended{false};
    std::atomic<bool> other_had_ended{false};
    {
        const test::open_at_end at_end{release};
        auto threads = std::make_unique<thread_per_task_executor>();
        thread_per_task_executor& service = *threads;
        service.execute([&] {
            release.wait();
            other_ended = true;
        });
        service.execute([&, mine = std::move(threads)]() mutable {
            mine.reset();
            other_had_ended = other_ended.load();
            destroyed.open();
        });
        EXPECT_FALSE(destroyed.opens_within(test::short_delay()));
    }
    EXPECT_TRUE(destroyed.opens());
    EXPECT_TRUE(other_had_ended);
    EXPECT_TRUE(test::threads_are_back_to(before));
}

TEST(thread_per_task_lifetime, a_thread_local_of_its_last_thread_may_destroy_the_executor) {
    const std::size_t before = test::threads_at_rest();
    static std::atomic<bool> destroyed{false};
    struct owner {
        std::unique_ptr<thread_per_task_executor> mine;
        ~owner() {
            mine.reset();
            destroyed = true;
        }
    };
    {
        auto threads = std::make_unique<thread_per_task_executor>();
        thread_per_task_executor& service = *threads;
        service.execute([mine = std::move(threads)]() mutable {
            thread_local owner here;
            here.mine = std::move(mine);
        });
    }
    EXPECT_TRUE(test::eventually([] { return destroyed.load(); }));
    EXPECT_TRUE(test::threads_are_back_to(before));
}

TEST(thread_per_task_lifetime, the_callable_of_its_last_task_may_own_the_executor) {
    const std::size_t before = test::threads_at_rest();
    test::gate destroyed;
    {
        auto threads = std::make_unique<thread_per_task_executor>();
        thread_per_task_executor& service = *threads;
        struct last_owner {
            std::unique_ptr<thread_per_task_executor> mine;
            test::gate* gone;
            last_owner(last_owner&&) = default;
            last_owner(std::unique_ptr<thread_per_task_executor> m, test::gate* g)
                : mine(std::move(m)), gone(g) {}
            ~last_owner() {
                if (mine != nullptr) {
                    mine.reset();
                    gone->open();
                }
            }
            void operator()() const {}
        };
        service.execute(last_owner{std::move(threads), &destroyed});
    }
    EXPECT_TRUE(destroyed.opens());
    EXPECT_TRUE(test::threads_are_back_to(before));
}

TEST(thread_per_task_lifetime, a_token_kept_by_a_task_is_harmless_after_its_executor_is_gone) {
    std::stop_token kept;
    {
        thread_per_task_executor threads;
        threads.execute([&](std::stop_token stop) { kept = std::move(stop); });
    }
    EXPECT_FALSE(kept.stop_requested());
}

}  // namespace
