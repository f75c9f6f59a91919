// Many tasks call invoke_any at once, and some of them are cancelled meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "race/executor/seeded.hpp"
#include "spool/executor/thread_per_task_executor.hpp"
#include "support/gate.hpp"
#include "support/live_threads.hpp"
#include "support/tracked.hpp"

namespace {

using spool::thread_per_task_executor;
using solver = std::function<int(std::stop_token)>;

constexpr int callers = 4;
constexpr int rounds = 60;

/// Returns only after a stop request.
int wait_for_stop(const std::stop_token& stop, std::atomic<int>& not_stopped) {
    test::gate woken;
    const std::stop_callback on_stop{stop, [&] { woken.open(); }};
    not_stopped += woken.opens() ? 0 : 1;
    return -1;
}

struct tally {
    std::atomic<int> alive{0};        // callables
    std::atomic<int> not_stopped{0};  // losers that were never asked to stop
    std::atomic<int> won{0};
    std::atomic<int> failed{0};
    std::atomic<int> interrupted{0};
    std::atomic<int> wrong{0};
};

/// Up to six solvers. If `may_succeed`, one succeeds and the others wait or fail; else all fail.
std::vector<solver> random_solvers(test::dice& dice, tally& count, bool& may_succeed) {
    std::vector<solver> solvers;
    const test::tracked guard{count.alive};
    may_succeed = !dice.one_in(4);
    const int others = 1 + dice.below(5);
    const int winner = may_succeed ? dice.below(others + 1) : -1;
    for (int i = 0; i <= others; ++i) {
        if (i == winner) {
            solvers.push_back([guard](const std::stop_token&) { return 7; });
        } else if (may_succeed && dice.one_in(2)) {
            solvers.push_back(
                [guard, &count](const std::stop_token& s) { return wait_for_stop(s, count.not_stopped); });
        } else {
            solvers.push_back([guard](const std::stop_token&) -> int { throw std::domain_error{"none"}; });
        }
    }
    return solvers;
}

void call_once(thread_per_task_executor& threads, test::dice dice, tally& count) {
    bool may_succeed = false;
    const std::vector<solver> solvers = random_solvers(dice, count, may_succeed);
    try {
        const bool right = threads.invoke_any(solvers) == 7 && may_succeed;
        ++(right ? count.won : count.wrong);
    } catch (const std::domain_error&) {
        ++(may_succeed ? count.wrong : count.failed);
    } catch (const spool::interrupted&) {
        ++count.interrupted;
    } catch (...) {
        ++count.wrong;
    }
}

TEST(invoke_any_race, each_call_returns_the_result_or_throws_the_failure_or_interrupted) {
    const std::uint32_t seed = test::random_seed();
    SCOPED_TRACE(test::seed_note(seed));
    test::dice dice{seed};
    const std::size_t before = test::threads_at_rest();
    tally count;
    int cancelled = 0;
    for (int round = 0; round < rounds; ++round) {
        thread_per_task_executor threads;
        thread_per_task_executor callers_threads;
        std::vector<spool::future<void>> calls;
        for (int c = 0; c < callers; ++c) {
            const test::dice its_own{static_cast<std::uint32_t>(dice.below(1'000'000))};
            calls.push_back(callers_threads.submit([&, its_own] { call_once(threads, its_own, count); }));
        }
        for (const auto& call : calls) {
            if (dice.one_in(3)) {
                cancelled += call.cancel() ? 1 : 0;
            }
        }
        callers_threads.close();
        threads.close();
    }
    EXPECT_EQ(count.wrong, 0);
    EXPECT_EQ(count.not_stopped, 0);
    EXPECT_EQ(count.alive, 0);
    // A task that was cancelled before its start never called invoke_any. A call that was not
    // cancelled won or failed.
    EXPECT_GE(count.won + count.failed, callers * rounds - cancelled);
    EXPECT_LE(count.won + count.failed + count.interrupted, callers * rounds);
    EXPECT_LE(count.interrupted, cancelled);
    EXPECT_TRUE(test::threads_are_back_to(before));
}

}  // namespace
