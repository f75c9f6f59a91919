// deadlock_policy::lend: a lent thread runs the task that a deadlocked worker waits for, and then
// leaves.
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/pool/deadlock/deadlock_helpers.hpp"

namespace {

using spool::deadlock_policy;
using spool::thread_pool_executor;

auto noted_in(test::record<std::string>& told) {
    return [&told](const spool::worker_info&, const std::exception_ptr& e) { told.add(spool::describe(e)); };
}

TEST(deadlock_lend, an_extra_thread_runs_the_task_that_is_waited_for_and_leaves) {
    test::reports told;
    test::two_pools_that_wait waits;
    thread_pool_executor a(test::of_size(1, "a", deadlock_policy::lend(told.handler())));
    thread_pool_executor b(test::of_size(1, "b", deadlock_policy::lend(told.handler())));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    EXPECT_EQ(waits.first.get() + waits.second.get(), 2);
    EXPECT_EQ(told.size(), 1U);
    EXPECT_TRUE(test::contains(told.first().remedy, "extra thread")) << told.first().remedy;
    EXPECT_EQ(a.largest_pool_size() + b.largest_pool_size(), 3U);
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
    EXPECT_TRUE(test::ends(a) && test::ends(b));
    EXPECT_EQ(a.completed_task_count() + b.completed_task_count(), 4U);
}

TEST(deadlock_lend, a_chain_of_deadlocks_gets_a_thread_for_each) {
    test::reports told;
    thread_pool_executor a(test::of_size(1, "a", deadlock_policy::lend(told.handler())));
    thread_pool_executor b(test::of_size(1, "b", deadlock_policy::lend(told.handler())));
    // Each level waits for the next one in the other pool, where all threads wait.
    const std::function<int(int)> down = [&](int depth) -> int {
        return depth == 0 ? 0
                          : 1 + (depth % 2 == 0 ? a : b).submit([&, depth] { return down(depth - 1); }).get();
    };
    EXPECT_EQ(a.submit([&] { return down(5); }).get(), 5);
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
}

TEST(deadlock_lend, a_thread_beyond_the_core_size_leaves_too) {
    test::two_pools_that_wait waits;
    const auto options = [](const char* name) {
        return spool::pool_options{.name = name,
                                   .core_size = 1,
                                   .maximum_size = 4,
                                   .keep_alive = std::chrono::hours{1},
                                   .on_deadlock = deadlock_policy::lend([](const auto&) {})};
    };
    thread_pool_executor a(options("a"));
    thread_pool_executor b(options("b"));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    EXPECT_EQ(waits.first.get() + waits.second.get(), 2);
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
}

TEST(deadlock_lend, a_wait_for_room_is_helped) {
    test::reports told;
    thread_pool_executor pool({.name = "a",
                               .core_size = 1,
                               .maximum_size = 1,
                               .queue = test::bounded(1),
                               .on_deadlock = deadlock_policy::lend(told.handler())});
    const auto task = pool.submit([&] {
        pool.execute([] {});
        return pool.execute_for([] {}, std::chrono::nanoseconds::max());
    });
    EXPECT_EQ(task.get(), spool::admission_result::accepted);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 3U);
}

TEST(deadlock_lend, a_thread_that_cannot_be_started_is_told_to_uncaught_and_leaves_the_pools_as_they_were) {
    test::record<std::string> uncaught;
    test::two_pools_that_wait waits;
    const auto with_one_thread = [&](const char* name) {
        spool::pool_options options = test::of_size(1, name, deadlock_policy::lend([](const auto&) {}));
        options.thread_factory = [made = 0](spool::task body, const spool::worker_info&) mutable {
            if (++made > 1) {
                throw std::runtime_error("no second thread");
            }
            return std::thread{std::move(body)};
        };
        options.uncaught = noted_in(uncaught);
        return options;
    };
    thread_pool_executor a(with_one_thread("a"));
    thread_pool_executor b(with_one_thread("b"));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    ASSERT_TRUE(test::eventually([&] { return uncaught.size() != 0; }));
    EXPECT_TRUE(test::contains(uncaught.all().at(0), "no second thread")) << uncaught.all().at(0);
    EXPECT_EQ(a.pool_size() + b.pool_size(), 2U);
    waits.first.cancel();
    waits.second.cancel();
    EXPECT_TRUE(test::ends(a) && test::ends(b));
}

TEST(deadlock_lend, a_task_that_throws_on_the_extra_thread_is_told_and_the_thread_leaves) {
    test::record<std::string> uncaught;
    thread_pool_executor pool({.name = "a",
                               .core_size = 1,
                               .maximum_size = 1,
                               .queue = test::bounded(1),
                               .uncaught = noted_in(uncaught),
                               .on_deadlock = deadlock_policy::lend([](const auto&) {})});
    const auto task = pool.submit([&] {
        pool.execute([] { throw std::runtime_error("on an extra thread"); });
        return pool.execute_for([] {}, std::chrono::nanoseconds::max());
    });
    EXPECT_EQ(task.get(), spool::admission_result::accepted);
    EXPECT_TRUE(test::eventually([&] { return pool.pool_size() == 1; }));
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 3U);
    ASSERT_EQ(uncaught.size(), 1U);
    EXPECT_TRUE(test::contains(uncaught.all().at(0), "on an extra thread")) << uncaught.all().at(0);
}

TEST(deadlock_lend, nobody_takes_the_place_of_an_extra_thread_whose_hook_throws) {
    struct refusing_hooks : spool::pool_hooks {
        void before_execute(const spool::task_info&) override {
            if (++begun > 1) {
                throw std::runtime_error("only one task");
            }
        }
        std::atomic<int> begun{0};
    };
    test::record<std::string> uncaught;
    test::two_pools_that_wait waits;
    const auto options = [&](const char* name) {
        return spool::pool_options{.name = name,
                                   .core_size = 1,
                                   .maximum_size = 4,
                                   .keep_alive = std::chrono::hours{1},
                                   .hooks = std::make_shared<refusing_hooks>(),
                                   .uncaught = noted_in(uncaught),
                                   .on_deadlock = deadlock_policy::lend([](const auto&) {})};
    };
    thread_pool_executor a(options("a"));
    thread_pool_executor b(options("b"));
    waits.start(a, b);
    ASSERT_TRUE(waits.close());
    EXPECT_THROW(waits.first.get(), spool::cancelled);
    EXPECT_THROW(waits.second.get(), spool::cancelled);
    EXPECT_TRUE(test::eventually([&] { return uncaught.size() == 2; }));
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
    EXPECT_TRUE(test::ends(a) && test::ends(b));
}

// A user's queue that fails on demand, except when tasks are pushed or popped.
class touchy_queue final : public spool::blocking_queue<spool::task> {
public:
    explicit touchy_queue(const std::atomic<bool>& fails) : fails_(fails) {}
    [[nodiscard]] std::size_t size() const override { return inner_.size(); }
    [[nodiscard]] std::size_t capacity() const override {
        fail_if_told("no capacity");
        return unlimited;
    }

protected:
    bool try_push(spool::task& x) override { return inner_.offer(std::move(x)); }
    std::optional<spool::task> try_pop() override { return inner_.poll(); }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        fail_if_told("no search");
        return inner_.take_if(wanted);
    }

private:
    void fail_if_told(const char* what) const {
        if (fails_) {
            throw std::runtime_error(what);
        }
    }
    spool::linked_blocking_queue<spool::task> inner_;
    const std::atomic<bool>& fails_;
};

TEST(deadlock_lend, a_queue_that_throws_is_told_to_uncaught_and_nothing_is_lost) {
    std::atomic<bool> fails{false};
    test::record<std::string> uncaught;
    test::two_pools_that_wait waits;
    const auto options = [&](const char* name) {
        return spool::pool_options{.name = name,
                                   .core_size = 1,
                                   .maximum_size = 1,
                                   .queue = std::make_unique<touchy_queue>(fails),
                                   .uncaught = noted_in(uncaught),
                                   .on_deadlock = deadlock_policy::lend([](const auto&) {})};
    };
    thread_pool_executor a(options("a"));
    thread_pool_executor b(options("b"));
    waits.start(a, b);
    fails = true;
    ASSERT_TRUE(waits.close());
    ASSERT_TRUE(test::eventually([&] { return uncaught.count("no search") != 0; }));
    EXPECT_TRUE(test::eventually([&] { return a.pool_size() == 1 && b.pool_size() == 1; }));
    fails = false;
    EXPECT_TRUE(waits.first.cancel());
    waits.second.wait();
    EXPECT_TRUE(test::ends(a) && test::ends(b));
}

TEST(deadlock_lend, running_tasks_that_wait_for_each_other_are_only_reported) {
    test::reports told;
    test::circle_of_two circle;
    thread_pool_executor pool(test::of_size(2, "a", deadlock_policy::lend(told.handler())));
    circle.start(pool, pool);
    ASSERT_TRUE(circle.close());
    ASSERT_TRUE(told.come());
    EXPECT_EQ(told.first().remedy, "");
    EXPECT_EQ(pool.largest_pool_size(), 2U);
    circle.first.cancel();
}

}  // namespace
