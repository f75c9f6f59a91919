// Forks from a pool at full load: the child works, whatever the other threads were doing at the
// time.
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/pool/behaviour/pool_helpers.hpp"
#include "unit/pool/fork/fork_helpers.hpp"
#include "unit/pool/queues/queue_kinds.hpp"

namespace {

using spool::fork_policy;
using spool::thread_pool_executor;
using namespace std::chrono_literals;

int rounds() {
    const char* const text = std::getenv("SPOOL_FORK_ROUNDS");
    return text != nullptr ? std::atoi(text) : 40;
}

// Keeps a pool busy from two threads until the object is destroyed. The threads submit tasks that
// run, are waited for, cancelled or refused, and change settings.
class load {
public:
    explicit load(thread_pool_executor& pool) : pool_(pool) {
        for (unsigned n = 0; n < 2; ++n) {
            threads_.emplace_back([this, n](const std::stop_token& stop) { run(stop, n); });
        }
    }
    /// A snapshot of the latest futures, in any state.
    [[nodiscard]] std::vector<spool::future<void>> some() const {
        const std::lock_guard lock{mutex_};
        return latest_;
    }
    [[nodiscard]] bool foreign() const { return foreign_; }

private:
    void run(const std::stop_token& stop, unsigned seed) {
        for (unsigned i = seed; !stop.stop_requested(); ++i) {
            std::vector<spool::future<void>> futures;
            for (int n = 0; n < 8; ++n) {
                futures.push_back(pool_.submit([this] {
                    if (::getpid() != pid_) {
                        foreign_ = true;
                    }
                }));
            }
            if (i % 4 == 0) {
                futures[3].cancel();
                pool_.set_keep_alive(std::chrono::seconds{1 + i % 3});
                pool_.set_rejection(spool::caller_runs_policy{});
            }
            {
                const std::lock_guard lock{mutex_};
                latest_ = futures;
            }
            futures.back().wait();  // keeps the queue from growing without bound
        }
    }

    thread_pool_executor& pool_;
    const pid_t pid_ = ::getpid();
    std::atomic<bool> foreign_{false};
    mutable std::mutex mutex_;
    std::vector<spool::future<void>> latest_;
    std::vector<std::jthread> threads_;
};

int use_in_child(thread_pool_executor& pool, const std::vector<spool::future<void>>& futures,
                 const load& work) {
    for (const auto& f : futures) {
        f.wait();  // each one ends, cancelled or done
    }
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += pool.submit([i] { return i; }).get();
    }
    pool.close();
    return test::first_wrong(sum == 3, pool.is_terminated(), !work.foreign());
}

class pool_fork_busy : public testing::TestWithParam<test::queue_kind> {};
INSTANTIATE_TEST_SUITE_P(kinds, pool_fork_busy, testing::ValuesIn(test::queue_kinds()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(pool_fork_busy, empty_works_in_every_child) {
    thread_pool_executor pool({.core_size = 2,
                               .maximum_size = 3,
                               .queue = GetParam().make(),
                               .rejection = spool::caller_runs_policy{},
                               .on_fork = fork_policy::empty});
    const load work{pool};
    for (int round = 0; round < rounds(); ++round) {
        const auto futures = work.some();
        const test::child_end end = test::in_child([&] { return use_in_child(pool, futures, work); });
        ASSERT_EQ(end.status, 0) << "round " << round << ": " << end.said;
    }
    EXPECT_FALSE(work.foreign());
}

TEST_P(pool_fork_busy, abort_says_so_or_is_left_alone_in_every_child) {
    auto pool =
        std::make_unique<thread_pool_executor>(spool::pool_options{.name = "decode",
                                                                   .core_size = 2,
                                                                   .queue = GetParam().make(),
                                                                   .rejection = spool::caller_runs_policy{}});
    const load work{*pool};
    for (int round = 0; round < rounds(); ++round) {
        const auto futures = work.some();
        const test::child_end end = test::in_child([&] {
            for (const auto& f : futures) {
                f.wait();
            }
            if (round % 2 == 0) {
                pool.reset();
                return 0;
            }
            pool->execute([] {});
            return 1;
        });
        ASSERT_EQ(end.status, round % 2 == 0 ? 0 : -SIGABRT) << "round " << round << ": " << end.said;
    }
}

TEST_P(pool_fork_busy, tasks_may_fork) {
    thread_pool_executor pool({.core_size = 2,
                               .maximum_size = 3,
                               .queue = GetParam().make(),
                               .rejection = spool::caller_runs_policy{},
                               .on_fork = fork_policy::empty});
    const load work{pool};
    for (int round = 0; round < rounds() / 4; ++round) {
        const auto futures = work.some();
        const int status =
            pool.submit(
                    [&] { return test::in_child([&] { return use_in_child(pool, futures, work); }).status; })
                .get();
        ASSERT_EQ(status, 0) << "round " << round;
    }
}

TEST(scheduled_fork_busy, empty_works_in_every_child) {
    std::atomic<int> beats{0};
    spool::scheduled_thread_pool_executor timers({.core_size = 2, .on_fork = fork_policy::empty});
    std::vector<spool::scheduled_future<void>> series;
    for (int i = 0; i < 10; ++i) {
        series.push_back(timers.schedule_at_fixed_rate([&] { ++beats; }, 0s, 100us));
    }
    const std::jthread churn{[&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            timers.schedule([] {}, 1ms).cancel();
            timers.schedule([] {}, 10us).wait();
        }
    }};
    for (int round = 0; round < rounds(); ++round) {
        const auto later = timers.schedule([] {}, 1h);
        const test::child_end end = test::in_child([&] {
            const int before = beats;
            later.wait();
            for (const auto& s : series) {
                s.wait();
            }
            const int seven = timers.schedule([] { return 7; }, 1ms).get();
            timers.close();
            return test::first_wrong(later.is_cancelled(), seven == 7, beats == before);
        });
        ASSERT_EQ(end.status, 0) << "round " << round << ": " << end.said;
        later.cancel();
    }
}

}  // namespace
