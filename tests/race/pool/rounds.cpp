#include "rounds.hpp"

#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <spool/detail/future_link.hpp>
#include <spool/spool.hpp>

#include "support/delays.hpp"

namespace test {
namespace {

using namespace std::chrono_literals;

// The outcome of one task. Each outcome counts up its field; the sum must be one at the end.
struct fate {
    std::atomic<int> ran{0};
    std::atomic<int> handed_back{0};
    std::atomic<int> rejected{0};
    std::atomic<int> dropped{0};  // destroyed without any of the other outcomes
};

// A member of the task's callable: records how the callable's life ended.
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
    void run() {
        if (fate_ != nullptr) {
            ++std::exchange(fate_, nullptr)->ran;
        }
    }

private:
    fate* fate_;
};

struct round {
    explicit round(std::uint64_t seed) : random(seed) {}

    std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); }

    std::mt19937_64 random;
    std::string settings;
};

template <class Queue, class... Args>
std::unique_ptr<spool::blocking_queue<spool::task>> named(round& r, const char* name, Args... args) {
    r.settings += name;
    return std::make_unique<Queue>(args...);
}

std::unique_ptr<spool::blocking_queue<spool::task>> pick_queue(round& r) {
    using spool::task;
    switch (r.pick(11)) {
        case 0: return named<spool::linked_blocking_queue<task>>(r, "linked");
        case 1: return named<spool::linked_blocking_queue<task, 2>>(r, "linked in small segments");
        case 2: return named<spool::linked_blocking_queue<task>>(r, "linked of 4", std::size_t{4});
        case 3: return named<spool::array_blocking_queue<task>>(r, "array", std::size_t{3});
        case 4: return named<spool::priority_blocking_queue<task>>(r, "priority");
        case 5: return named<spool::delay_queue<task>>(r, "delay");
        case 6: return named<spool::linked_transfer_queue<task>>(r, "transfer");
        case 7: return named<spool::linked_blocking_deque<task>>(r, "deque");
        case 8: return named<spool::work_stealing_queue<task>>(r, "work stealing");
        case 9: return named<spool::synchronous_queue<task>>(r, "fair synchronous", spool::fairness::fair);
        default: return named<spool::synchronous_queue<task>>(r, "synchronous");
    }
}

spool::rejection_policy pick_policy(round& r) {
    switch (r.pick(6)) {
        case 0: r.settings += ", abort"; return spool::abort_policy{};
        case 1: r.settings += ", caller runs"; return spool::caller_runs_policy{};
        case 2: r.settings += ", discard"; return spool::discard_policy{};
        case 3: r.settings += ", discard oldest"; return spool::discard_oldest_policy{};
        case 4: r.settings += ", block"; return spool::block_policy{};
        default: r.settings += ", block 1 ms"; return spool::block_policy{.limit = 1ms};
    }
}

// Two tasks that wait for each other. If the pool runs only one of them, that one must not hang: it
// also ends at its stop, or when run_round() cancels all meetings.
struct meeting {
    std::atomic<int> here{0};
    void attend() {
        ++here;
        while (here.load() < 2 && !spool::this_task::stop_requested()) {
            std::this_thread::yield();
        }
    }
    void cancel() { here += 2; }
};

struct job {
    fate outcome;
    meeting* with = nullptr;
    int kind = 0;
};

// The body of every task.
struct body {
    witness seen;
    job* mine;
    spool::thread_pool_executor* pool;
    std::uint64_t dice;

    void operator()() {
        seen.run();
        switch (mine->kind) {
            case 0: break;
            case 1: throw std::runtime_error("on purpose");
            case 2: resize(); break;
            case 3:
                if (mine->with != nullptr) {
                    mine->with->attend();
                }
                break;
            default: nested(); break;
        }
    }
    void resize() const {
        try {
            switch (dice % 4) {
                case 0: pool->set_core_size(dice / 4 % 3); break;
                case 1: pool->set_maximum_size(1 + dice / 4 % 4); break;
                case 2: pool->set_keep_alive(std::chrono::microseconds{1 + dice / 4 % 500}); break;
                default: pool->allow_core_threads_to_time_out(dice / 4 % 2 == 0); break;
            }
        } catch (const std::invalid_argument&) {}
    }
    void nested() const {
        try {
            auto inner = pool->submit([] { return 1; });
            if (dice % 2 == 0) {
                inner.cancel();
            }
            // Only a worker waits without a limit: it claims the task, or its stop ends the wait
            // after the task was handed back.
            const bool on_worker = spool::nested_waiter::current() != nullptr;
            if ((on_worker ? inner.get() : inner.get_for(1ms)) != 1) {
                std::terminate();
            }
        } catch (const spool::rejected_execution&) {
        } catch (const spool::cancelled&) {
        } catch (const spool::timed_out&) {
        } catch (const spool::interrupted&) {}
    }
};

void submit_some(spool::thread_pool_executor& pool, std::vector<job>& jobs, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    for (job& j : jobs) {
        body b{witness{j.outcome}, &j, &pool, random()};
        bool refused = false;
        try {
            if (random() % 2 == 0) {
                pool.execute(std::move(b));
            } else {
                const auto handle = pool.submit(std::move(b));
                if (random() % 8 == 0) {
                    handle.cancel();
                }
            }
        } catch (const spool::rejected_execution&) {
            refused = true;
        } catch (const std::runtime_error&) {  // caller_runs: the task's own exception
        }
        if (refused) {
            ++j.outcome.rejected;
        }
    }
}

void end_pool(round& r, std::unique_ptr<spool::thread_pool_executor>& pool, std::vector<spool::task>& back) {
    const std::size_t spins = r.pick(20000);
    for (std::size_t i = 0; i < spins; ++i) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    switch (r.pick(3)) {
        case 0:
            r.settings += ", shutdown";
            pool->shutdown();
            break;
        case 1:
            r.settings += ", shutdown_now";
            back = pool->shutdown_now();
            break;
        default: r.settings += ", destroy"; break;
    }
}

}  // namespace

round_report run_round(std::uint64_t seed) {
    round r{seed};
    r.settings = "seed " + std::to_string(seed) + ": ";
    constexpr int submitters = 4;
    const std::size_t each = 4 + r.pick(24);
    const std::size_t core = r.pick(3);
    auto queue = pick_queue(r);
    auto policy = pick_policy(r);
    const bool core_time_out = r.pick(2) == 0;
    r.settings += core_time_out ? ", core may time out" : "";
    std::vector<std::vector<job>> jobs;
    std::vector<meeting> meetings(submitters * each);
    for (int s = 0; s < submitters; ++s) {
        std::vector<job>& mine = jobs.emplace_back(each);
        for (job& j : mine) {
            j.kind = static_cast<int>(r.pick(8));
        }
    }
    // A pair has one task from each of two submitters.
    for (std::size_t i = 0; i < each; ++i) {
        if (jobs[0][i].kind == 3 && jobs[1][i].kind == 3) {
            jobs[0][i].with = jobs[1][i].with = &meetings[i];
        }
    }
    std::vector<spool::task> back;
    {
        auto pool = std::make_unique<spool::thread_pool_executor>(
            spool::pool_options{.name = "round",
                                .core_size = core,
                                .maximum_size = std::max<std::size_t>(core, 1) + r.pick(3),
                                .keep_alive = std::chrono::microseconds{50},
                                .core_threads_may_time_out = core_time_out,
                                .queue = std::move(queue),
                                .rejection = std::move(policy),
                                .uncaught = [](const spool::worker_info&, const std::exception_ptr&) {}});
        std::vector<std::thread> threads;
        for (int s = 0; s < submitters; ++s) {
            threads.emplace_back(
                [&, s, own = r.random()] { submit_some(*pool, jobs[static_cast<std::size_t>(s)], own); });
        }
        end_pool(r, pool, back);
        // A task whose partner never runs must not wait for ever.
        for (meeting& m : meetings) {
            m.cancel();
        }
        for (std::thread& t : threads) {
            t.join();
        }
    }
    round_report report{r.settings, {}, submitters * each};
    back.clear();
    for (const std::vector<job>& mine : jobs) {
        for (const job& j : mine) {
            const int ran = j.outcome.ran;
            const int gone = j.outcome.dropped;
            if (ran + gone != 1) {
                report.problem = "a task ran " + std::to_string(ran) + " times and was dropped " +
                                 std::to_string(gone) + " times";
            }
            if (j.outcome.rejected > 0 && ran != 0) {
                report.problem = "a task was refused and ran all the same";
            }
        }
    }
    return report;
}

}  // namespace test
