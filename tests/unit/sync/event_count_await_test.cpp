// event_count::await: what ends a wait, and which result wins when several conditions hold at once.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>

#include "support/stopped_token.hpp"
#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::deadline;
using spool::wait_limits;
using spool::wait_result;
using test::past_deadline;
using test::stopped_token;

constexpr auto yes = [] { return true; };
constexpr auto no = [] { return false; };

template <class Parking>
class event_count_await : public test::event_count_test<Parking> {
protected:
    ~event_count_await() override { EXPECT_EQ(this->events_.waiters(), 0U); }

    /// Waits for `flag_`. Tests call it on a background thread.
    void wait_for_flag(wait_result& answer, std::stop_token stop = {}) {
        answer = this->events_.await([this] { return flag_.load(); },
                                     {.until = test::backstop(), .stop = std::move(stop)});
    }
    std::atomic<bool> flag_{false};
};
TYPED_TEST_SUITE(event_count_await, test::parkings, test::parking_names);

// ---- Results without a wait

TYPED_TEST(event_count_await, a_predicate_that_is_true_at_once_is_called_once) {
    int asked = 0;
    const auto ready = [&asked] {
        ++asked;
        return true;
    };
    EXPECT_EQ(this->events_.await(ready), wait_result::ready);
    EXPECT_EQ(asked, 1);
}

TYPED_TEST(event_count_await, ready_takes_precedence_over_everything_else) {
    EXPECT_EQ(this->events_.await(yes, {.until = past_deadline(), .stop = stopped_token()}, yes),
              wait_result::ready);
}

TYPED_TEST(event_count_await, giving_up_takes_precedence_over_interruption) {
    EXPECT_EQ(this->events_.await(no, {.until = past_deadline(), .stop = stopped_token()}, yes),
              wait_result::gave_up);
}

TYPED_TEST(event_count_await, interruption_takes_precedence_over_time_out) {
    EXPECT_EQ(this->events_.await(no, {.until = past_deadline(), .stop = stopped_token()}),
              wait_result::interrupted);
}

TYPED_TEST(event_count_await, deadline_that_is_over_times_out) {
    EXPECT_EQ(this->events_.await(no, {.until = past_deadline()}), wait_result::timed_out);
    EXPECT_EQ(this->events_.await(no, {.until = deadline::at(deadline::time_point::min())}),
              wait_result::timed_out);
}

TYPED_TEST(event_count_await, stop_requested_before_interrupts_a_wait_without_limit) {
    EXPECT_EQ(this->events_.await(no, {.stop = stopped_token()}), wait_result::interrupted);
}

// The second look finds what happened between the first look and prepare_wait().
TYPED_TEST(event_count_await, ready_is_looked_at_again_after_preparing) {
    int looks = 0;
    const auto ready_at_second_look = [&looks] { return ++looks == 2; };
    EXPECT_EQ(
        this->events_.await(ready_at_second_look, {.until = past_deadline(), .stop = stopped_token()}, yes),
        wait_result::ready);
    EXPECT_EQ(looks, 2);
}

TYPED_TEST(event_count_await, waiter_is_counted_during_its_second_look) {
    std::uint32_t counted = 0;
    int looks = 0;
    const auto look = [&] {
        if (++looks == 2) {
            counted = this->events_.waiters();
        }
        return false;
    };
    EXPECT_EQ(this->events_.await(look, {.until = past_deadline()}), wait_result::timed_out);
    EXPECT_EQ(counted, 1U);
}

// ---- Results for a sleeping waiter

TYPED_TEST(event_count_await, sleeper_finds_ready_after_notify_one) {
    wait_result answer{};
    test::in_background waiter{[&] { this->wait_for_flag(answer); }};
    ASSERT_TRUE(waiter.falls_asleep());
    this->flag_ = true;  // N1, pair (S)
    this->events_.notify_one();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TYPED_TEST(event_count_await, sleepers_find_ready_after_notify_all) {
    wait_result first_answer{};
    wait_result second_answer{};
    test::in_background first{[&] { this->wait_for_flag(first_answer); }};
    test::in_background second{[&] { this->wait_for_flag(second_answer); }};
    ASSERT_TRUE(first.falls_asleep() && second.falls_asleep());
    this->flag_ = true;  // N1, pair (S)
    this->events_.notify_all();
    ASSERT_TRUE(first.ends() && second.ends());
    EXPECT_EQ(first_answer, wait_result::ready);
    EXPECT_EQ(second_answer, wait_result::ready);
}

TYPED_TEST(event_count_await, wait_without_limit_is_ended_by_notify) {
    wait_result answer{};
    std::stop_source abandon;
    test::in_background waiter{[&] {
        answer = this->events_.await([&] { return this->flag_.load(); }, {.stop = abandon.get_token()});
    }};
    ASSERT_TRUE(waiter.falls_asleep());
    this->flag_ = true;  // N1, pair (S)
    this->events_.notify_one();
    EXPECT_TRUE(waiter.ends());
    abandon.request_stop();
    EXPECT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TYPED_TEST(event_count_await, notify_without_cause_does_not_end_the_wait) {
    wait_result answer{};
    std::atomic<int> looks{0};
    test::in_background waiter{[&] {
        answer = this->events_.await(
            [&] {
                ++looks;
                return this->flag_.load();
            },
            {.until = test::backstop()});
    }};
    ASSERT_TRUE(waiter.falls_asleep());
    const int looks_before = looks;
    this->events_.notify_all();
    ASSERT_TRUE(test::eventually([&] { return looks > looks_before; }));
    EXPECT_FALSE(waiter.has_ended());
    this->flag_ = true;  // N1, pair (S)
    this->events_.notify_one();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TYPED_TEST(event_count_await, stop_ends_the_wait_of_a_sleeper) {
    wait_result answer{};
    std::stop_source stop;
    test::in_background waiter{[&] { this->wait_for_flag(answer, stop.get_token()); }};
    ASSERT_TRUE(waiter.falls_asleep());
    stop.request_stop();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::interrupted);
}

TYPED_TEST(event_count_await, stop_of_one_leaves_the_other_waiting) {
    wait_result stopped_answer{};
    wait_result other_answer{};
    std::stop_source stop;
    test::in_background stopped{[&] { this->wait_for_flag(stopped_answer, stop.get_token()); }};
    test::in_background other{[&] { this->wait_for_flag(other_answer); }};
    ASSERT_TRUE(stopped.falls_asleep() && other.falls_asleep());
    stop.request_stop();
    ASSERT_TRUE(stopped.ends());
    EXPECT_FALSE(other.has_ended());
    this->flag_ = true;  // N1, pair (S)
    this->events_.notify_one();
    ASSERT_TRUE(other.ends());
    EXPECT_EQ(stopped_answer, wait_result::interrupted);
    EXPECT_EQ(other_answer, wait_result::ready);
}

TYPED_TEST(event_count_await, sleeper_asks_again_whether_to_give_up_after_notify_all) {
    wait_result answer{};
    std::atomic<bool> give_up{false};
    test::in_background waiter{[&] {
        answer = this->events_.await(no, {.until = test::backstop()}, [&] { return give_up.load(); });
    }};
    ASSERT_TRUE(waiter.falls_asleep());
    give_up = true;  // N1, pair (S)
    this->events_.notify_all();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::gave_up);
}

TYPED_TEST(event_count_await, ready_takes_precedence_over_the_stop_that_woke_the_sleeper) {
    wait_result answer{};
    std::stop_source stop;
    test::in_background waiter{[&] { this->wait_for_flag(answer, stop.get_token()); }};
    ASSERT_TRUE(waiter.falls_asleep());
    this->flag_ = true;
    stop.request_stop();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TYPED_TEST(event_count_await, predicate_may_take_the_element_that_it_finds) {
    std::optional<int> taken;
    std::optional<int> offered = 7;
    const auto take = [&] {
        taken = std::exchange(offered, std::nullopt);
        return taken.has_value();
    };
    EXPECT_EQ(this->events_.await(take, {.until = past_deadline()}), wait_result::ready);
    EXPECT_EQ(taken, 7);
    EXPECT_EQ(this->events_.await(take, {.until = past_deadline()}), wait_result::timed_out);
}

}  // namespace
