// cancel() against run(), against itself, and against completion by hand.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <thread>

#include "race_rounds.hpp"
#include "spool/future/future_task.hpp"
#include "spool/sync/this_task.hpp"
#include "support/tracked.hpp"

namespace {

using spool::cancel_mode;
using spool::future;
using spool::future_state;
using spool::future_task;
using test::jitter;

constexpr int rounds = 10000;

// One future per round, and everything that a test can observe of it.
struct observed_round {
    std::atomic<int> alive{0};
    std::atomic<int> body_calls{0};
    std::atomic<int> done_calls{0};
    std::atomic<bool> body_saw_stop{false};
    std::atomic<int> true_answers{0};
    jitter delays;  // the body's
    std::optional<future_task<int>> work;

    explicit observed_round(std::uint32_t seed) : delays(seed, 99) {}
    void prepare(bool with_token) {
        body_calls = done_calls = true_answers = 0;
        body_saw_stop = false;
        if (with_token) {
            work.emplace([this, held = test::tracked{alive}](std::stop_token stop) {
                ++body_calls;
                for (int i = 0; i < 4 && !body_saw_stop; ++i) {
                    delays.wait();
                    body_saw_stop = stop.stop_requested();
                }
                return 7;
            });
        } else {
            work.emplace([this, held = test::tracked{alive}] {
                ++body_calls;
                for (int i = 0; i < 4 && !body_saw_stop; ++i) {
                    delays.wait();
                    body_saw_stop = spool::this_task::stop_requested();
                }
                return 7;
            });
        }
        work->on_done([this] { ++done_calls; });
    }
    void count(bool answer) {
        if (answer) {
            ++true_answers;
        }
    }
    // What holds after every round.
    void check_common() {
        EXPECT_TRUE(work->is_done());
        EXPECT_EQ(alive, 0);
        EXPECT_LE(body_calls, 1);
        EXPECT_EQ(done_calls, 1);
    }
};

void race_cancel_and_run(cancel_mode mode, bool with_token) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    observed_round r{seed};
    std::atomic<bool> done_after_cancel{false};
    int cancelled_running = 0;  // how often the interesting case occurred
    test::run_rounds(
        rounds, seed, [&] { r.prepare(with_token); },
        {[&](jitter&) { r.work->run(); },
         [&](jitter& j) {
             j.wait();
             const bool cancelled = r.work->cancel(mode);
             r.count(cancelled);
             done_after_cancel = !cancelled || r.work->is_done();
         }},
        [&] {
            r.check_common();
            EXPECT_TRUE(done_after_cancel);
            if (r.true_answers == 1) {
                cancelled_running += r.body_calls;
                EXPECT_TRUE(r.work->is_cancelled());
                EXPECT_TRUE(mode == cancel_mode::interrupt || !r.body_saw_stop);
            } else {
                EXPECT_EQ(r.work->state(), future_state::succeeded);
                EXPECT_EQ(r.work->get(), 7);
                EXPECT_EQ(r.body_calls, 1);
                EXPECT_FALSE(r.body_saw_stop);
            }
        });
    testing::Test::RecordProperty("cancelled_while_running", cancelled_running);
}

}  // namespace

TEST(future_cancel_race, interrupt_against_run_ends_in_exactly_one_outcome) {
    race_cancel_and_run(cancel_mode::interrupt, false);
}

TEST(future_cancel_race, interrupt_against_a_body_with_a_token_ends_in_exactly_one_outcome) {
    race_cancel_and_run(cancel_mode::interrupt, true);
}

TEST(future_cancel_race, let_run_against_run_ends_in_exactly_one_outcome) {
    race_cancel_and_run(cancel_mode::let_run, false);
}

TEST(future_cancel_race, cancel_against_cancel_is_answered_true_exactly_once) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    observed_round r{seed};
    std::atomic<bool> done_after_true{true};
    const auto cancel = [&](jitter& j) {
        const bool cancelled = r.work->cancel(j.coin() ? cancel_mode::interrupt : cancel_mode::let_run);
        r.count(cancelled);
        done_after_true = done_after_true && (!cancelled || r.work->is_done());
    };
    test::run_rounds(
        rounds, seed, [&] { r.prepare(false); }, {cancel, cancel},
        [&] {
            r.check_common();
            EXPECT_EQ(r.true_answers, 1);
            EXPECT_TRUE(done_after_true);
            EXPECT_EQ(r.body_calls, 0);
            EXPECT_TRUE(r.work->is_cancelled());
        });
}

TEST(future_cancel_race, cancel_against_cancel_of_a_running_body_is_answered_true_at_most_once) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    observed_round r{seed};
    std::atomic<bool> done_after_true{true};
    const auto cancel = [&](jitter& j) {
        const bool cancelled = r.work->cancel(j.coin() ? cancel_mode::interrupt : cancel_mode::let_run);
        r.count(cancelled);
        done_after_true = done_after_true && (!cancelled || r.work->is_done());
    };
    test::run_rounds(
        rounds, seed, [&] { r.prepare(true); }, {cancel, cancel, [&](jitter&) { r.work->run(); }},
        [&] {
            r.check_common();
            EXPECT_LE(r.true_answers, 1);
            EXPECT_TRUE(done_after_true);
            EXPECT_EQ(r.work->is_cancelled(), r.true_answers == 1);
        });
}

TEST(future_cancel_race, set_value_and_run_and_cancel_leave_exactly_one_winner) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    observed_round r{seed};
    std::atomic<bool> set{false};
    std::atomic<bool> was_cancelled{false};
    test::run_rounds(
        rounds, seed, [&] { r.prepare(true); },
        {[&](jitter&) { r.work->run(); },
         [&](jitter& j) {
             j.wait();
             set = r.work->set_value(8);
         },
         [&](jitter& j) {
             j.wait();
             was_cancelled = r.work->cancel();
         }},
        [&] {
            r.check_common();
            EXPECT_FALSE(set && was_cancelled);
            if (set) {
                EXPECT_EQ(r.work->get(), 8);
            } else if (was_cancelled) {
                EXPECT_TRUE(r.work->is_cancelled());
            } else {
                EXPECT_EQ(r.work->get(), 7);
            }
            EXPECT_TRUE(was_cancelled || !r.body_saw_stop);
        });
}

TEST(future_cancel_race, cancel_against_run_and_reset_ends_the_repetition_once) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    observed_round r{seed};
    test::run_rounds(
        rounds, seed, [&] { r.prepare(true); },
        {[&](jitter&) {
             while (r.work->run_and_reset()) {
                 std::this_thread::yield();  // lets the canceller run on a single CPU
             }
         },
         [&](jitter& j) {
             j.wait();
             r.count(r.work->cancel(j.coin() ? cancel_mode::interrupt : cancel_mode::let_run));
         }},
        [&] {
            EXPECT_EQ(r.true_answers, 1);
            EXPECT_TRUE(r.work->is_cancelled());
            EXPECT_EQ(r.alive, 0);
            EXPECT_EQ(r.done_calls, 1);
        });
}
