// A user's queue or comparator throws while a group joins, or while the pool takes a task back.
// wait() returns exactly when all children have ended, and each task is either accepted or not.
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fault/support/account.hpp"
#include "fault/support/thrower.hpp"
#include "support/eventually.hpp"
#include "unit/pool/behaviour/pool_helpers.hpp"

namespace {

using spool::task_group;
using spool::thread_pool_executor;
using test::may_throw;
using test::users_code;

// Keeps a store per consumer. Throws before it changes anything.
class fragile_stealing_queue final : public spool::blocking_queue<spool::task> {
public:
    [[nodiscard]] std::size_t size() const override { return inner_.size(); }
    void synchronize_with_producers() const noexcept override { inner_.synchronize_with_producers(); }
    void attach_consumer() override { inner_.attach_consumer(); }
    void detach_consumer() noexcept override { inner_.detach_consumer(); }
    [[nodiscard]] bool keeps_store_per_consumer() const noexcept override { return true; }
    bool use_own(spool::function_ref<bool(spool::task&)> use) override {
        may_throw("use_own");
        return inner_.use_own(use);
    }
    bool use_other(spool::function_ref<bool(spool::task&)> use) override {
        may_throw("use_other");
        return inner_.use_other(use);
    }

protected:
    bool try_push(spool::task& x) override {
        may_throw("try_push");
        return inner_.offer(std::move(x));
    }
    std::optional<spool::task> try_pop() override { return inner_.poll(); }
    std::vector<spool::task> extract_if(spool::function_ref<bool(const spool::task&)> wanted) override {
        may_throw("extract_if");
        return inner_.take_if(wanted);
    }

private:
    spool::work_stealing_queue<spool::task> inner_;
};

class throwing_join : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(workers, throwing_join, testing::Values(std::size_t{1}, std::size_t{2}));

// Other tasks lie above the children in the maker's deque, so the maker has to search the queue.
TEST_P(throwing_join, no_child_outlives_wait_whichever_call_of_the_queue_throws) {
    test::at_every_point(users_code, "throwing: a user's queue, join of a task_group", [](int n) {
        std::atomic<int> alive{0};
        std::atomic<int> ran{0};
        std::atomic<int> strangers{0};
        std::atomic<int> reported{0};
        int accepted_strangers = 0;
        {
            thread_pool_executor pool({.name = "fault",
                                       .core_size = GetParam(),
                                       .maximum_size = GetParam(),
                                       .queue = std::make_unique<fragile_stealing_queue>(),
                                       .uncaught = [&](auto&&...) { ++reported; }});
            const auto joined = pool.submit([&] {
                users_code.arm(n);
                task_group children{pool};
                for (int i = 0; i < 3; ++i) {
                    children.run([&ran, held = test::tracked{alive}] { ++ran; });
                    try {
                        pool.execute([&strangers] { ++strangers; });
                        ++accepted_strangers;
                    } catch (const test::planted&) {
                        ++reported;
                    }
                }
                children.wait();
                EXPECT_EQ(ran, 3);
                EXPECT_EQ(alive, 0);
            });
            ASSERT_TRUE(joined.wait_for(test::long_delay()));
            joined.get();
            users_code.disarm();
        }
        EXPECT_EQ(strangers, accepted_strangers);
        EXPECT_TRUE(!users_code.reached() || reported > 0 || ran == 3);
    });
}

// Every comparison throws while `broken` is set.
struct breakable_order {
    std::atomic<bool>* broken;
    bool operator()(const spool::task& a, const spool::task& b) const {
        if (*broken) {
            throw std::runtime_error("the comparator is broken");
        }
        return a.id() < b.id();
    }
};

TEST(throwing_comparator, join_runs_every_child_of_the_group) {
    std::atomic<bool> broken{false};
    std::atomic<int> ran{0};
    std::atomic<int> reported{0};
    thread_pool_executor pool(
        {.name = "fault",
         .core_size = 1,
         .maximum_size = 1,
         .queue = std::make_unique<spool::priority_blocking_queue<spool::task, breakable_order>>(
             breakable_order{&broken}),
         .uncaught = [&](auto&&...) { ++reported; }});
    const auto joined = pool.submit([&] {
        task_group children{pool};
        for (int i = 0; i < 100; ++i) {
            children.run([&ran] { ++ran; });
        }
        broken = true;
        children.wait();
        EXPECT_EQ(ran, 100);
        broken = false;
    });
    ASSERT_TRUE(joined.wait_for(test::long_delay()));
    joined.get();
    EXPECT_GT(reported, 0);  // the removal of stale entries has failed
    EXPECT_TRUE(test::ends(pool));
    EXPECT_EQ(pool.completed_task_count(), 101U);
}

TEST(throwing_comparator, group_that_is_destroyed_without_a_wait_does_not_end_the_process) {
    std::atomic<bool> broken{false};
    std::atomic<int> ran{0};
    thread_pool_executor pool(
        {.name = "fault",
         .core_size = 1,
         .maximum_size = 1,
         .queue = std::make_unique<spool::priority_blocking_queue<spool::task, breakable_order>>(
             breakable_order{&broken}),
         .uncaught = test::quiet()});
    const auto joined = pool.submit([&] {
        {
            task_group children{pool};
            for (int i = 0; i < 10; ++i) {
                children.run([&ran] { ++ran; });
            }
            broken = true;
        }
        EXPECT_EQ(ran, 10);
        broken = false;
    });
    ASSERT_TRUE(joined.wait_for(test::long_delay()));
    joined.get();
}

}  // namespace
