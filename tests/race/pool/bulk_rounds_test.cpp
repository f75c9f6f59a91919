// Bulk submission against the end of the pool: every task is either run, handed back, refused, or
// still the caller's. SPOOL_ROUNDS sets the number of rounds, SPOOL_SEED replays one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <spool/spool.hpp>

#include "race/seeded_rounds.hpp"

namespace {

using spool::task;

struct fate {
    std::atomic<int> ran{0};
    std::atomic<int> dropped{0};  // destroyed without having run
};

class witness {
public:
    explicit witness(fate& f) : fate_(&f) {}
    witness(witness&& other) noexcept : fate_(std::exchange(other.fate_, nullptr)) {}
    witness& operator=(witness&&) = delete;
    ~witness() {
        if (fate_ != nullptr) {
            ++fate_->dropped;
        }
    }
    void operator()() {
        if (fate_ != nullptr) {
            ++std::exchange(fate_, nullptr)->ran;
        }
    }

private:
    fate* fate_;
};

std::unique_ptr<spool::blocking_queue<task>> pick_queue(std::uint64_t n) {
    switch (n % 7) {
        case 0: return std::make_unique<spool::linked_blocking_queue<task>>();
        case 1: return std::make_unique<spool::linked_blocking_queue<task, 2>>();
        case 2: return std::make_unique<spool::linked_blocking_queue<task, 3>>(std::size_t{5});
        case 3: return std::make_unique<spool::array_blocking_queue<task>>(std::size_t{4});
        case 4: return std::make_unique<spool::priority_blocking_queue<task>>();
        case 5: return std::make_unique<spool::synchronous_queue<task>>();
        default: return std::make_unique<spool::work_stealing_queue<task>>();
    }
}
spool::rejection_policy pick_policy(std::uint64_t n) {
    switch (n % 5) {
        case 0: return spool::caller_runs_policy{};
        case 1: return spool::discard_policy{};
        case 2: return spool::block_policy{};
        default: return spool::abort_policy{};
    }
}

struct submitter {
    std::vector<fate> fates;
    std::vector<task> work;
    std::string problem;
    // The queue is first-in first-out, and the pool always has a worker.
    bool in_order = false;

    explicit submitter(std::size_t n) : fates(n) {
        for (fate& f : fates) {
            work.emplace_back(witness{f});
        }
    }
    // Calls execute_all() until no task is left; after a throw, again with the tasks that were not
    // taken.
    void submit_all(spool::thread_pool_executor& pool) {
        while (!work.empty()) {
            try {
                pool.execute_all(work);
                for (const task& t : work) {
                    if (!t.empty()) {
                        problem = "a task is still there though execute_all() has returned";
                    }
                }
                return;
            } catch (const spool::rejected_execution&) {
                const std::size_t before = work.size();
                const auto is_gone = [](const task& t) { return t.empty(); };
                if (in_order && !std::is_partitioned(work.begin(), work.end(), is_gone)) {
                    problem = "a task was taken though one before it was refused";
                }
                std::erase_if(work, is_gone);
                if (work.size() == before) {
                    problem = "execute_all() threw and has taken nothing";
                    return;
                }
            }
        }
    }
};

std::string problem_of_round(std::uint64_t seed) {
    std::mt19937_64 random{seed};
    std::vector<std::unique_ptr<submitter>> submitters;
    const std::uint64_t kind = random();
    const std::size_t core = random() % 3;
    for (int i = 0; i < 3; ++i) {
        submitters.push_back(std::make_unique<submitter>(random() % 40));
        submitters.back()->in_order = kind % 7 < 4 && core != 0;
    }
    std::vector<task> back;
    bool stopped = false;
    std::uint64_t counted = 0;
    {
        spool::thread_pool_executor pool({.name = "round",
                                          .core_size = core,
                                          .maximum_size = std::max<std::size_t>(core, 1) + random() % 2,
                                          .keep_alive = std::chrono::microseconds{50},
                                          .queue = pick_queue(kind),
                                          .rejection = pick_policy(random()),
                                          .task_times = random() % 3 == 0});
        std::vector<std::thread> threads;
        for (const auto& s : submitters) {
            threads.emplace_back([&pool, &s] { s->submit_all(pool); });
        }
        const std::uint64_t pause = random() % 20000;
        for (std::uint64_t i = 0; i < pause; ++i) {
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        stopped = random() % 2 == 0;
        if (stopped) {
            back = pool.shutdown_now();
        } else {
            pool.shutdown();
        }
        for (std::thread& t : threads) {
            t.join();
        }
        if (!pool.await_termination(std::chrono::seconds{60})) {
            return "the pool did not end";
        }
        // The future of a task that is left in a terminated pool would never be done.
        if (!pool.queue().empty()) {
            return std::to_string(pool.queue().size()) + " tasks are in the queue of a pool that has ended";
        }
        counted = pool.rejected_count();
    }
    const std::size_t handed_back = back.size();
    back.clear();
    std::size_t dropped = 0;
    for (const auto& s : submitters) {
        if (!s->problem.empty()) {
            return s->problem;
        }
        for (const fate& f : s->fates) {
            if (f.ran + f.dropped != 1) {
                return "a task ran " + std::to_string(f.ran) + " times and was dropped " +
                       std::to_string(f.dropped) + " times";
            }
            dropped += static_cast<std::size_t>(f.dropped);
        }
    }
    if (dropped > handed_back + counted) {
        return std::to_string(dropped) + " tasks did not run, but " + std::to_string(handed_back) +
               " were handed back and " + std::to_string(counted) + " refused";
    }
    return "";
}

TEST(bulk_race, every_task_is_accounted_for_exactly_once) {
    test::expect_no_problem_in_any_round(problem_of_round);
}

}  // namespace
