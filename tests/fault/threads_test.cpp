// pthread_create fails at the n-th call, for every n. A separate program, because it replaces
// pthread_create.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fault/support/account.hpp"
#include "fault/support/every_point.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

test::nth_call creation;
using create_function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) noexcept {
    if (creation.strikes()) {
        return EAGAIN;
    }
    static const auto real = reinterpret_cast<create_function>(dlsym(RTLD_NEXT, "pthread_create"));
    return real(thread, attributes, start, argument);
}

namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;
using test::account;
using test::armed;

// Texts that a refusal may contain: each names the thread or the executor that failed.
const std::vector<std::string> no_thread{"thread fault-", "thread_pool_executor \"fault\"",
                                         "thread_per_task_executor \"fault\""};

void expect_usable(spool::executor_service& pool) {
    EXPECT_EQ(pool.submit([] { return 42; }).get_for(test::long_delay()), 42);
}
void expect_no_thread_left(std::size_t before) {
    EXPECT_TRUE(test::eventually([&] { return test::thread_count() <= before; }));
}

// Calls `use(pool, tasks, release)`. Opens the gate `release` before it closes the pool.
template <class Options, class Use>
void with_pool(Options&& options, Use use) {
    const std::size_t before = test::thread_count();
    account tasks;
    {
        test::gate release;
        thread_pool_executor pool(std::forward<Options>(options));
        const test::open_at_end guard{release};
        use(pool, tasks, release);
        creation.disarm();
        release.open();
        EXPECT_TRUE(test::eventually([&] { return tasks.ran() == tasks.accepted(); }));
        EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 0; }));
        expect_usable(pool);
        EXPECT_TRUE(test::ends(pool));
    }
    tasks.expect_balance();
    tasks.expect_causes(no_thread);
    expect_no_thread_left(before);
}

TEST(thread_creation_fault, at_every_point_of_a_fixed_pool) {
    test::at_every_point(creation, "threads: fixed pool", [](int n) {
        with_pool(spool::pool_options{.name = "fault", .core_size = 4},
                  [n](auto& pool, auto& tasks, auto& release) {
                      const armed fault{creation, n};
                      for (int i = 0; i < 8; ++i) {
                          tasks.hand_over([&] { pool.execute(tasks.body_behind(release)); });
                      }
                  });
    });
}

TEST(thread_creation_fault, at_every_point_of_a_cached_pool) {
    test::at_every_point(creation, "threads: cached pool", [](int n) {
        spool::pool_options options{
            .name = "fault", .core_size = 0, .maximum_size = 100, .queue = test::synchronous()};
        with_pool(std::move(options), [n](auto& pool, auto& tasks, auto& release) {
            const armed fault{creation, n};
            for (int i = 0; i < 6; ++i) {
                tasks.hand_over([&] { static_cast<void>(pool.submit(tasks.body_behind(release))); });
            }
        });
    });
}

TEST(thread_creation_fault, at_every_point_of_a_pool_that_grows_behind_a_full_queue) {
    test::at_every_point(creation, "threads: growing pool, full queue", [](int n) {
        spool::pool_options options{
            .name = "fault", .core_size = 1, .maximum_size = 4, .queue = test::bounded(2)};
        with_pool(std::move(options), [n](auto& pool, auto& tasks, auto& release) {
            const armed fault{creation, n};
            for (int i = 0; i < 8; ++i) {  // at most six have room
                tasks.hand_over([&] { pool.execute(tasks.body_behind(release)); });
            }
        });
    });
}

TEST(thread_creation_fault, at_every_point_of_prestarting) {
    test::at_every_point(creation, "threads: prestart", [](int n) {
        with_pool(spool::pool_options{.name = "fault", .core_size = 5}, [n](auto& pool, auto& tasks, auto&) {
            const armed fault{creation, n};
            const std::size_t started = pool.prestart_all_core_threads() +
                                        (pool.prestart_core_thread() ? 1 : 0) +
                                        pool.prestart_all_core_threads();
            EXPECT_EQ(started, pool.pool_size());
            EXPECT_EQ(started, 5U);  // the second call makes up for the failed start
            tasks.hand_over([&] { pool.execute(tasks.body()); });
        });
    });
}

TEST(thread_creation_fault, at_every_point_of_replacing_workers_that_died) {
    test::at_every_point(creation, "threads: successors of workers that died", [](int n) {
        spool::pool_options options{.name = "fault", .core_size = 2, .uncaught = test::quiet()};
        with_pool(std::move(options), [n](auto& pool, auto& tasks, auto&) {
            const armed fault{creation, n};
            for (int i = 0; i < 4; ++i) {
                tasks.hand_over([&] {
                    pool.execute([body = tasks.body()] {
                        body();
                        throw std::runtime_error("on purpose");
                    });
                });
            }
            EXPECT_TRUE(test::eventually([&] { return tasks.ran() == tasks.accepted(); }));
        });
    });
}

TEST(thread_creation_fault, at_every_point_of_a_bulk_and_of_a_raised_core_size) {
    test::at_every_point(creation, "threads: execute_all, then a raised core size", [](int n) {
        spool::pool_options options{.name = "fault", .core_size = 2, .maximum_size = 6};
        with_pool(std::move(options), [n](auto& pool, auto& tasks, auto& release) {
            std::vector<spool::task> many;
            for (int i = 0; i < 8; ++i) {
                many.emplace_back(tasks.body_behind(release));
            }
            const armed fault{creation, n};
            std::span<spool::task> rest{many};
            while (!rest.empty()) {  // retries the tasks behind a refused one
                const bool all =
                    tasks.hand_over([&] { pool.execute_all(rest); }, static_cast<int>(rest.size()));
                std::size_t gone = 0;
                while (gone < rest.size() && rest[gone].empty()) {
                    ++gone;
                }
                tasks.accept(all ? 0 : static_cast<int>(gone) - 1);
                rest = rest.subspan(gone);
            }
            pool.set_core_size(5);
        });
    });
}

TEST(thread_creation_fault, at_every_point_of_nested_waits_and_invoke_all) {
    test::at_every_point(creation, "threads: invoke_all from a task", [](int n) {
        with_pool(spool::pool_options{.name = "fault", .core_size = 3}, [n](auto& pool, auto& tasks, auto&) {
            const armed fault{creation, n};
            tasks.hand_over(
                [&] {
                    const auto outer = pool.submit([&] {
                        for (const auto& one : pool.invoke_all(std::vector(4, tasks.body()))) {
                            one.get();
                        }
                        return 0;
                    });
                    EXPECT_EQ(outer.get_for(test::long_delay()), 0);
                },
                4);
        });
    });
}

TEST(thread_creation_fault, at_every_point_of_a_group_on_a_work_stealing_pool) {
    test::at_every_point(creation, "threads: task_group on a work-stealing pool", [](int n) {
        spool::pool_options options{.name = "fault",
                                    .core_size = 3,
                                    .queue = std::make_unique<spool::work_stealing_queue<spool::task>>()};
        with_pool(std::move(options), [n](auto& pool, auto& tasks, auto&) {
            const armed fault{creation, n};
            const auto fork = [&] {
                spool::task_group group{pool};
                for (int i = 0; i < 6; ++i) {
                    group.run(tasks.body());
                }
                group.wait();
            };
            tasks.hand_over(fork, 6);  // a child that the pool refuses runs on the forking thread
            tasks.hand_over([&] { pool.submit(fork).get(); }, 6);
        });
    });
}

TEST(thread_creation_fault, at_every_point_of_a_scheduled_pool) {
    test::at_every_point(creation, "threads: scheduled pool", [](int n) {
        const std::size_t before = test::thread_count();
        account tasks;
        {
            spool::scheduled_thread_pool_executor pool({.name = "fault", .core_size = 3});
            {
                const armed fault{creation, n};
                for (int i = 0; i < 4; ++i) {
                    tasks.hand_over([&] { static_cast<void>(pool.schedule(tasks.body(), 1ms)); });
                }
                tasks.hand_over([&] { pool.execute(tasks.body()); });
                EXPECT_TRUE(test::eventually([&] { return tasks.ran() == tasks.accepted(); }));
            }
            expect_usable(pool);
            EXPECT_TRUE(test::ends(pool));
        }
        tasks.expect_balance();
        tasks.expect_causes(no_thread);
        expect_no_thread_left(before);
    });
}

TEST(thread_creation_fault, at_every_point_of_a_thread_per_task) {
    test::at_every_point(creation, "threads: a thread per task", [](int n) {
        const std::size_t before = test::thread_count();
        account tasks;
        {
            spool::thread_per_task_executor threads{"fault"};
            {
                const armed fault{creation, n};
                for (int i = 0; i < 6; ++i) {
                    tasks.hand_over([&] { threads.execute(tasks.body()); });
                }
            }
            expect_usable(threads);
        }
        EXPECT_EQ(tasks.accepted(), creation.reached() ? 5 : 6);
        tasks.expect_balance();
        tasks.expect_causes(no_thread);
        expect_no_thread_left(before);
    });
}

TEST(thread_creation_fault, at_every_point_of_a_serial_executor_over_a_pool) {
    test::at_every_point(creation, "threads: serial executor over a pool", [](int n) {
        spool::pool_options options{.name = "fault", .core_size = 1, .uncaught = test::quiet()};
        with_pool(std::move(options), [n](auto& pool, auto& tasks, auto&) {
            spool::serial_executor serial{pool};
            const armed fault{creation, n};
            for (int i = 0; i < 3; ++i) {
                tasks.hand_over([&] { serial.execute(tasks.body()); });
            }
            EXPECT_TRUE(test::eventually([&] { return tasks.ran() == tasks.accepted(); }));
        });
    });
}

// No worker can be started, and the queue has tasks: close() runs them.
TEST(thread_creation_fault, at_every_point_of_closing_over_a_filled_queue) {
    test::at_every_point(creation, "threads: close over a filled queue", [](int n) {
        account tasks;
        {
            auto queue = std::make_unique<spool::linked_blocking_queue<spool::task>>();
            for (int i = 0; i < 3; ++i) {
                queue->put(tasks.body());
            }
            tasks.accept(3);
            thread_pool_executor pool({.name = "fault", .core_size = 1, .queue = std::move(queue)});
            const armed fault{creation, n};
            pool.close();
        }
        tasks.expect_balance();
    });
}

}  // namespace
