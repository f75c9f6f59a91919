// Memory runs out at the n-th allocation of the process, on any thread, for every n. The caller
// gets std::bad_alloc, and each task is either accepted or not. A separate program, because it
// replaces operator new.
#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fault/support/account.hpp"
#include "fault/support/failing_memory.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;
using test::account;
using test::allocation;
using test::armed;
using task_queue = std::unique_ptr<spool::blocking_queue<spool::task>>;

const std::vector<std::string> no_memory{"bad_alloc"};

struct queue_kind {
    std::string name;
    std::function<task_queue()> make;

    friend void PrintTo(const queue_kind& k, std::ostream* out) { *out << k.name; }
};
std::vector<queue_kind> queue_kinds() {
    using spool::task;
    return {{"linked", [] { return std::make_unique<spool::linked_blocking_queue<task, 2>>(); }},
            {"bounded", [] { return std::make_unique<spool::linked_blocking_queue<task, 2>>(50); }},
            {"array", [] { return std::make_unique<spool::array_blocking_queue<task>>(50); }},
            {"priority", [] { return std::make_unique<spool::priority_blocking_queue<task>>(); }},
            {"delay", [] { return std::make_unique<spool::delay_queue<task>>(); }},
            {"transfer", [] { return std::make_unique<spool::linked_transfer_queue<task>>(); }},
            {"deque", [] { return std::make_unique<spool::linked_blocking_deque<task>>(); }},
            {"work_stealing", [] { return std::make_unique<spool::work_stealing_queue<task>>(); }},
            {"synchronous", [] { return std::make_unique<spool::synchronous_queue<task>>(); }}};
}

spool::pool_options options(task_queue queue = nullptr) {
    spool::pool_options o{.name = "fault",
                          .core_size = 2,
                          .maximum_size = 4,
                          .rejection = spool::block_policy{},  // waits for room
                          .uncaught = test::quiet()};
    if (queue != nullptr) {
        o.queue = std::move(queue);
    }
    return o;
}

// Calls `use(pool, tasks)` with the n-th allocation failing.
template <class Pool, class Options, class Use>
void with_pool(int n, Options&& o, Use use) {
    account tasks;
    {
        Pool pool(std::forward<Options>(o));
        {
            const armed fault{allocation, n};
            use(pool, tasks);
        }
        EXPECT_EQ(pool.submit([] { return 42; }).get_for(test::long_delay()), 42);
        EXPECT_TRUE(test::ends(pool));
        EXPECT_EQ(pool.active_count(), 0U);
    }
    tasks.expect_balance();
    tasks.expect_causes(no_memory);
}

// Submits all tasks. After a refusal, submits the tasks behind the refused one again.
void execute_all(thread_pool_executor& pool, account& tasks, std::span<spool::task> rest) {
    while (!rest.empty()) {
        const bool all = tasks.hand_over([&] { pool.execute_all(rest); }, static_cast<int>(rest.size()));
        std::size_t gone = 0;
        while (gone < rest.size() && rest[gone].empty()) {
            ++gone;
        }
        tasks.accept(all ? 0 : static_cast<int>(gone) - 1);
        rest = rest.subspan(gone);
    }
}

TEST(allocation_fault, at_every_point_of_making_and_ending_a_pool) {
    test::at_every_point(allocation, "memory: construct, one task, close", [](int n) {
        account tasks;
        tasks.hand_over([&] {
            const armed fault{allocation, n};
            thread_pool_executor pool(options());
            pool.execute(tasks.body());
        });
        tasks.expect_balance();
        tasks.expect_causes(no_memory);
    });
}

class allocation_fault_over : public testing::TestWithParam<queue_kind> {
protected:
    void at_every_point(const std::string& what,
                        const std::function<void(thread_pool_executor&, account&)>& use) {
        test::at_every_point(allocation, "memory: " + what + ", " + GetParam().name, [&](int n) {
            with_pool<thread_pool_executor>(n, options(GetParam().make()), use);
        });
    }
};
INSTANTIATE_TEST_SUITE_P(kinds, allocation_fault_over, testing::ValuesIn(queue_kinds()),
                         [](const auto& p) { return p.param.name; });

TEST_P(allocation_fault_over, at_every_point_of_execute_and_submit) {
    at_every_point("execute and submit", [](thread_pool_executor& pool, account& tasks) {
        for (int i = 0; i < 6; ++i) {
            while (!tasks.hand_over([&] { pool.execute(tasks.body()); })) {}
            while (!tasks.hand_over([&] { static_cast<void>(pool.submit(tasks.body())); })) {}
        }
    });
}

TEST_P(allocation_fault_over, at_every_point_of_a_bulk) {
    at_every_point("execute_all", [](thread_pool_executor& pool, account& tasks) {
        std::vector<spool::task> many;
        const bool made = tasks.hand_over(
            [&] {
                for (int i = 0; i < 12; ++i) {
                    many.emplace_back(tasks.body());
                }
            },
            0);
        if (made) {
            execute_all(pool, tasks, many);
        }
    });
}

// If the bulk call throws, tasks that had already started count as accepted; the others were
// cancelled.
void batch(thread_pool_executor& pool, account& tasks, const std::function<void()>& submit_six) {
    if (!tasks.hand_over(submit_six, 6)) {
        EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 0 && pool.queue().empty(); }));
        EXPECT_LE(tasks.ran(), 6);
        tasks.accept(tasks.ran());
    }
}

TEST_P(allocation_fault_over, at_every_point_of_invoke_all) {
    at_every_point("invoke_all", [](thread_pool_executor& pool, account& tasks) {
        batch(pool, tasks, [&] { static_cast<void>(pool.invoke_all(std::vector(6, tasks.body()))); });
    });
}

TEST_P(allocation_fault_over, at_every_point_of_submit_all) {
    at_every_point("submit_all", [](thread_pool_executor& pool, account& tasks) {
        batch(pool, tasks, [&] { static_cast<void>(pool.submit_all(std::vector(6, tasks.body()))); });
    });
}

TEST(allocation_fault, at_every_point_of_changing_settings) {
    test::at_every_point(allocation, "memory: settings, prestart, snapshot, describe", [](int n) {
        with_pool<thread_pool_executor>(n, options(), [](auto& pool, account& tasks) {
            const auto change = [&](auto f) { tasks.hand_over(f, 0); };
            change([&] { pool.set_maximum_size(8); });
            change([&] { pool.set_core_size(4); });
            change([&] { pool.set_keep_alive(1s); });
            change([&] { pool.allow_core_threads_to_time_out(true); });
            change([&] { pool.set_rejection(spool::caller_runs_policy{}); });
            change([&] {
                pool.set_thread_factory(spool::worker_thread_factory({.name_pattern = "w{number}"}));
            });
            change([&] { static_cast<void>(pool.prestart_all_core_threads()); });
            change([&] { static_cast<void>(pool.snapshot()); });
            change([&] { static_cast<void>(pool.describe()); });
            change([&] { static_cast<void>(pool.remove(spool::task_id{1})); });
            change([&] { static_cast<void>(pool.purge()); });
            while (!tasks.hand_over([&] { pool.execute(tasks.body()); })) {}
        });
    });
}

TEST(allocation_fault, at_every_point_of_shutdown_now_loses_nothing) {
    test::at_every_point(allocation, "memory: shutdown_now", [](int n) {
        account tasks;
        test::gate release;
        test::gate started;
        std::vector<spool::task> handed_back;
        {
            spool::pool_options o = options(queue_kinds().front().make());
            o.core_size = 1;
            thread_pool_executor pool(std::move(o));
            const test::open_at_end guard{release};
            pool.execute([&] {
                started.open();
                release.wait();
            });
            EXPECT_TRUE(started.opens());
            for (int i = 0; i < 20; ++i) {
                pool.execute(tasks.body());
            }
            {
                const armed fault{allocation, n};
                tasks.hand_over([&] { handed_back = pool.shutdown_now(); }, 0);
            }
            if (handed_back.empty()) {  // the first call threw
                handed_back = pool.shutdown_now();
            }
            EXPECT_TRUE(pool.is_shutdown());
        }
        EXPECT_EQ(handed_back.size(), 20U);
        handed_back.clear();
        EXPECT_EQ(tasks.ran(), 0);
        tasks.expect_balance();
    });
}

TEST(allocation_fault, at_every_point_of_scheduling) {
    test::at_every_point(allocation, "memory: schedule", [](int n) {
        spool::scheduled_pool_options o{.name = "fault", .core_size = 2, .uncaught = test::quiet()};
        with_pool<spool::scheduled_thread_pool_executor>(n, std::move(o), [](auto& pool, account& tasks) {
            const auto until_taken = [&](auto f) {
                while (!tasks.hand_over(f)) {}
            };
            for (int i = 0; i < 4; ++i) {
                until_taken([&] { static_cast<void>(pool.schedule(tasks.body(), 1us * i)); });
                until_taken([&] { static_cast<void>(pool.schedule(tasks.body(), 1ms)); });
                until_taken([&] {
                    static_cast<void>(pool.schedule_at(tasks.body(), std::chrono::system_clock::now()));
                });
                until_taken([&] { pool.execute(tasks.body()); });
            }
            EXPECT_TRUE(test::eventually([&] { return tasks.ran() == tasks.accepted(); }));
        });
    });
}

TEST(allocation_fault, at_every_point_of_a_series) {
    test::at_every_point(allocation, "memory: a periodic task", [](int n) {
        account tasks;
        std::atomic<int> runs{0};
        {
            spool::scheduled_thread_pool_executor pool(
                {.name = "fault", .core_size = 1, .uncaught = test::quiet()});
            spool::scheduled_future<void> series;
            {
                const armed fault{allocation, n};
                tasks.hand_over([&] { series = pool.schedule_at_fixed_rate([&runs] { ++runs; }, 0s, 1us); },
                                0);
                // The series continues, or its future is done and says why.
                EXPECT_TRUE(
                    test::eventually([&] { return !series.valid() || series.is_done() || runs >= 5; }));
            }
            EXPECT_EQ(pool.submit([] { return 42; }).get_for(test::long_delay()), 42);
        }
        tasks.expect_causes(no_memory);
    });
}

TEST(allocation_fault, at_every_point_of_a_group) {
    test::at_every_point(allocation, "memory: task_group", [](int n) {
        with_pool<thread_pool_executor>(n,
                                        options(std::make_unique<spool::work_stealing_queue<spool::task>>()),
                                        [](auto& pool, account& tasks) {
                                            const auto fork = [&] {
                                                spool::task_group group{pool};
                                                for (int i = 0; i < 8; ++i) {
                                                    tasks.hand_over([&] { group.run(tasks.body()); });
                                                }
                                                group.wait();
                                            };
                                            fork();
                                            tasks.hand_over([&] { pool.submit(fork).get(); }, 0);
                                        });
    });
}

TEST(allocation_fault, at_every_point_of_a_completion_service) {
    test::at_every_point(allocation, "memory: completion_service", [](int n) {
        with_pool<thread_pool_executor>(n, options(), [](auto& pool, account& tasks) {
            std::size_t submitted = 0;
            tasks.hand_over(
                [&] {
                    spool::completion_service<void> done{pool};
                    for (int i = 0; i < 6; ++i) {
                        submitted +=
                            tasks.hand_over([&] { static_cast<void>(done.submit(tasks.body())); }) ? 1 : 0;
                    }
                    for (std::size_t i = 0; i < submitted; ++i) {
                        EXPECT_TRUE(done.poll_for(test::long_delay()).has_value());
                    }
                },
                0);
        });
    });
}

// The task has already run when execute() returns: a later failure must not undo the acceptance.
TEST(allocation_fault, at_every_point_of_a_completion_service_that_runs_its_tasks_at_once) {
    test::at_every_point(allocation, "memory: completion_service over direct_executor", [](int n) {
        account tasks;
        {
            spool::direct_executor here;
            spool::completion_service<void> done{here};
            {
                const armed fault{allocation, n};
                for (int i = 0; i < 6; ++i) {
                    tasks.hand_over([&] { static_cast<void>(done.submit(tasks.body())); });
                }
            }
            for (int i = 0; i < tasks.accepted(); ++i) {
                EXPECT_TRUE(done.poll().has_value());
            }
        }
        tasks.expect_balance();
        tasks.expect_causes(no_memory);
    });
}

TEST(allocation_fault, at_every_point_of_nested_waits_callbacks_and_cancelling) {
    test::at_every_point(allocation, "memory: nested waits, on_done, cancel", [](int n) {
        with_pool<thread_pool_executor>(n, options(), [](auto& pool, account& tasks) {
            tasks.hand_over(
                [&] {
                    const auto outer = pool.submit([&] { pool.submit([] {}).get(); });
                    outer.on_done([] {});
                    outer.get();
                },
                0);
            tasks.hand_over([&] { pool.submit([](std::stop_token) {}).cancel(); }, 0);
        });
    });
}

TEST_P(allocation_fault_over, at_every_point_of_a_growing_queue_keeps_what_was_put) {
    if (GetParam().name == "synchronous") {
        GTEST_SKIP() << "it stores nothing";
    }
    test::at_every_point(allocation, "memory: a queue that grows, " + GetParam().name, [&](int n) {
        account tasks;
        {
            task_queue queue;
            {
                const armed fault{allocation, n};
                tasks.hand_over([&] { queue = GetParam().make(); }, 0);
                for (int i = 0; queue != nullptr && i < 300; ++i) {
                    bool taken = false;
                    tasks.hand_over([&] { taken = queue->offer(spool::task{tasks.body()}); }, 0);
                    tasks.accept(taken ? 1 : 0);
                }
            }
            const std::size_t stored = queue == nullptr ? 0 : queue->size();
            EXPECT_EQ(stored, static_cast<std::size_t>(tasks.accepted()));
            for (std::size_t i = 0; i < stored; ++i) {
                queue->poll().value()();
            }
        }
        tasks.expect_balance();
        tasks.expect_causes(no_memory);
    });
}

}  // namespace
