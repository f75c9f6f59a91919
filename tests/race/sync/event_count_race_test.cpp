// No wake-up is lost: threads that wait for each other make progress, thousands of times. A wait
// that lasts the long delay means a lost wake-up.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "race/sync/in_time.hpp"
#include "race/sync/semaphore.hpp"
#include "spool/sync/event_count.hpp"
#include "unit/sync/parkings.hpp"

namespace {

using spool::wait_result;

spool::wait_limits limits() {
    return {.until = test::time_limit(), .stop = {}};
}

// ---- Ping-pong

template <class Parking>
class event_count_ping_pong : public testing::Test {};

TYPED_TEST_SUITE(event_count_ping_pong, test::parkings, test::parking_names);

// Player 0 moves the ball from even to odd, player 1 from odd to even. Returns the rounds played.
template <class Events>
int play(Events& mine, Events& theirs, std::atomic<int>& ball, int player, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        const auto my_turn = [&] { return ball.load() % 2 == player; };
        if (!test::in_time([&] { return mine.await(my_turn, limits()) == wait_result::ready; })) {
            return round;
        }
        ++ball;  // N1, pair (S)
        theirs.notify_one();
    }
    return rounds;
}

TYPED_TEST(event_count_ping_pong, two_threads_alternate_without_losing_a_wake) {
    constexpr int rounds = 20'000;
    spool::basic_event_count<TypeParam> events[2];
    std::atomic<int> ball{0};
    int played_by_other = 0;
    std::thread other{[&] { played_by_other = play(events[1], events[0], ball, 1, rounds); }};
    const int played = play(events[0], events[1], ball, 0, rounds);
    other.join();
    EXPECT_EQ(played, rounds);
    EXPECT_EQ(played_by_other, rounds);
    EXPECT_EQ(ball, 2 * rounds);
    EXPECT_EQ(events[0].waiters() + events[1].waiters(), 0U);
}

// Both players use one event_count. notify_one could wake the wrong player only if both waited,
// which never happens.
TYPED_TEST(event_count_ping_pong, two_threads_share_one_event_count) {
    constexpr int rounds = 20'000;
    spool::basic_event_count<TypeParam> events;
    std::atomic<int> ball{0};
    int played_by_other = 0;
    std::thread other{[&] { played_by_other = play(events, events, ball, 1, rounds); }};
    const int played = play(events, events, ball, 0, rounds);
    other.join();
    EXPECT_EQ(played, rounds);
    EXPECT_EQ(played_by_other, rounds);
}

// ---- Producers and consumers, over both pairs

template <class Semaphore>
class event_count_semaphore : public testing::Test {};

using semaphores = testing::Types<test::semaphore<spool::default_parking, test::atomic_counter>,
                                  test::semaphore<spool::default_parking, test::guarded_counter>,
                                  test::semaphore<spool::portable_parking, test::atomic_counter>,
                                  test::semaphore<spool::portable_parking, test::guarded_counter>>;
TYPED_TEST_SUITE(event_count_semaphore, semaphores);

// Acquires one semaphore and releases the other, `times` times. Returns how often it succeeded.
template <class Semaphore>
int pass(Semaphore& from, Semaphore& to, int times) {
    for (int i = 0; i < times; ++i) {
        if (!test::in_time([&] { return from.acquire(limits()) == wait_result::ready; })) {
            return i;
        }
        to.release();
    }
    return times;
}

// There is room for only two items: nearly every step waits for the other side, so a lost wake-up
// stops all threads.
TYPED_TEST(event_count_semaphore, producers_and_consumers_with_little_room_make_progress) {
    constexpr int threads_each = 3;
    constexpr int times = 5'000;
    TypeParam room;
    TypeParam items;
    room.release();
    room.release();
    std::atomic<int> passed{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < threads_each; ++i) {
            threads.emplace_back([&] { passed += pass(room, items, times); });
            threads.emplace_back([&] { passed += pass(items, room, times); });
        }
    }
    EXPECT_EQ(passed, 2 * threads_each * times);
    EXPECT_EQ(room.left(), 2);
    EXPECT_EQ(items.left(), 0);
    EXPECT_EQ(room.waiters() + items.waiters(), 0U);
}

TYPED_TEST(event_count_semaphore, consumers_get_every_element_of_the_producers) {
    constexpr int producers = 2;
    constexpr int consumers = 4;
    constexpr int items_per_producer = 20'000;
    constexpr int items_per_consumer = producers * items_per_producer / consumers;
    TypeParam items;
    std::atomic<int> taken{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < consumers; ++i) {
            threads.emplace_back([&] {
                for (int n = 0; n < items_per_consumer; ++n) {
                    if (!test::in_time([&] { return items.acquire(limits()) == wait_result::ready; })) {
                        return;
                    }
                    ++taken;
                }
            });
        }
        for (int i = 0; i < producers; ++i) {
            threads.emplace_back([&] {
                for (int n = 0; n < items_per_producer; ++n) {
                    items.release();
                }
            });
        }
    }
    EXPECT_EQ(taken, producers * items_per_producer);
    EXPECT_EQ(items.left(), 0);
    EXPECT_EQ(items.waiters(), 0U);
}

}  // namespace
