// Threads that register callbacks, wait, or take the value, each against the completion.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "race_rounds.hpp"
#include "spool/future/future_task.hpp"

namespace {

using spool::future;
using spool::future_task;
using test::jitter;

constexpr int rounds = 6000;

// How a get() ended, in one letter: v(alue), c(ancelled), i(nterrupted), e(rror).
template <class Get>
char letter_of(Get get) {
    try {
        get();
        return 'v';
    } catch (const spool::cancelled&) {
        return 'c';
    } catch (const spool::interrupted&) {
        return 'i';
    } catch (const std::exception&) {
        return 'e';
    }
}

}  // namespace

TEST(future_completion_race, a_callback_registered_during_completion_is_called_exactly_once) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    std::optional<future_task<int>> t;
    // Many per round, because two registrations collide only within a few instructions.
    constexpr std::size_t per_thread = 100;
    std::array<std::atomic<int>, 2 * per_thread> calls{};
    std::atomic<std::uint32_t> registered{0};
    std::uint32_t enough = 0;  // the thread that makes this registration completes the future
    jitter choices{seed, 99};
    std::atomic<bool> outcome_always_there{true};
    const auto register_all = [&](std::size_t first) {
        for (std::size_t i = first; i < first + per_thread; ++i) {
            t->on_done([&, i](const future<int>& f) {
                ++calls[i];
                outcome_always_there = outcome_always_there && f.is_done() && f.result_now() == 7;
            });
            if (++registered == enough) {
                t->run();
            }
        }
    };
    test::run_rounds(
        rounds, seed,
        [&] {
            for (auto& c : calls) {
                c = 0;
            }
            registered = 0;
            enough = 1 + choices.below(2 * per_thread);
            t.emplace([] { return 7; });
        },
        {[&](jitter&) { register_all(0); }, [&](jitter&) { register_all(per_thread); }},
        [&] {
            for (const auto& c : calls) {
                EXPECT_EQ(c, 1);
            }
            EXPECT_TRUE(outcome_always_there);
        });
}

TEST(future_completion_race, callbacks_of_one_thread_keep_their_order) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    std::optional<future_task<int>> t;
    std::atomic<int> last{0};
    std::atomic<bool> in_order{true};
    std::atomic<int> overtaken{0};
    test::run_rounds(
        rounds, seed,
        [&] {
            last = 0;
            t.emplace([] { return 7; });
            // The completing thread calls earlier callbacks one after the other.
            for (int i = 1; i <= 3; ++i) {
                t->on_done([&, i] { in_order = in_order && last.exchange(i) == i - 1; });
            }
        },
        {[&](jitter&) { t->run(); }, [&](jitter&) { t->on_done([&] { ++overtaken; }); }},
        [&] {
            EXPECT_TRUE(in_order);
            EXPECT_EQ(last, 3);
            EXPECT_EQ(overtaken.exchange(0), 1);
        });
}

TEST(future_completion_race, a_waiter_is_always_woken_by_the_outcome) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    std::optional<future_task<int>> t;
    int written = 0;  // plain on purpose: ThreadSanitizer checks that get() hands it over
    std::atomic<int> seen{0};
    std::atomic<bool> timed{false};
    test::run_rounds(
        rounds, seed,
        [&] {
            written = 0;
            t.emplace([&] { return written = 7; });
        },
        {[&](jitter&) { t->run(); }, [&](jitter&) { seen = t->get() + written; },
         [&](jitter&) { timed = t->wait_for(std::chrono::hours{1}); }},
        [&] {
            EXPECT_EQ(seen, 14);
            EXPECT_TRUE(timed);
        });
}

TEST(future_completion_race, a_waiter_is_answered_by_the_result_or_by_its_stop) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    std::optional<future_task<int>> t;
    std::stop_source source;
    std::atomic<char> answer{0};
    test::run_rounds(
        rounds, seed,
        [&] {
            source = std::stop_source{};
            t.emplace([] { return 7; });
        },
        {[&](jitter&) { t->run(); },
         [&](jitter&) { answer = letter_of([&] { t->get(source.get_token()); }); },
         [&](jitter&) { source.request_stop(); }},
        [&] {
            EXPECT_TRUE(answer == 'v' || answer == 'i') << answer;
            EXPECT_EQ(t->get(), 7);  // the future itself is untouched
        });
}

TEST(future_completion_race, two_takers_of_a_shared_value_both_get_all_of_it) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    const std::string text(100, 'x');
    future<std::string> first;
    future<std::string> second;
    std::string first_got;
    std::string second_got;
    spool::task work;
    test::run_rounds(
        rounds, seed,
        [&] {
            auto parts = future_task<std::string>{[&] { return text; }}.split();
            first = parts.handle;
            second = std::move(parts.handle);
            work = std::move(parts.work);
        },
        {[&](jitter&) { work(); }, [&](jitter&) { first_got = std::move(first).get(); },
         [&](jitter&) { second_got = std::move(second).get(); }},
        [&] {
            EXPECT_EQ(first_got, text);
            EXPECT_EQ(second_got, text);
        });
}

TEST(future_completion_race, of_two_takers_of_a_move_only_value_exactly_one_gets_it) {
    const auto seed = test::race_seed();
    SCOPED_TRACE(test::seed_text(seed));
    future<std::unique_ptr<int>> first;
    future<std::unique_ptr<int>> second;
    std::atomic<int> values{0};
    std::atomic<int> errors{0};
    const auto take = [&](future<std::unique_ptr<int>>& f) {
        try {
            values += *std::move(f).get();
        } catch (const std::logic_error&) {
            ++errors;
        }
    };
    test::run_rounds(
        rounds, seed,
        [&] {
            values = errors = 0;
            future_task<std::unique_ptr<int>> t{[] { return std::make_unique<int>(7); }};
            t.run();
            first = t;
            second = t;
        },
        {[&](jitter&) { take(first); }, [&](jitter&) { take(second); }},
        [&] {
            EXPECT_EQ(values, 7);
            EXPECT_EQ(errors, 1);
        });
}
