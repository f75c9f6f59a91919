// Fork and join: which thread runs the children; wait() returns when all have ended, and not
// before.
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "group_helpers.hpp"
#include "support/tracked.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;

struct kind {
    std::string name;
    std::function<spool::pool_options()> options;
    friend void PrintTo(const kind& k, std::ostream* out) { *out << k.name; }
};

class group_on : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(
    pools, group_on,
    testing::Values(kind{"stealing", [] { return test::of_size(3, test::stealing()); }},
                    kind{"fixed", [] { return test::of_size(3); }},
                    kind{"bounded", [] { return test::of_size(2, test::bounded(2)); }},
                    kind{"no_queue", [] { return test::of_size(2, test::synchronous()); }},
                    kind{"one_worker", [] { return test::of_size(1); }},
                    kind{"one_stealing", [] { return test::of_size(1, test::stealing()); }},
                    kind{"timed",
                         [] {
                             auto options = test::of_size(1);
                             options.task_times = true;
                             return options;
                         }},
                    kind{"hooked",
                         [] {
                             auto options = test::of_size(1, test::stealing());
                             options.hooks = std::make_shared<spool::pool_hooks>();
                             return options;
                         }}),
    [](const auto& instance) { return instance.param.name; });

TEST_P(group_on, a_recursion_made_in_the_pool_gets_its_result) {
    thread_pool_executor pool(GetParam().options());
    EXPECT_EQ(test::in_time(pool.submit([&] { return test::fib(pool, 14); })), 377);
}

TEST_P(group_on, a_recursion_made_outside_of_the_pool_gets_its_result) {
    thread_pool_executor pool(GetParam().options());
    EXPECT_EQ(test::fib(pool, 14), 377);
}

TEST_P(group_on, every_child_has_run_once_when_wait_returns) {
    thread_pool_executor pool(GetParam().options());
    const auto all = [&pool] {
        std::vector<std::atomic<int>> ran(300);
        task_group children{pool};
        for (std::atomic<int>& one : ran) {
            children.run([&one] { ++one; });
        }
        children.wait();
        return std::all_of(ran.begin(), ran.end(), [](const auto& n) { return n == 1; });
    };
    EXPECT_TRUE(all());
    EXPECT_TRUE(test::in_time(pool.submit(all)));
}

TEST_P(group_on, children_that_fork_into_the_same_group_are_waited_for_too) {
    thread_pool_executor pool(GetParam().options());
    std::atomic<int> ran{0};
    const auto tree = [&] {
        task_group all{pool};
        std::function<void(int)> grow = [&](int depth) {
            ++ran;
            for (int i = 0; depth > 0 && i < 2; ++i) {
                all.run([&grow, depth] { grow(depth - 1); });
            }
        };
        all.run([&grow] { grow(6); });
        all.wait();
        return ran.exchange(0);
    };
    EXPECT_EQ(tree(), 127);
    EXPECT_EQ(test::in_time(pool.submit(tree)), 127);
}

TEST_P(group_on, what_children_captured_is_destroyed_before_wait_returns) {
    thread_pool_executor pool(GetParam().options());
    for (int round = 0; round < 200; ++round) {
        std::atomic<int> alive{0};
        task_group children{pool};
        for (int i = 0; i < 4; ++i) {
            children.run([held = test::tracked{alive}] {});
        }
        children.wait();
        ASSERT_EQ(alive, 0);
    }
}

TEST_P(group_on, is_as_new_after_wait) {
    thread_pool_executor pool(GetParam().options());
    const auto twice = [&pool] {
        task_group children{pool};
        std::atomic<int> ran{0};
        for (int round = 1; round <= 20; ++round) {
            children.run([&ran] { ++ran; });
            children.run([&ran] { ++ran; });
            children.wait();
            if (ran != 2 * round) {
                return false;
            }
        }
        children.wait();  // without children
        return true;
    };
    EXPECT_TRUE(twice());
    EXPECT_TRUE(test::in_time(pool.submit(twice)));
}

class group_joining : public testing::TestWithParam<bool> {
protected:
    static std::unique_ptr<spool::blocking_queue<spool::task>> queue() {
        return GetParam() ? test::stealing() : spool::unbounded_fifo();
    }
};
INSTANTIATE_TEST_SUITE_P(queues, group_joining, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "stealing" : "fifo"; });

TEST_P(group_joining, leaves_a_stranger_alone_that_lies_above_its_children) {
    thread_pool_executor pool(test::of_size(1, queue()));
    std::atomic<bool> stranger_ran{false};
    std::atomic<int> children_ran{0};
    const bool in_wait = test::in_time(pool.submit([&] {
        task_group children{pool};
        children.run([&] { ++children_ran; });
        pool.execute([&] { stranger_ran = true; });
        children.run([&] { ++children_ran; });
        pool.execute([&] { stranger_ran = true; });
        children.wait();
        return stranger_ran.load();
    }));
    EXPECT_FALSE(in_wait);
    EXPECT_EQ(children_ran, 2);
    EXPECT_TRUE(test::ends(pool));
    EXPECT_TRUE(stranger_ran);
    EXPECT_EQ(pool.completed_task_count(), 5U);
}

TEST_P(group_joining, of_an_inner_group_leaves_the_outer_ones_children_alone) {
    thread_pool_executor pool(test::of_size(1, queue()));
    std::atomic<bool> outer_ran{false};
    EXPECT_FALSE(test::in_time(pool.submit([&] {
        task_group outer{pool};
        bool early = false;
        outer.run([&] { outer_ran = true; });
        {
            task_group inner{pool};
            inner.run([] {});
            outer.run([&] { outer_ran = true; });
            inner.wait();
            early = outer_ran;
        }
        outer.wait();
        return early;
    })));
    EXPECT_TRUE(outer_ran);
}

// The maker sleeps. It is the only worker, so it must wake up and run the new child.
TEST(group_sleeping, runs_what_another_thread_forks_meanwhile) {
    test::gate first_runs;
    test::gate second_ran;
    thread_pool_executor pool(test::of_size(1, test::bounded(1)));
    std::atomic<task_group*> group{nullptr};
    std::atomic<pid_t> maker{0};
    auto joined = pool.submit([&] {
        task_group children{pool};
        maker = gettid();
        group = &children;
        first_runs.wait();
        children.wait();
        return true;
    });
    ASSERT_TRUE(test::eventually([&] { return group != nullptr; }));
    pool.execute([] {});     // the queue is now full,
    group.load()->run([&] {  // so this child runs here; the group cannot end meanwhile
        first_runs.open();
        EXPECT_TRUE(test::falls_asleep(maker));
        pool.queue().clear();  // makes room
        group.load()->run([&] { second_ran.open(); });
        EXPECT_TRUE(second_ran.opens());
        pool.queue().clear();  // keeps the test from hanging if that failed
    });
    EXPECT_TRUE(test::in_time(std::move(joined)));
}

}  // namespace
