// Dropped handles and dropped tasks, both against the completion. AddressSanitizer looks for leaks
// and late accesses.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>

#include "race_rounds.hpp"
#include "spool/future/future_task.hpp"
#include "support/tracked.hpp"

namespace {

using spool::future;
using spool::future_task;
using test::jitter;
using test::tracked;

constexpr int rounds = 6000;

// A future whose callable, result and callback are counted.
struct counted_future {
    std::atomic<int> callables{0};
    std::atomic<int> results{0};
    std::atomic<int> callbacks{0};
    std::atomic<int> done_calls{0};
    future<tracked> handle;
    spool::task work;

    void prepare() {
        done_calls = 0;
        auto parts =
            future_task<tracked>{[this, held = tracked{callables}] { return tracked{results}; }}.split();
        handle = std::move(parts.handle);
        work = std::move(parts.work);
        handle.on_done([this, held = tracked{callbacks}](const future<tracked>&) { ++done_calls; });
    }
    void check_nothing_left() {
        EXPECT_EQ(callables, 0);
        EXPECT_EQ(results, 0);
        EXPECT_EQ(callbacks, 0);
        EXPECT_EQ(done_calls, 1);
    }
};

}  // namespace

TEST(future_lifetime_race, dropping_the_handles_while_the_task_completes_leaves_nothing) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    counted_future f;
    future<tracked> second;
    test::run_rounds(
        rounds, seed,
        [&] {
            f.prepare();
            second = f.handle;
        },
        {[&](jitter& j) {
             f.work();
             j.wait();
             f.work = nullptr;
         },
         [&](jitter&) {
             const future<tracked> copy = f.handle;
             f.handle = {};
         },
         [&](jitter&) { second = {}; }},
        [&] { f.check_nothing_left(); });
}

TEST(future_lifetime_race, dropping_the_handles_while_the_task_is_dropped_leaves_nothing) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    counted_future f;
    test::run_rounds(
        rounds, seed, [&] { f.prepare(); },
        {[&](jitter&) { f.work = nullptr; }, [&](jitter&) { f.handle = {}; }},
        [&] { f.check_nothing_left(); });
}

TEST(future_lifetime_race, a_waiter_that_drops_the_last_handle_leaves_nothing) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    counted_future f;
    test::run_rounds(
        rounds, seed, [&] { f.prepare(); },
        {[&](jitter&) {
             f.work();
             f.work = nullptr;
         },
         [&](jitter&) {
             f.handle.wait();
             f.handle = {};
         }},
        [&] { f.check_nothing_left(); });
}

TEST(future_lifetime_race, cancelling_while_the_task_is_dropped_cancels_once) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    counted_future f;
    std::atomic<bool> done_after_true{true};
    test::run_rounds(
        rounds, seed, [&] { f.prepare(); },
        {[&](jitter&) { f.work = nullptr; },
         [&](jitter&) { done_after_true = !f.handle.cancel() || f.handle.is_done(); }},
        [&] {
            EXPECT_TRUE(done_after_true);
            EXPECT_TRUE(f.handle.is_cancelled());
            f.handle = {};
            f.check_nothing_left();
        });
}

TEST(future_lifetime_race, cancelling_and_dropping_a_handle_while_the_task_runs_leaves_nothing) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    counted_future f;
    test::run_rounds(
        rounds, seed, [&] { f.prepare(); },
        {[&](jitter&) {
             f.work();
             f.work = nullptr;
         },
         [&](jitter&) {
             f.handle.cancel();
             f.handle = {};
         }},
        [&] { f.check_nothing_left(); });
}

TEST(future_lifetime_race, a_dropped_task_releases_every_waiter) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    counted_future f;
    std::atomic<int> released{0};
    const auto wait = [&](jitter& j) {
        const future<tracked> mine = f.handle;
        try {
            if (j.coin()) {
                mine.get();
            } else {
                mine.get_for(std::chrono::hours{1});
            }
        } catch (const spool::cancelled&) {
            ++released;
        }
    };
    test::run_rounds(
        rounds, seed, [&] { f.prepare(); }, {[&](jitter&) { f.work = nullptr; }, wait, wait},
        [&] {
            EXPECT_EQ(released.exchange(0), 2);
            f.handle = {};
            f.check_nothing_left();
        });
}
