// Random trees of groups on a pool that is stopped at a random moment. Children throw, and groups
// are cancelled. Every child is accounted for exactly once, and wait() returns. SPOOL_ROUNDS sets
// the number of rounds, SPOOL_SEED replays one.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

#include "race/seeded_rounds.hpp"

namespace {

using spool::task_group;

struct counts {
    std::atomic<int> made{0};  // callables that were made to be forked
    std::atomic<int> ran{0};
    std::atomic<int> gone{0};   // callables that were destroyed
    std::atomic<int> twice{0};  // callables that ran more than once
    std::atomic<int> late{0};   // checks after wait() that found a callable alive
};

// A member of a child's callable: counts one life and at most one run.
class life {
public:
    life(counts& all, std::atomic<int>& open) : all_(&all), open_(&open) {
        ++all.made;
        ++open;
    }
    life(life&& other) noexcept
        : all_(std::exchange(other.all_, nullptr)), open_(other.open_), ran_(other.ran_) {}
    life& operator=(life&&) = delete;
    ~life() {
        if (all_ != nullptr) {
            --*open_;
            ++all_->gone;
        }
    }
    void run() {
        ++all_->ran;
        if (std::exchange(ran_, true)) {
            ++all_->twice;
        }
    }

private:
    counts* all_;
    std::atomic<int>* open_;  // on the waiting thread's stack, which outlives every child
    bool ran_ = false;
};

struct tree {
    spool::thread_pool_executor& pool;
    counts& all;

    // A group with up to four children. Some children grow a tree of their own or fork into this
    // group.
    void grow(std::uint64_t seed, int depth) {
        std::mt19937_64 random{seed};
        std::atomic<int> open{0};
        {
            task_group children{pool};
            const std::uint64_t n = random() % 5;
            for (std::uint64_t i = 0; i < n; ++i) {
                fork(children, open, random(), depth);
            }
            if (random() % 8 == 0) {
                children.cancel();
            }
            if (random() % 16 == 0) {
                throw std::runtime_error("on the way");  // leaves the group by an exception
            }
            if (random() % 8 != 0) {  // else the destructor waits
                try {
                    children.wait();
                } catch (const std::runtime_error&) {  // a child's, cancelled or interrupted
                }
                all.late += open.load() == 0 ? 0 : 1;
            }
        }
        all.late += open.load() == 0 ? 0 : 1;
    }
    void fork(task_group& into, std::atomic<int>& open, std::uint64_t seed, int depth) {
        const auto body = [this, &into, &open, seed, depth](const std::stop_token* stop) {
            std::mt19937_64 random{seed};
            const std::uint64_t dice = random() % 16;
            if (dice == 0) {
                throw std::runtime_error("on purpose");
            }
            if (dice == 1) {
                into.cancel();
            }
            if (dice < 5 && depth > 0) {
                fork(into, open, random(), depth - 1);
            }
            if (dice >= 5 && dice < 12 && depth > 0 && (stop == nullptr || !stop->stop_requested())) {
                grow(random(), depth - 1);
            }
        };
        if (seed % 4 == 0) {
            into.run([body, mine = life{all, open}](const std::stop_token& stop) mutable {
                mine.run();
                body(&stop);
            });
        } else {
            into.run([body, mine = life{all, open}]() mutable {
                mine.run();
                body(nullptr);
            });
        }
    }
};

std::unique_ptr<spool::blocking_queue<spool::task>> pick_queue(std::uint64_t n) {
    using spool::task;
    switch (n % 6) {
        case 3: return std::make_unique<spool::priority_blocking_queue<task>>();
        case 0: return std::make_unique<spool::linked_blocking_queue<task>>();
        case 1: return std::make_unique<spool::linked_blocking_queue<task, 2>>(std::size_t{6});
        case 2: return std::make_unique<spool::synchronous_queue<task>>();
        default: return std::make_unique<spool::work_stealing_queue<task>>();
    }
}

// Returns an empty string if the round found no problem.
std::string problem_of_round(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    counts all;
    {
        const std::size_t workers = 1 + random() % 3;
        spool::thread_pool_executor pool(
            {.name = "round",
             .core_size = workers,
             .maximum_size = workers + random() % 2,
             .queue = pick_queue(random()),
             .rejection = spool::discard_policy{},
             .hooks = random() % 4 == 0 ? std::make_shared<spool::pool_hooks>() : nullptr,
             .uncaught = [](const spool::worker_info&, const std::exception_ptr&) {},
             .task_times = random() % 4 == 0});
        tree forest{pool, all};
        std::vector<std::thread> outsiders;
        for (int i = 0; i < 2; ++i) {
            pool.execute([&forest, own = random()] { forest.grow(own, 4); });
            outsiders.emplace_back([&forest, own = random()] {
                try {
                    forest.grow(own, 4);
                } catch (const std::runtime_error&) {}
            });
        }
        const std::uint64_t how = random() % 3;
        const std::uint64_t pause = random() % 20000;
        for (std::uint64_t i = 0; i < pause; ++i) {
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        if (how == 0) {
            pool.shutdown();
        } else if (how == 1) {
            pool.shutdown_now();
        }
        for (std::thread& t : outsiders) {
            t.join();
        }
        pool.close();  // before the trees are destroyed
    }
    if (all.made != all.gone) {
        return std::to_string(all.made) + " children were made and " + std::to_string(all.gone) +
               " destroyed";
    }
    if (all.twice != 0 || all.ran > all.made) {
        return "a child ran twice";
    }
    return all.late == 0 ? "" : "a child was there after its group had ended";
}

// A group that is destroyed without a wait reports on stderr; this test makes many such groups.
class quiet_stderr {
public:
    quiet_stderr() { testing::internal::CaptureStderr(); }
    ~quiet_stderr() { testing::internal::GetCapturedStderr(); }
    quiet_stderr(const quiet_stderr&) = delete;
    quiet_stderr& operator=(const quiet_stderr&) = delete;
};

TEST(group_race, every_child_of_random_trees_is_accounted_for_exactly_once) {
    test::expect_no_problem_in_any_round([](std::uint64_t seed) {
        const quiet_stderr quiet;
        return problem_of_round(seed);
    });
}

// A thread outside of the pool forks into a group whose maker is the pool's only worker, and
// cancels the group.
class group_race_of_one : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(queues, group_race_of_one, testing::Bool(),
                         [](const auto& instance) { return instance.param ? "stealing" : "linked"; });

TEST_P(group_race_of_one, children_that_other_threads_fork_while_the_maker_falls_asleep_are_run) {
    const std::uint64_t rounds = test::wanted_rounds();
    spool::thread_pool_executor pool(
        {.core_size = 1, .maximum_size = 1, .queue = pick_queue(GetParam() ? 5 : 0)});
    for (std::uint64_t i = 0; i < rounds; ++i) {
        std::atomic<int> ran{0};
        auto joined = pool.submit([&] {
            task_group children{pool};
            std::thread other{[&] {
                for (int k = 0; k < 3; ++k) {
                    children.run([&ran] { ++ran; });
                }
                if (i % 4 == 0) {
                    children.cancel();
                }
            }};
            children.wait();  // perhaps before the first fork, perhaps between two
            other.join();
            children.wait();
        });
        ASSERT_TRUE(joined.wait_for(std::chrono::seconds{60})) << "round " << i;
        ASSERT_TRUE(i % 4 == 0 || ran == 3) << "round " << i << ", ran " << ran;
    }
}

}  // namespace
