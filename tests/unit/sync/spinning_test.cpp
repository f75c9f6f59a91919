// Spinning before the sleep: when it pays, which waiter spins, and that it ends like a sleep.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "spool/detail/done_event.hpp"
#include "spool/detail/spinning.hpp"
#include "spool/queue/linked_blocking_queue.hpp"
#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using namespace std::chrono_literals;
using spool::recent_waits;
using spool::spin_budget;
using spool::wait_result;

constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

// ---- The guess

TEST(recent_waits_guess, spins_for_the_budget_before_anything_was_noted) {
    EXPECT_EQ(recent_waits{}.next_spin(), spool::break_even);
    EXPECT_EQ(recent_waits{spin_budget}.next_spin(), spin_budget);
}

TEST(recent_waits_guess, one_long_wait_ends_the_spinning_and_two_short_ones_restart_it) {
    recent_waits waits;
    waits.record(spool::break_even);
    EXPECT_EQ(waits.next_spin(), spool::break_even);
    waits.record(spool::break_even + 1ns);
    EXPECT_EQ(waits.next_spin(), spool::min_spin);
    waits.record(1us);
    EXPECT_EQ(waits.next_spin(), spool::min_spin);
    waits.record(1us);
    EXPECT_EQ(waits.next_spin(), spool::break_even);
}

TEST(recent_waits_guess, wait_longer_than_any_spin_is_followed_by_no_spin_at_all) {
    for (const auto budget : {spool::break_even, spin_budget}) {
        recent_waits waits{budget};
        waits.record(spin_budget + 1ns);
        EXPECT_EQ(waits.next_spin(), 0ns);
        waits.record(std::chrono::nanoseconds::max());
        EXPECT_EQ(waits.next_spin(), 0ns);
    }
}

TEST(recent_waits_guess, short_spins_begin_again_after_one_wait_no_longer_than_the_longest_spin) {
    for (const auto budget : {spool::break_even, spin_budget}) {
        recent_waits waits{budget};
        waits.record(1h);
        waits.record(spin_budget);
        EXPECT_EQ(waits.next_spin(), spool::min_spin);
    }
}

TEST(recent_waits_guess, long_waits_of_threads_that_take_turns_count_by_the_time_between_their_ends) {
    for (const auto budget : {spool::break_even, spin_budget}) {
        recent_waits waits{budget};
        spool::deadline::time_point now = spool::deadline::clock::now();
        waits.record(1ms, now);
        EXPECT_EQ(waits.next_spin(), 0ns);
        for (int i = 0; i < 10; ++i) {
            waits.record(1ms, now += spin_budget);
            EXPECT_EQ(waits.next_spin(), spool::min_spin);
        }
        waits.record(1ms, now += spin_budget + 1ns);
        EXPECT_EQ(waits.next_spin(), 0ns);
    }
}

TEST(recent_waits_guess, wait_is_never_taken_for_longer_than_it_was) {
    recent_waits waits;
    waits.record(spin_budget, spool::deadline::clock::now());
    EXPECT_EQ(waits.next_spin(), spool::min_spin);
}

TEST(recent_waits_guess, two_short_waits_are_enough_after_the_longest_one_too) {
    recent_waits waits;
    waits.record(1h);
    waits.record(1us);
    EXPECT_EQ(waits.next_spin(), spool::min_spin);
    waits.record(1us);
    EXPECT_EQ(waits.next_spin(), spool::break_even);
}

TEST(recent_waits_guess, short_waits_must_come_in_a_row) {
    recent_waits waits;
    for (int i = 0; i < 100; ++i) {
        waits.record(1us);
        waits.record(spool::break_even + 1ns);
        EXPECT_EQ(waits.next_spin(), spool::min_spin);
    }
}

TEST(recent_waits_guess, least_spin_is_a_small_part_of_the_cost_of_a_sleep) {
    EXPECT_LE(8 * spool::min_spin, spool::break_even);
    EXPECT_GT(spool::min_spin, 0ns);
}

// Notes `rounds` long waits, and returns how many of them would spin for spin_budget.
int tries_in(spool::future_waits& waits, int rounds) {
    int tries = 0;
    for (int i = 0; i < rounds; ++i) {
        tries += waits.next_spin() == spin_budget ? 1 : 0;
        waits.record(1h);
    }
    return tries;
}

TEST(future_waits_guess, after_four_long_waits_one_spins_for_as_long_as_a_wake_up_may_take) {
    spool::future_waits waits;
    EXPECT_EQ(tries_in(waits, 4), 0);
    EXPECT_EQ(tries_in(waits, 1), 1);
}

TEST(future_waits_guess, failing_tries_become_rare) {
    spool::future_waits waits;
    static_cast<void>(tries_in(waits, 2000));
    EXPECT_LE(tries_in(waits, 10'000), 10'000 / 256 + 1);
    EXPECT_GE(tries_in(waits, 10'000), 10'000 / 257 - 1);
}

TEST(future_waits_guess, a_try_that_succeeds_makes_the_next_one_come_soon) {
    spool::future_waits waits;
    static_cast<void>(tries_in(waits, 2000));
    while (waits.next_spin() != spin_budget) {
        waits.record(1h);
    }
    waits.record(30us);  // the other thread woke up in time
    EXPECT_EQ(tries_in(waits, 3), 0);
    EXPECT_EQ(tries_in(waits, 1), 1);
}

TEST(future_waits_guess, short_waits_spin_for_the_break_even_time) {
    spool::future_waits waits;
    static_cast<void>(tries_in(waits, 100));
    waits.record(1us);
    waits.record(1us);
    EXPECT_EQ(waits.next_spin(), spool::break_even);
}

TEST(spin_loop_budget, zero_or_a_negative_budget_is_over_at_once_and_the_longest_is_not) {
    EXPECT_FALSE(spool::spin_loop{0ns}.next());
    EXPECT_FALSE(spool::spin_loop{-1h}.next());
    EXPECT_FALSE(spool::spin_loop{std::chrono::nanoseconds::min()}.next());
    spool::spin_loop longest{for_ever};
    for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE(longest.next());
    }
}

// ---- event_count

template <class Parking>
class event_count_spin : public test::event_count_test<Parking> {
protected:
    std::atomic<bool> ready_{false};
    std::atomic<int> looks_{0};
    // Spins until the condition, the stop or the deadline ends it.
    wait_result spin(spool::wait_limits limits = {}) {
        limits.spin = for_ever;
        limits.until = std::min(limits.until, test::backstop());
        return this->events_.await(
            [this] {
                ++looks_;
                return ready_.load();
            },
            limits);
    }
    [[nodiscard]] bool is_spinning() {
        return test::eventually([this] { return looks_ > 10; }) && this->events_.waiters() == 0;
    }
};
TYPED_TEST_SUITE(event_count_spin, test::parkings, test::parking_names);

TYPED_TEST(event_count_spin, finds_a_published_value_without_a_notification) {
    wait_result answer{};
    test::in_background spinner{[&] { answer = this->spin(); }};
    ASSERT_TRUE(this->is_spinning());
    this->ready_ = true;
    ASSERT_TRUE(spinner.ends());
    EXPECT_EQ(answer, wait_result::ready);
    EXPECT_EQ(this->wakes(), 0U);
}

TYPED_TEST(event_count_spin, throttled_notifier_wakes_no_sleeper_while_one_waiter_spins) {
    const auto key = this->events_.prepare_wait();  // a waiter about to sleep, by hand
    test::in_background spinner{[&] { static_cast<void>(this->spin()); }};
    ASSERT_TRUE(test::eventually([this] { return this->looks_ > 10; }));
    this->events_.notify_unless_wake_pending();
    EXPECT_FALSE(this->events_.wait(key, spool::deadline::after(0ns)));
    this->ready_ = true;
    ASSERT_TRUE(spinner.ends());
}

TYPED_TEST(event_count_spin, one_that_has_not_looked_for_long_is_counted_on_no_more) {
    std::atomic<bool> done{false};
    test::in_background sleeper{[&] {
        static_cast<void>(this->events_.await([&] { return done.load(); }, {.until = test::backstop()}));
    }};
    ASSERT_TRUE(sleeper.falls_asleep());
    std::atomic<bool> stuck{false};
    std::atomic<bool> goes_on{false};
    test::in_background spinner{[&] {
        static_cast<void>(this->events_.await(
            [&] {
                ++this->looks_;
                // When `stuck`, it hangs here as if it had no CPU.
                return stuck && test::eventually([&] { return goes_on.load(); });
            },
            {.until = test::backstop(), .spin = for_ever}));
    }};
    ASSERT_TRUE(test::eventually([this] { return this->looks_ > 10; }));
    stuck = true;
    done = true;  // N1, pair (S)
    EXPECT_TRUE(test::eventually([&] {
        this->events_.notify_unless_wake_pending();
        return this->events_.waiters() == 0;
    }));
    EXPECT_TRUE(sleeper.ends());
    goes_on = true;
    EXPECT_TRUE(spinner.ends());
}

TYPED_TEST(event_count_spin, second_one_sleeps_while_the_first_spins) {
    test::in_background first{[&] { static_cast<void>(this->spin()); }};
    ASSERT_TRUE(this->is_spinning());
    std::atomic<bool> done{false};
    test::in_background second{[&] {
        static_cast<void>(
            this->events_.await([&] { return done.load(); }, {.until = test::backstop(), .spin = for_ever}));
    }};
    EXPECT_TRUE(test::eventually([&] { return this->events_.waiters() == 1; }));
    done = true;  // N1, pair (S)
    this->events_.notify_all();
    EXPECT_TRUE(second.ends());
    this->ready_ = true;
}

TYPED_TEST(event_count_spin, ends_with_the_stop) {
    std::stop_source stop;
    wait_result answer{};
    test::in_background spinner{[&] { answer = this->spin({.stop = stop.get_token()}); }};
    ASSERT_TRUE(this->is_spinning());
    stop.request_stop();
    ASSERT_TRUE(spinner.ends());
    EXPECT_EQ(answer, wait_result::interrupted);
}

TYPED_TEST(event_count_spin, ends_with_the_deadline) {
    EXPECT_EQ(this->spin({.until = spool::deadline::after(test::short_delay())}), wait_result::timed_out);
    EXPECT_EQ(this->spin({.until = spool::deadline::after(0ns)}), wait_result::timed_out);
}

TYPED_TEST(event_count_spin, ends_when_the_waiter_gives_up) {
    std::atomic<bool> enough{false};
    wait_result answer{};
    test::in_background spinner{[&] {
        answer = this->events_.await(
            [this] {
                ++this->looks_;
                return false;
            },
            {.until = test::backstop(), .spin = for_ever}, [&] { return enough.load(); });
    }};
    ASSERT_TRUE(this->is_spinning());
    enough = true;
    ASSERT_TRUE(spinner.ends());
    EXPECT_EQ(answer, wait_result::gave_up);
}

TYPED_TEST(event_count_spin, exception_of_the_predicate_is_rethrown_and_its_wake_is_passed_on) {
    std::atomic<bool> fails{false};
    test::in_background spinner{[&] {
        static_cast<void>(this->events_.await(
            [&]() -> bool {
                ++this->looks_;
                if (fails) {
                    throw std::runtime_error("look");
                }
                return false;
            },
            {.until = test::backstop(), .spin = for_ever}));
    }};
    const auto key = this->events_.prepare_wait();  // a waiter about to sleep, by hand
    ASSERT_TRUE(test::eventually([&] { return this->looks_ > 10; }));
    fails = true;
    ASSERT_TRUE(spinner.ends());
    EXPECT_NE(spinner.error(), nullptr);
    EXPECT_TRUE(this->events_.wait(key, spool::deadline::after(test::long_delay())));
    EXPECT_EQ(this->events_.waiters(), 0U);
}

// ---- done_event and the queues

TEST(done_event_spin, finds_a_published_value_without_a_notification) {
    spool::done_event done;
    std::atomic<bool> ready{false};
    std::atomic<int> looks{0};
    wait_result answer{};
    test::in_background spinner{[&] {
        answer = done.await(
            [&] {
                ++looks;
                return ready.load();
            },
            {.until = test::backstop(), .spin = for_ever});
    }};
    ASSERT_TRUE(test::eventually([&] { return looks > 10; }));
    ready = true;
    ASSERT_TRUE(spinner.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TEST(done_event_spin, ends_with_the_stop_and_with_the_deadline) {
    spool::done_event done;
    const auto never = [] { return false; };
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(done.await(never, {.stop = stop.get_token(), .spin = for_ever}), wait_result::interrupted);
    EXPECT_EQ(done.await(never, {.until = spool::deadline::after(test::short_delay()), .spin = for_ever}),
              wait_result::timed_out);
}

TEST(queue_spin, taker_that_spun_wakes_the_next_if_there_is_more) {
    spool::linked_blocking_queue<int> queue;
    const auto take = [&queue](std::chrono::nanoseconds spin) {
        std::optional<int> x;
        static_cast<void>(queue.pop_until(x, {.until = test::backstop(), .spin = spin}));
    };
    for (int round = 0; round < 50; ++round) {
        test::in_background sleeper{[&] { take(0ns); }};
        ASSERT_TRUE(sleeper.falls_asleep());
        test::in_background spinner{[&] { take(for_ever); }};
        std::vector<int> two{1, 2};
        // One notify for both elements. The notifier may rely on the spinner and not wake the
        // sleeper.
        ASSERT_EQ(queue.offer_some(two), 2U);
        ASSERT_TRUE(spinner.ends());
        ASSERT_TRUE(sleeper.ends());
    }
}

}  // namespace
