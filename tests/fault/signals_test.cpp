// Signals interrupt every wait, again and again: no wait ends early, none is lost, and its limit
// does not change.
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/counting_handler.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/schedule/behaviour/schedule_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::task;
using spool::thread_pool_executor;

using test::counting_handler;
using test::signals_handled;

// Signals every other thread of the process, workers and waiters alike.
void signal_all_others() {
    for (const auto& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
        const pid_t thread = static_cast<pid_t>(std::stol(entry.path().filename().string()));
        if (thread != gettid()) {
            syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
        }
    }
}

// A wait without a limit, and the call that ends it.
struct waiting {
    std::function<void()> wait;
    std::function<void()> finish;
};
struct wait_kind {
    std::string name;
    std::function<waiting()> make;

    friend void PrintTo(const wait_kind& k, std::ostream* out) { *out << k.name; }
};

// A pool with one worker, which is busy, and a queue for one task, which is full.
struct full_pool {
    explicit full_pool(spool::rejection_policy policy = spool::abort_policy{})
        : pool({.core_size = 1,
                .maximum_size = 1,
                .queue = test::bounded(1),
                .rejection = std::move(policy)}) {
        busy.hold(pool);
        pool.execute([] {});
    }
    ~full_pool() { busy.release(); }
    test::busy_workers busy;
    thread_pool_executor pool;
};

std::vector<wait_kind> waits_for_a_pool() {
    return {
        {"future_get",
         [] {
             const auto outcome = std::make_shared<spool::future_task<int>>([] { return 7; });
             return waiting{[=] { EXPECT_EQ(outcome->get(), 7); }, [=] { outcome->run(); }};
         }},
        {"future_get_for",
         [] {
             const auto outcome = std::make_shared<spool::future_task<int>>([] { return 7; });
             return waiting{[=] { EXPECT_EQ(outcome->get_for(1h), 7); }, [=] { outcome->run(); }};
         }},
        {"await_termination",
         [] {
             const auto held = std::make_shared<full_pool>();
             return waiting{[=] { EXPECT_TRUE(held->pool.await_termination(1h)); },
                            [=] {
                                held->busy.release();
                                held->pool.shutdown();
                            }};
         }},
        {"close",
         [] {
             const auto held = std::make_shared<full_pool>();
             return waiting{[=] { held->pool.close(); }, [=] { held->busy.release(); }};
         }},
        {"execute_for",
         [] {
             const auto held = std::make_shared<full_pool>();
             return waiting{
                 [=] { EXPECT_EQ(held->pool.execute_for([] {}, 1h), spool::admission_result::accepted); },
                 [=] { held->busy.release(); }};
         }},
        {"block_policy",
         [] {
             const auto held = std::make_shared<full_pool>(spool::block_policy{});
             return waiting{[=] { held->pool.execute([] {}); }, [=] { held->busy.release(); }};
         }},
        {"task_group",
         [] {
             const auto held = std::make_shared<full_pool>();
             return waiting{[=] {
                                thread_pool_executor pool({.core_size = 1});
                                spool::task_group group{pool};
                                group.run([=] { EXPECT_TRUE(held->pool.await_termination(1h)); });
                                group.wait();
                            },
                            [=] {
                                held->busy.release();
                                held->pool.shutdown();
                            }};
         }},
        {"completion_take",
         [] {
             const auto held = std::make_shared<full_pool>(spool::block_policy{});
             const auto done = std::make_shared<spool::completion_service<int>>(held->pool);
             return waiting{[=] { EXPECT_EQ(done->take().get(), 7); },
                            [=] {
                                held->busy.release();
                                static_cast<void>(done->submit([] { return 7; }));
                            }};
         }},
        {"sleep_in_a_task",
         [] {
             const auto pool = std::make_shared<thread_pool_executor>(spool::pool_options{.core_size = 1});
             return waiting{[=] {
                                const auto sleeper = pool->submit([] { spool::this_task::sleep_for(1h); });
                                EXPECT_THROW(sleeper.get(), spool::interrupted);
                            },
                            [=] { static_cast<void>(pool->shutdown_now()); }};
         }},
        {"timer",
         [] {
             const auto clock = std::make_shared<spool::testing::manual_clock>();
             const auto pool = std::make_shared<spool::scheduled_thread_pool_executor>(
                 spool::scheduled_pool_options{.core_size = 2, .clock = clock});
             const auto timer = pool->schedule([] { return 7; }, 1h);
             return waiting{[=] { EXPECT_EQ(timer.get(), 7); }, [clock, pool] { clock->advance(1h); }};
         }},
    };
}

template <class Queue, class... Args>
wait_kind taking(const std::string& name, Args... args) {
    return {name, [=] {
                const auto queue = std::make_shared<Queue>(args...);
                return waiting{[=] { EXPECT_EQ(queue->take(), 7); }, [=] { queue->put(7); }};
            }};
}
template <class Queue, class... Args>
wait_kind polling(const std::string& name, Args... args) {
    return {name, [=] {
                const auto queue = std::make_shared<Queue>(args...);
                return waiting{[=] { EXPECT_EQ(queue->poll_for(1h), 7); }, [=] { queue->put(7); }};
            }};
}

std::vector<wait_kind> waits_for_a_queue() {
    return {taking<spool::linked_blocking_queue<int>>("linked_take"),
            polling<spool::linked_blocking_queue<int>>("linked_poll_for"),
            taking<spool::array_blocking_queue<int>>("array_take", 2U),
            polling<spool::array_blocking_queue<int>>("array_poll_for", 2U),
            taking<spool::priority_blocking_queue<int>>("priority_take"),
            taking<spool::linked_transfer_queue<int>>("transfer_take"),
            taking<spool::linked_blocking_deque<int>>("deque_take"),
            taking<spool::work_stealing_queue<int>>("stealing_take"),
            taking<spool::synchronous_queue<int>>("synchronous_take"),
            polling<spool::synchronous_queue<int>>("synchronous_poll_for"),
            {"put_on_full",
             [] {
                 const auto queue = std::make_shared<spool::array_blocking_queue<int>>(1U);
                 queue->put(1);
                 return waiting{[=] { queue->put(7); },
                                [=] {
                                    EXPECT_EQ(queue->take(), 1);
                                    EXPECT_EQ(queue->take(), 7);
                                }};
             }},
            {"offer_for_on_full",
             [] {
                 const auto queue = std::make_shared<spool::linked_blocking_queue<int>>(1U);
                 queue->put(1);
                 return waiting{[=] { EXPECT_TRUE(queue->offer_for(7, 1h)); },
                                [=] { EXPECT_EQ(queue->take(), 1); }};
             }},
            {"synchronous_put",
             [] {
                 const auto queue = std::make_shared<spool::synchronous_queue<int>>();
                 return waiting{[=] { queue->put(7); }, [=] { EXPECT_EQ(queue->take(), 7); }};
             }},
            {"transfer", [] {
                 const auto queue = std::make_shared<spool::linked_transfer_queue<int>>();
                 return waiting{[=] { queue->transfer(7); }, [=] { EXPECT_EQ(queue->take(), 7); }};
             }}};
}

class signal_during_wait : public testing::TestWithParam<wait_kind> {};
INSTANTIATE_TEST_SUITE_P(pool, signal_during_wait, testing::ValuesIn(waits_for_a_pool()),
                         [](const auto& p) { return p.param.name; });
INSTANTIATE_TEST_SUITE_P(queue, signal_during_wait, testing::ValuesIn(waits_for_a_queue()),
                         [](const auto& p) { return p.param.name; });

TEST_P(signal_during_wait, neither_ends_it_nor_loses_its_wake) {
    const counting_handler handler;
    const int before = signals_handled;
    const waiting kind = GetParam().make();
    test::gate ended;
    std::thread waiter([&] {
        kind.wait();
        ended.open();
    });
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(test::others_fall_asleep());
        signal_all_others();
    }
    EXPECT_TRUE(test::others_fall_asleep());
    EXPECT_FALSE(ended.is_open());
    kind.finish();
    EXPECT_TRUE(ended.opens());
    waiter.join();
    EXPECT_GE(signals_handled, before + 10);
}

// Signals arrive as fast as possible, while every wait ends by itself.
TEST(signal_storm, does_not_shorten_a_limit_nor_lose_a_task) {
    const counting_handler handler;
    std::atomic<bool> over{false};
    std::thread storm([&over] {
        while (!over) {
            signal_all_others();
        }
    });
    {
        std::atomic<int> ran{0};
        spool::linked_blocking_queue<int> nothing_comes;
        const auto limit = test::short_delay();
        EXPECT_GE(test::time_of([&] { EXPECT_FALSE(nothing_comes.poll_for(limit).has_value()); }), limit);
        const spool::future_task<void> never{[] {}};
        EXPECT_GE(test::time_of([&] { EXPECT_FALSE(never.wait_for(limit)); }), limit);
        EXPECT_GE(test::time_of([&] { spool::this_task::sleep_for(limit); }), limit);
        // Workers that start and leave with every task, hand-offs, and timers.
        thread_pool_executor pool({.core_size = 1,
                                   .maximum_size = 4,
                                   .keep_alive = 1us,
                                   .queue = test::synchronous(),
                                   .rejection = spool::block_policy{}});
        spool::scheduled_thread_pool_executor timers({.core_size = 1});
        for (int i = 0; i < 200; ++i) {
            pool.execute([&ran] { ++ran; });
            static_cast<void>(timers.schedule([&ran] { ++ran; }, std::chrono::microseconds{i}));
        }
        EXPECT_TRUE(test::ends(pool));
        EXPECT_TRUE(test::eventually([&] { return ran == 400; }));
    }
    over = true;
    storm.join();
}

}  // namespace
