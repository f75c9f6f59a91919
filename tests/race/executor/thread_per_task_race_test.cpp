// thread_per_task_executor is shut down or destroyed while other threads submit: every task is
// accounted for, and no thread is left.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "race/executor/seeded.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/delays.hpp"
#include "support/eventually.hpp"
#include "support/live_threads.hpp"
#include "support/tracked.hpp"

namespace {

using spool::thread_per_task_executor;

constexpr int rounds = 40;
constexpr int submitters = 4;
constexpr int per_submitter = 25;

struct counts {
    std::atomic<int> accepted{0};
    std::atomic<int> refused{0};
    std::atomic<int> ran{0};
    std::atomic<int> alive{0};
};

/// Submits one task, plain or with a future, and counts whether the executor accepts it.
void submit_one(thread_per_task_executor& threads, counts& count, bool with_future) {
    auto body = [&count, guard = test::tracked{count.alive}] { ++count.ran; };
    try {
        if (with_future) {
            (void)threads.submit(std::move(body));
        } else {
            threads.execute(std::move(body));
        }
        ++count.accepted;
    } catch (const spool::rejected_execution&) {
        ++count.refused;
    }
}

void expect_all_accounted_for(const counts& count, int submitted) {
    EXPECT_EQ(count.accepted + count.refused, submitted);
    EXPECT_EQ(count.ran, count.accepted);
    EXPECT_EQ(count.alive, 0);
}

TEST(thread_per_task_race, a_shutdown_among_submitters_loses_no_task_and_no_thread) {
    const std::uint32_t seed = test::random_seed();
    SCOPED_TRACE(test::seed_note(seed));
    test::dice dice{seed};
    const std::size_t before = test::threads_at_rest();
    for (int round = 0; round < rounds; ++round) {
        counts count;
        const int when = dice.below(submitters * per_submitter);
        {
            thread_per_task_executor threads;
            std::vector<std::jthread> others;
            for (int s = 0; s < submitters; ++s) {
                others.emplace_back([&] {
                    for (int n = 0; n < per_submitter; ++n) {
                        submit_one(threads, count, n % 2 == 0);
                    }
                });
            }
            ASSERT_TRUE(test::eventually([&] { return count.accepted >= when; }));
            if (dice.one_in(2)) {
                threads.shutdown();
            } else {
                EXPECT_TRUE(threads.shutdown_now().empty());
            }
            if (dice.one_in(2)) {
                EXPECT_TRUE(threads.await_termination(test::long_delay()));
            }
        }
        expect_all_accounted_for(count, submitters * per_submitter);
        ASSERT_FALSE(HasFailure()) << "round " << round;
    }
    EXPECT_TRUE(test::threads_are_back_to(before));
}

// Each task submits the next one, until the destructor has begun and the executor refuses.
struct chain {
    thread_per_task_executor& threads;
    counts& count;
    std::atomic<int>& submitted;
    void go_on() {
        ++submitted;
        try {
            threads.execute([self = *this, guard = test::tracked{count.alive}]() mutable {
                ++self.count.ran;
                self.go_on();
            });
            ++count.accepted;
        } catch (const spool::rejected_execution&) {
            ++count.refused;
        }
    }
};

TEST(thread_per_task_race, each_task_submitted_by_a_task_during_destruction_runs_or_is_refused) {
    const std::uint32_t seed = test::random_seed();
    SCOPED_TRACE(test::seed_note(seed));
    test::dice dice{seed};
    const std::size_t before = test::threads_at_rest();
    for (int round = 0; round < rounds; ++round) {
        counts count;
        std::atomic<int> submitted{0};
        constexpr int chains = 4;
        {
            thread_per_task_executor threads;
            for (int i = 0; i < chains; ++i) {
                chain{threads, count, submitted}.go_on();
            }
            const int when = dice.below(40);
            ASSERT_TRUE(test::eventually([&] { return count.accepted >= when; }));
        }
        EXPECT_EQ(count.refused, chains);
        expect_all_accounted_for(count, submitted);
        ASSERT_FALSE(HasFailure()) << "round " << round;
    }
    EXPECT_TRUE(test::threads_are_back_to(before));
}

TEST(thread_per_task_race, an_executor_destroyed_by_its_last_task_leaves_no_thread) {
    const std::size_t before = test::threads_at_rest();
    for (int round = 0; round < rounds; ++round) {
        std::atomic<int> ran{0};
        auto shared = std::make_shared<thread_per_task_executor>();
        for (int n = 0; n < 5; ++n) {
            shared->execute([&ran, keep = shared]() mutable {
                ++ran;
                keep.reset();
            });
        }
        shared.reset();
        ASSERT_TRUE(test::eventually([&] { return ran == 5; }));
        ASSERT_TRUE(test::threads_are_back_to(before));
    }
}

}  // namespace
