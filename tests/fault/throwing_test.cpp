// Users' code throws at its n-th call, for every n: the exception reaches the right receiver, and
// every task is accounted for.
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fault/support/account.hpp"
#include "fault/support/thrower.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using namespace std::chrono_literals;
using spool::thread_pool_executor;
using test::armed;
using test::may_throw;
using test::users_code;

// The outcomes of tasks: a task ran to its end, was refused, or was ended by an exception that the
// submitter or the uncaught handler received.
struct book {
    std::atomic<int> ran{0};
    std::atomic<int> alive{0};
    std::atomic<int> submitted{0};
    std::atomic<int> told_submitter{0};
    std::atomic<int> told_uncaught{0};
    test::record<std::string> texts;

    [[nodiscard]] auto body() {
        return test::fragile{[this, counted = test::tracked{alive}] { ++ran; }};
    }
    void submit(const std::function<void()>& f) {
        try {
            f();
            ++submitted;
        } catch (const std::exception& e) {
            ++told_submitter;
            texts.add(e.what());
        }
    }
    [[nodiscard]] spool::uncaught_policy handler() {
        return [this](const spool::worker_info& where, const std::exception_ptr& e) {
            ++told_uncaught;
            EXPECT_EQ(where.pool, "fault");
            texts.add(spool::describe(e));
        };
    }
    /// Call it at the end. If the fault was reached, the submitter, the uncaught handler or another
    /// receiver (`told_elsewhere`) must have got the exception.
    void check(int told_elsewhere = 0) const {
        EXPECT_EQ(alive, 0) << "a callable is left";
        EXPECT_LE(ran, submitted) << "run though refused";
        EXPECT_GE(ran + 1, submitted) << "more than one is lost";
        if (users_code.reached()) {
            EXPECT_GE(told_submitter + told_uncaught + told_elsewhere, 1) << "nobody was told";
            for (const std::string& text : texts.all()) {
                EXPECT_TRUE(test::contains(text, "planted in") || test::contains(text, "\"fault\"")) << text;
            }
        } else {
            EXPECT_EQ(ran, submitted);
        }
    }
};

// Every hook may throw.
struct fragile_hooks : spool::pool_hooks {
    void before_execute(const spool::task_info&) override { may_throw("before_execute"); }
    void after_execute(const spool::task_info&, const std::exception_ptr&) override {
        may_throw("after_execute");
    }
    void worker_started(const spool::worker_info&) override { may_throw("worker_started"); }
    void worker_stopped(const spool::worker_info&) override { may_throw("worker_stopped"); }
    void rejected(const spool::task_info&, spool::rejection_reason) override { may_throw("rejected"); }
    void terminated() override { may_throw("terminated"); }
};

template <class Pool = thread_pool_executor, class Options, class Use>
void with_pool(book& tasks, Options&& options, Use use) {
    {
        Pool pool(std::forward<Options>(options));
        use(pool);
        EXPECT_TRUE(test::eventually([&] { return pool.active_count() == 0 && pool.queue().empty(); }));
        // The pool must be usable afterwards. Tries again if the fault strikes only now.
        int answer = 0;
        for (int attempt = 0; attempt < 2 && answer == 0; ++attempt) {
            try {
                answer = pool.submit([] { return 42; }).get_for(test::long_delay());
            } catch (const std::exception& e) {
                ++tasks.told_submitter;
            }
        }
        EXPECT_EQ(answer, 42);
        EXPECT_TRUE(test::ends(pool));
    }
    users_code.disarm();
}

TEST(throwing_fault, at_every_point_of_tasks_and_of_their_copies_and_moves) {
    test::at_every_point(users_code, "throwing: tasks, copies and moves", [](int n) {
        book tasks;
        users_code.arm(n);
        with_pool(tasks, spool::pool_options{.name = "fault", .core_size = 2, .uncaught = tasks.handler()},
                  [&](auto& pool) {
                      for (int i = 0; i < 3; ++i) {
                          tasks.submit([&] { pool.execute(tasks.body()); });
                      }
                      tasks.submit([&] { pool.execute_all(std::vector(1, tasks.body())); });
                      tasks.submit([&] {
                          const auto done = pool.submit(tasks.body());
                          try {
                              done.get();
                          } catch (const test::planted&) {
                              ++tasks.told_uncaught;  // thrown by get()
                          }
                      });
                  });
        tasks.check();
    });
}

TEST(throwing_fault, at_every_point_of_the_hooks) {
    test::at_every_point(users_code, "throwing: hooks", [](int n) {
        book tasks;
        users_code.arm(n);
        with_pool(tasks,
                  spool::pool_options{.name = "fault",
                                      .core_size = 2,
                                      .hooks = std::make_shared<fragile_hooks>(),
                                      .uncaught = tasks.handler()},
                  [&](auto& pool) {
                      for (int i = 0; i < 4; ++i) {
                          pool.execute([&tasks, counted = test::tracked{tasks.alive}] { ++tasks.ran; });
                          ++tasks.submitted;
                      }
                  });
        tasks.check();
    });
}

TEST(throwing_fault, at_every_point_of_the_hooks_around_tasks_that_wait_for_each_other) {
    test::at_every_point(users_code, "throwing: hooks around nested waits", [](int n) {
        book tasks;
        users_code.arm(n);
        with_pool(tasks,
                  spool::pool_options{.name = "fault",
                                      .core_size = 1,
                                      .hooks = std::make_shared<fragile_hooks>(),
                                      .uncaught = tasks.handler()},
                  [&](auto& pool) {
                      const auto outer = pool.submit([&] { pool.submit([] {}).get(); });
                      try {
                          outer.get();  // cancelled if a hook of the outer or inner task threw
                      } catch (const spool::cancelled&) {}
                  });
        tasks.check();
    });
}

TEST(throwing_fault, at_every_point_of_a_rejection_handler_and_its_hook) {
    test::at_every_point(users_code, "throwing: rejection handler and hook", [](int n) {
        book tasks;
        test::busy_workers busy;
        const auto handler = [](spool::task&& work, spool::rejection_reason, thread_pool_executor&) {
            may_throw("the rejection handler");
            const spool::task mine = std::move(work);
        };
        spool::pool_options options{.name = "fault",
                                    .core_size = 1,
                                    .maximum_size = 1,
                                    .queue = test::bounded(1),
                                    .rejection = handler,
                                    .hooks = std::make_shared<fragile_hooks>(),
                                    .uncaught = tasks.handler()};
        thread_pool_executor pool(std::move(options));
        const test::open_at_end guard{busy.release_gate()};
        busy.hold(pool);
        pool.execute([&tasks] { ++tasks.ran; });
        ++tasks.submitted;
        users_code.arm(n);
        for (int i = 0; i < 4; ++i) {
            std::atomic<int>& alive = tasks.alive;
            try {
                pool.execute([counted = test::tracked{alive}] {});  // dropped by the handler
            } catch (const test::planted& e) {
                ++tasks.told_submitter;
                tasks.texts.add(e.what());
            }
            EXPECT_EQ(alive, 0);
        }
        users_code.disarm();
        EXPECT_EQ(pool.rejected_count(), 4U);
        busy.release();
        EXPECT_TRUE(test::ends(pool));
        EXPECT_EQ(tasks.ran, 1);
        tasks.check();
    });
}

TEST(throwing_fault, at_every_point_of_a_thread_factory) {
    test::at_every_point(users_code, "throwing: thread factory", [](int n) {
        book tasks;
        users_code.arm(n);
        const auto factory = [](spool::task body, const spool::worker_info&) {
            may_throw("the factory, before");
            std::thread made{std::move(body)};
            return made;
        };
        int lost_quietly = 0;
        with_pool(
            tasks,
            spool::pool_options{
                .name = "fault", .core_size = 3, .thread_factory = factory, .uncaught = tasks.handler()},
            [&](auto& pool) {
                for (int i = 0; i < 4; ++i) {
                    tasks.submit([&] {
                        pool.execute([&tasks, counted = test::tracked{tasks.alive}] { ++tasks.ran; });
                    });
                }
                lost_quietly = 1;  // with other workers the task is queued; nothing is reported
            });
        EXPECT_EQ(tasks.ran, tasks.submitted);
        tasks.check(lost_quietly);
    });
}

TEST(throwing_fault, at_every_point_of_a_comparator) {
    test::at_every_point(users_code, "throwing: comparator of a priority queue", [](int n) {
        struct by_id {
            bool operator()(const spool::task& a, const spool::task& b) const {
                may_throw("the comparator");
                return a.id() < b.id();
            }
        };
        book tasks;
        test::busy_workers busy;
        {
            thread_pool_executor pool(
                {.name = "fault",
                 .core_size = 1,
                 .queue = std::make_unique<spool::priority_blocking_queue<spool::task, by_id>>(),
                 .uncaught = tasks.handler()});
            const test::open_at_end guard{busy.release_gate()};
            busy.hold(pool);
            users_code.arm(n);
            for (int i = 0; i < 8; ++i) {
                tasks.submit(
                    [&] { pool.execute([&tasks, counted = test::tracked{tasks.alive}] { ++tasks.ran; }); });
            }
            busy.release();
            EXPECT_TRUE(test::ends(pool));
        }
        EXPECT_EQ(tasks.ran, tasks.submitted);
        tasks.check();
    });
}

TEST(throwing_fault, at_every_point_of_a_decorator_and_of_callbacks) {
    test::at_every_point(users_code, "throwing: decorator, on_done", [](int n) {
        book tasks;
        users_code.arm(n);
        const auto decorate = [](spool::task body) {
            may_throw("the decorator");
            return spool::task{[body = std::move(body)]() mutable {
                may_throw("what the decorator wraps round");
                body();
            }};
        };
        with_pool(tasks,
                  spool::pool_options{
                      .name = "fault", .core_size = 1, .decorate = decorate, .uncaught = tasks.handler()},
                  [&](auto& pool) {
                      for (int i = 0; i < 3; ++i) {
                          tasks.submit([&] {
                              const auto done = pool.submit(
                                  [&tasks, counted = test::tracked{tasks.alive}] { ++tasks.ran; });
                              // If the future is already done, on_done() calls the callback at once
                              // and throws its exception.
                              try {
                                  done.on_done([] { may_throw("on_done"); });
                              } catch (const test::planted&) {
                                  ++tasks.told_submitter;
                              }
                              try {
                                  done.get();
                              } catch (const test::planted&) {
                                  ++tasks.told_submitter;
                              }
                          });
                      }
                  });
        tasks.check();
    });
}

// The handler is the last resort: what the handler throws is reported on stderr.
TEST(throwing_fault, at_every_point_of_the_handler_of_uncaught_exceptions) {
    test::at_every_point(users_code, "throwing: handler of uncaught exceptions", [](int n) {
        book tasks;
        testing::internal::CaptureStderr();
        {
            std::atomic<int> handled{0};
            thread_pool_executor pool({.name = "fault", .core_size = 2, .uncaught = [&](auto&&...) {
                                           ++handled;
                                           may_throw("the handler");
                                       }});
            users_code.arm(n);
            for (int i = 0; i < 4; ++i) {
                pool.execute([&tasks] {
                    ++tasks.ran;
                    throw std::runtime_error("on purpose");
                });
            }
            EXPECT_TRUE(test::ends(pool));
            EXPECT_EQ(handled, 4);
        }
        const std::string reported = testing::internal::GetCapturedStderr();
        EXPECT_EQ(tasks.ran, 4);
        EXPECT_EQ(test::contains(reported, "planted in the handler"), users_code.reached()) << reported;
    });
}

TEST(throwing_fault, at_every_point_of_the_children_of_a_group) {
    test::at_every_point(users_code, "throwing: children of a task_group", [](int n) {
        book tasks;
        users_code.arm(n);
        with_pool(tasks, spool::pool_options{.name = "fault", .core_size = 2, .uncaught = tasks.handler()},
                  [&](auto& pool) {
                      spool::task_group group{pool};
                      for (int i = 0; i < 6; ++i) {
                          try {
                              group.run(tasks.body());
                          } catch (const test::planted&) {
                              ++tasks.told_submitter;
                          }
                      }
                      try {
                          group.wait();
                      } catch (const test::planted&) {
                          ++tasks.told_submitter;  // once: a child whose run() threw was not forked
                      }
                  });
        EXPECT_EQ(tasks.alive, 0);
        EXPECT_EQ(tasks.told_submitter, users_code.reached() ? 1 : 0);
    });
}

TEST(throwing_fault, at_every_point_of_scheduled_and_periodic_tasks) {
    test::at_every_point(users_code, "throwing: scheduled and periodic tasks, their hooks", [](int n) {
        book tasks;
        std::atomic<int> periods{0};
        {
            spool::scheduled_thread_pool_executor pool({.name = "fault",
                                                        .core_size = 1,
                                                        .hooks = std::make_shared<fragile_hooks>(),
                                                        .uncaught = tasks.handler()});
            users_code.arm(n);
            const auto series = pool.schedule_at_fixed_rate(
                [&periods] {
                    if (++periods > 5) {
                        users_code.disarm();  // bounds the number of points
                    }
                    may_throw("a periodic task");
                },
                0s, 1us);
            const auto once = pool.schedule([] { may_throw("a scheduled task"); }, 1us);
            EXPECT_TRUE(once.wait_for(test::long_delay()));
            EXPECT_TRUE(test::eventually([&] { return periods > 5 || series.is_done(); }));
            if (once.state() != spool::future_state::succeeded) {
                ++tasks.told_submitter;
            }
            users_code.disarm();
            EXPECT_EQ(pool.submit([] { return 42; }).get_for(test::long_delay()), 42);
        }
        tasks.check();
    });
}

}  // namespace
