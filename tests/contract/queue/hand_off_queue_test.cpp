// The contract of a queue without storage, fair or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <vector>

#include "contract/queue/contract.hpp"
#include "support/any_timeout.hpp"

namespace {

using namespace std::chrono_literals;

template <class Kind>
class hand_off_queue : public testing::Test {
protected:
    spool::synchronous_queue<int> queue = Kind::template make<int>();
};
TYPED_TEST_SUITE(hand_off_queue, test::hand_off_kinds, test::kind_names);

constexpr auto anything = [](int) { return true; };

TYPED_TEST(hand_off_queue, SQ_001_SQ_002_a_hand_off_queue_is_both_empty_and_full) {
    test::expect_empty(this->queue);
    EXPECT_EQ(this->queue.capacity(), 0U);
    EXPECT_EQ(this->queue.remaining_capacity(), 0U);
    EXPECT_FALSE(this->queue.offer(7));
    test::expect_empty(this->queue);
}

TYPED_TEST(hand_off_queue, SQ_003_SQ_004_offer_without_a_waiting_taker_returns_false) {
    EXPECT_FALSE(this->queue.offer(7));
}

TYPED_TEST(hand_off_queue, SQ_005_SQ_006_a_refused_offer_returns_false_and_does_not_throw) {
    EXPECT_NO_THROW(EXPECT_FALSE(this->queue.offer(7)));
    EXPECT_EQ(this->queue.poll(), std::nullopt);
}

TYPED_TEST(hand_off_queue, SQ_009_SQ_010_adding_all_without_a_waiting_taker_adds_none) {
    EXPECT_EQ(this->queue.offer_all(std::vector<int>{7}), 0U);
    test::expect_empty(this->queue);
}

TYPED_TEST(hand_off_queue, SQ_011_SQ_012_put_without_a_waiting_taker_is_interruptible) {
    test::expect_interruptible([this] { this->queue.put(7); },
                               [this](std::stop_token stop) { this->queue.put(7, stop); });
    test::expect_empty(this->queue);
}

TYPED_TEST(hand_off_queue, SQ_013_SQ_014_put_waits_until_a_take_gets_that_element) {
    test::in_background giver{[this] { this->queue.put(7); }};
    ASSERT_TRUE(giver.falls_asleep());
    EXPECT_FALSE(giver.has_ended());
    EXPECT_EQ(this->queue.remaining_capacity(), 0U);
    EXPECT_EQ(this->queue.take(), 7);
    ASSERT_TRUE(giver.ends());
    EXPECT_FALSE(giver.was_interrupted());
    test::expect_interruptible([this] { this->queue.put(8); },
                               [this](std::stop_token stop) { this->queue.put(8, stop); });
    EXPECT_EQ(this->queue.remaining_capacity(), 0U);
    test::expect_empty(this->queue);
}

TYPED_TEST(hand_off_queue, SQ_015_timed_offer_without_a_taker_times_out) {
    test::expect_waits_out([this](auto d) { EXPECT_FALSE(this->queue.offer_for(7, d)); });
    test::expect_waits_out([this](auto d) { EXPECT_FALSE(this->queue.offer_for(7, d, std::stop_token{})); });
    test::expect_empty(this->queue);
}

TYPED_TEST(hand_off_queue, SQ_015_timed_offer_is_interruptible_for_any_time) {
    test::for_any_timeout([this](auto d) {
        test::expect_interrupted_before(
            [&] { static_cast<void>(this->queue.offer_for(7, d)); },
            [&](std::stop_token stop) { static_cast<void>(this->queue.offer_for(7, d, stop)); });
    });
    test::expect_interrupted_during(
        [this] { static_cast<void>(this->queue.offer_for(7, 1h)); },
        [this](std::stop_token stop) { static_cast<void>(this->queue.offer_for(7, 1h, stop)); });
    test::expect_empty(this->queue);
}

TYPED_TEST(hand_off_queue, SQ_016_SQ_017_poll_without_a_giver_returns_nothing) {
    EXPECT_EQ(this->queue.poll(), std::nullopt);
}

TYPED_TEST(hand_off_queue, SQ_018_SQ_019_poll_with_a_zero_limit_returns_nothing) {
    EXPECT_EQ(this->queue.poll_for(0s), std::nullopt);
}

TYPED_TEST(hand_off_queue, SQ_020_timed_poll_without_a_giver_times_out) {
    test::expect_waits_out([this](auto d) { EXPECT_EQ(this->queue.poll_for(d), std::nullopt); });
    test::expect_waits_out(
        [this](auto d) { EXPECT_EQ(this->queue.poll_for(d, std::stop_token{}), std::nullopt); });
}

TYPED_TEST(hand_off_queue, SQ_021_timed_poll_meets_a_timed_offer) {
    EXPECT_EQ(this->queue.poll_for(1ns), std::nullopt);
    bool given = false;
    test::in_background giver{[&] { given = this->queue.offer_for(7, 1h); }};
    EXPECT_EQ(this->queue.poll_for(1h), 7);
    ASSERT_TRUE(giver.ends());
    EXPECT_TRUE(given);
}

TYPED_TEST(hand_off_queue, SQ_021_timed_poll_is_interruptible_for_any_time) {
    test::for_any_timeout([this](auto d) {
        test::expect_interrupted_before(
            [&] { static_cast<void>(this->queue.poll_for(d)); },
            [&](std::stop_token stop) { static_cast<void>(this->queue.poll_for(d, stop)); });
    });
    test::expect_interrupted_during(
        [this] { static_cast<void>(this->queue.poll_for(1h)); },
        [this](std::stop_token stop) { static_cast<void>(this->queue.poll_for(1h, stop)); });
}

// ---- The queue is empty, even while a giver waits

template <class Kind>
class hand_off_queue_with_a_giver : public hand_off_queue<Kind> {
protected:
    void SetUp() override { ASSERT_TRUE(giver_.falls_asleep()); }
    void TearDown() override { EXPECT_FALSE(giver_.has_ended()); }

private:
    test::in_background giver_{[this] { this->queue.put(7); }};
};
TYPED_TEST_SUITE(hand_off_queue_with_a_giver, test::hand_off_kinds, test::kind_names);

TYPED_TEST(hand_off_queue_with_a_giver, SQ_022_SQ_023_peek_returns_nothing) {
    EXPECT_EQ(test::head_of(this->queue), std::nullopt);
}

TYPED_TEST(hand_off_queue_with_a_giver, SQ_024_SQ_025_peek_without_a_head_does_not_throw) {
    EXPECT_FALSE(this->queue.peek([](int) { ADD_FAILURE() << "shown what is not there"; }));
}

TYPED_TEST(hand_off_queue_with_a_giver, SQ_028_SQ_029_a_hand_off_queue_never_contains_anything) {
    EXPECT_FALSE(this->queue.contains(anything));
}

TYPED_TEST(hand_off_queue_with_a_giver, SQ_030_SQ_031_clear_changes_nothing) {
    this->queue.clear();
    EXPECT_TRUE(this->queue.empty());
}

TYPED_TEST(hand_off_queue_with_a_giver,
           SQ_032_SQ_033_a_hand_off_queue_contains_all_of_a_list_only_if_the_list_is_empty) {
    const auto has_all = [this](const std::vector<int>& wanted) {
        return std::all_of(wanted.begin(), wanted.end(),
                           [&](int n) { return this->queue.contains(test::is(n)); });
    };
    EXPECT_TRUE(has_all({}));
    EXPECT_FALSE(has_all({7}));
}

TYPED_TEST(hand_off_queue_with_a_giver, SQ_034_SQ_035_keeping_a_subset_removes_nothing) {
    EXPECT_EQ(this->queue.remove_if([](int n) { return n != 8; }), 0U);
}

TYPED_TEST(hand_off_queue_with_a_giver, SQ_036_SQ_037_removing_by_value_removes_nothing) {
    EXPECT_EQ(this->queue.remove_if(anything), 0U);
    EXPECT_TRUE(this->queue.take_if(anything).empty());
    EXPECT_FALSE(this->queue.contains(test::is(7)));
}

TYPED_TEST(hand_off_queue_with_a_giver, SQ_038_SQ_039_a_snapshot_is_empty) {
    EXPECT_TRUE(this->queue.to_vector().empty());
}

TYPED_TEST(hand_off_queue_with_a_giver, SQ_044_SQ_045_for_each_visits_nothing) {
    EXPECT_TRUE(test::visited(this->queue).empty());
}

// ---- A giver meets a taker

TYPED_TEST(hand_off_queue, SQ_026_SQ_027_removal_from_a_hand_off_queue_returns_nothing_and_does_not_throw) {
    EXPECT_NO_THROW(EXPECT_EQ(this->queue.poll(), std::nullopt));
}

TYPED_TEST(hand_off_queue, SQ_050_SQ_051_timed_offer_is_matched_by_the_take_of_another_thread) {
    bool at_once = true;
    bool later = false;
    test::in_background giver{[&] {
        at_once = this->queue.offer(7);
        later = this->queue.offer_for(7, 1h);
    }};
    ASSERT_TRUE(giver.falls_asleep());
    EXPECT_EQ(this->queue.take(), 7);
    ASSERT_TRUE(giver.ends());
    EXPECT_FALSE(at_once);
    EXPECT_TRUE(later);
}

TYPED_TEST(hand_off_queue, SQ_052_SQ_053_timed_poll_is_matched_by_the_put_of_another_thread) {
    std::optional<int> at_once;
    std::optional<int> later;
    test::in_background taker{[&] {
        at_once = this->queue.poll();
        later = this->queue.poll_for(1h);
    }};
    ASSERT_TRUE(taker.falls_asleep());
    this->queue.put(7);
    ASSERT_TRUE(taker.ends());
    EXPECT_EQ(at_once, std::nullopt);
    EXPECT_EQ(later, 7);
}

TYPED_TEST(hand_off_queue, SQ_055_SQ_056_draining_without_a_giver_moves_nothing) {
    std::vector<int> out;
    EXPECT_EQ(this->queue.drain_to(out), 0U);
    EXPECT_FALSE(this->queue.offer(7));
    EXPECT_EQ(this->queue.drain_to(out), 0U);
    EXPECT_TRUE(out.empty());
}

TYPED_TEST(hand_off_queue, SQ_057_SQ_058_draining_takes_from_a_waiting_put) {
    test::in_background giver{[this] { this->queue.put(7); }};
    std::vector<int> out;
    EXPECT_TRUE(test::eventually([&] { return this->queue.drain_to(out) != 0; }));
    ASSERT_TRUE(giver.ends());
    EXPECT_FALSE(giver.was_interrupted());
    EXPECT_EQ(out, std::vector<int>{7});
}

TYPED_TEST(hand_off_queue, SQ_059_draining_at_most_one_frees_one_of_two_waiting_puts) {
    test::in_background first{[this] { this->queue.put(1); }};
    test::in_background second{[this] { this->queue.put(2); }};
    std::vector<int> out;
    const auto one_is_drained = [&] { return this->queue.drain_to(out, 1) == 1; };
    // Both givers wait, so only the limit of one element keeps the other giver waiting.
    ASSERT_TRUE(first.falls_asleep() && second.falls_asleep());
    EXPECT_TRUE(test::eventually(one_is_drained));
    EXPECT_EQ(out.size(), 1U);
    EXPECT_TRUE(test::eventually(one_is_drained));
    ASSERT_TRUE(first.ends() && second.ends());
    EXPECT_EQ(test::sorted(out), (std::vector<int>{1, 2}));
    EXPECT_EQ(this->queue.drain_to(out), 0U);
}

}  // namespace
