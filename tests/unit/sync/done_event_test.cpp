// done_event: what ends a wait, over both ways to park.
#include "spool/detail/done_event.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

#include "support/stopped_token.hpp"
#include "unit/sync/in_background.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::deadline;
using spool::wait_result;
using test::past_deadline;
using test::stopped_token;

constexpr auto yes = [] { return true; };
constexpr auto no = [] { return false; };

template <class Parking>
class done_event : public testing::Test {
protected:
    void wait_for_flag(wait_result& answer, std::stop_token stop = {}) {
        answer = event_.await([this] { return flag_.load(); },
                              {.until = test::backstop(), .stop = std::move(stop)});
    }
    spool::basic_done_event<Parking> event_;
    std::atomic<bool> flag_{false};
};
TYPED_TEST_SUITE(done_event, test::parkings, test::parking_names);

TYPED_TEST(done_event, a_predicate_that_is_true_at_once_is_called_once) {
    int asked = 0;
    EXPECT_EQ(this->event_.await([&] { return ++asked > 0; }), wait_result::ready);
    EXPECT_EQ(asked, 1);
}

TYPED_TEST(done_event, ready_takes_precedence_over_interruption_and_that_over_time_out) {
    EXPECT_EQ(this->event_.await(yes, {.until = past_deadline(), .stop = stopped_token()}),
              wait_result::ready);
    EXPECT_EQ(this->event_.await(no, {.until = past_deadline(), .stop = stopped_token()}),
              wait_result::interrupted);
    EXPECT_EQ(this->event_.await(no, {.until = past_deadline()}), wait_result::timed_out);
}

// The second look finds what happened between the first look and the mark.
TYPED_TEST(done_event, ready_is_looked_at_again_after_the_mark) {
    int looks = 0;
    EXPECT_EQ(
        this->event_.await([&] { return ++looks == 2; }, {.until = past_deadline(), .stop = stopped_token()}),
        wait_result::ready);
    EXPECT_EQ(looks, 2);
}

// The wake-up comes between the mark and the sleep: the waiter must not sleep.
TYPED_TEST(done_event, notified_between_the_second_look_and_the_sleep_it_does_not_sleep) {
    wait_result answer{};
    test::in_background waiter{[&] {
        int looks = 0;
        answer = this->event_.await(
            [&] {
                const bool seen = this->flag_;
                if (++looks == 2) {
                    this->flag_ = true;
                    this->event_.notify_all();
                }
                return seen;
            },
            {.until = test::backstop()});
    }};
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TYPED_TEST(done_event, all_sleepers_find_ready_after_notify_all) {
    std::array<wait_result, 3> answers{};
    std::vector<std::unique_ptr<test::in_background>> waiters;
    for (wait_result& answer : answers) {
        answer = wait_result::timed_out;
        waiters.push_back(std::make_unique<test::in_background>([&] { this->wait_for_flag(answer); }));
        ASSERT_TRUE(waiters.back()->falls_asleep());
    }
    this->flag_ = true;
    this->event_.notify_all();
    for (std::size_t i = 0; i < answers.size(); ++i) {
        ASSERT_TRUE(waiters[i]->ends());
        EXPECT_EQ(answers[i], wait_result::ready);
    }
}

TYPED_TEST(done_event, notify_without_cause_does_not_end_the_wait) {
    wait_result answer{};
    std::atomic<int> looks{0};
    test::in_background waiter{[&] {
        answer = this->event_.await(
            [&] {
                ++looks;
                return this->flag_.load();
            },
            {.until = test::backstop()});
    }};
    ASSERT_TRUE(waiter.falls_asleep());
    for (int i = 0; i < 3; ++i) {  // the mark stays, so every wake-up finds it
        const int before = looks;
        this->event_.notify_all();
        ASSERT_TRUE(test::eventually([&] { return looks > before; }));
        ASSERT_TRUE(waiter.falls_asleep());
    }
    EXPECT_FALSE(waiter.has_ended());
    this->flag_ = true;
    this->event_.notify_all();
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(answer, wait_result::ready);
}

TYPED_TEST(done_event, stop_ends_only_the_wait_of_its_own_waiter) {
    wait_result stopped_answer{};
    wait_result other_answer{};
    std::stop_source stop;
    test::in_background stopped{[&] { this->wait_for_flag(stopped_answer, stop.get_token()); }};
    test::in_background other{[&] { this->wait_for_flag(other_answer); }};
    ASSERT_TRUE(stopped.falls_asleep() && other.falls_asleep());
    stop.request_stop();
    ASSERT_TRUE(stopped.ends());
    EXPECT_FALSE(other.has_ended());
    this->flag_ = true;
    this->event_.notify_all();
    ASSERT_TRUE(other.ends());
    EXPECT_EQ(stopped_answer, wait_result::interrupted);
    EXPECT_EQ(other_answer, wait_result::ready);
}

TYPED_TEST(done_event, a_wait_that_times_out_ends_at_its_deadline_and_can_be_repeated) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(this->event_.await(no, {.until = deadline::after(test::short_delay())}),
                  wait_result::timed_out);
    }
}

TYPED_TEST(done_event, no_wake_is_lost_when_both_sides_meet_a_thousand_times) {
    struct round {
        spool::basic_done_event<TypeParam> event;
        std::atomic<bool> done{false};
    };
    std::vector<round> rounds(1000);
    std::atomic<std::size_t> at{0};
    std::atomic<int> lost{0};
    test::in_background waiter{[&] {
        for (round& r : rounds) {
            ++at;
            const wait_result how = r.event.await([&] { return r.done.load(); }, {.until = test::backstop()});
            lost += how == wait_result::ready ? 0 : 1;
        }
    }};
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        while (at <= i) {
            std::this_thread::yield();
        }
        rounds[i].done = true;
        rounds[i].event.notify_all();
    }
    ASSERT_TRUE(waiter.ends());
    EXPECT_EQ(lost, 0);
}

}  // namespace
