// A consumer that leaves at the moment of the wake-up, by time-out, stop or exception, loses no
// wake-up for the consumers that stay.
//
// There is one item at a time, and one steady consumer that waits for the long delay. The other
// consumers are fickle: after leaving without the item they stay away until it has been consumed.
// So if a wake-up is lost with a fickle consumer, the steady one sleeps beside an item for the long
// delay.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "race/sync/in_time.hpp"
#include "race/sync/seed.hpp"
#include "race/sync/semaphore.hpp"
#include "spool/sync/event_count.hpp"

namespace {

using spool::deadline;
using spool::wait_result;

constexpr int fickle_consumers = 3;

enum class waking { plain, throttled };

template <class Parking, class Counter, waking Waking = waking::plain>
class fickle_market {
public:
    explicit fickle_market(std::uint32_t seed) : seed_(seed) {}

    void run(int items) {
        std::vector<std::jthread> threads;
        threads.emplace_back([this] { consume_steadily(); });
        for (std::uint32_t i = 0; i < fickle_consumers; ++i) {
            threads.emplace_back([this, i] { consume_fickly(i); });
        }
        produce(items);
    }

    [[nodiscard]] int consumed() const { return consumed_; }
    [[nodiscard]] int left() const { return items_.left(); }
    [[nodiscard]] bool lost_a_wake() const { return lost_; }
    [[nodiscard]] std::uint32_t waiters() const { return events_.waiters(); }

private:
    void produce(int count) {
        test::dice dice{seed_, 99};
        for (int i = 0; i < count && !lost_; ++i) {
            spin(dice.roll(2'000));
            items_.add();
            if (dice.roll(3) == 0) {
                stop_one(dice.roll(fickle_consumers));
            }
            wake();  // the pair that the counter implements
            if (dice.roll(3) == 0) {
                stop_one(dice.roll(fickle_consumers));
            }
            wait_until_consumed(i);
        }
        done_ = true;  // N1, pair (S): the predicates read it
        events_.notify_all();
        ++round_;
        round_.notify_all();
    }

    void wake() {
        if constexpr (Waking == waking::throttled) {
            events_.notify_unless_wake_pending();
        } else {
            events_.notify_one();
        }
    }

    void consume_steadily() {
        while (!done_) {
            const deadline limit = test::time_limit();
            const auto how = events_.await([this] { return items_.try_take(); }, {.until = limit, .stop = {}},
                                           [this] { return done_.load(); });
            if (how == wait_result::gave_up) {
                return;
            }
            if (how == wait_result::ready) {
                lost_ = lost_ || limit.expired();
                ++consumed_;
                finish_round();
            }
        }
    }

    void consume_fickly(std::uint32_t number) {
        test::dice dice{seed_, number};
        while (!done_) {
            if (try_once(number, dice)) {
                ++consumed_;
                finish_round();
            } else {
                const int round = round_;
                if (!done_ && !lost_) {
                    round_.wait(round);  // stays away until another consumer has the item
                }
            }
        }
    }

    // One wait that may end in success, a time-out, a stop or an exception.
    bool try_once(std::uint32_t number, test::dice& dice) {
        const bool throws = dice.roll(3) == 0;
        const auto look = [&] {
            if (throws && items_.left() > 0) {
                throw std::runtime_error("look");
            }
            return items_.try_take();
        };
        const bool limited = dice.roll(2) == 0;
        const auto until =
            limited ? deadline::after(std::chrono::microseconds{dice.roll(60)}) : deadline::never();
        try {
            return events_.await(look, {.until = until, .stop = new_stop(number)},
                                 [this] { return done_.load(); }) == wait_result::ready;
        } catch (const std::runtime_error&) {
            return false;
        }
    }

    std::stop_token new_stop(std::uint32_t number) {
        const std::lock_guard lock{stops_mutex_};
        stops_[number] = std::stop_source{};
        return stops_[number].get_token();
    }
    void stop_one(std::uint32_t number) {
        std::stop_source stop{std::nostopstate};
        {
            const std::lock_guard lock{stops_mutex_};
            stop = stops_[number];
        }
        stop.request_stop();
    }

    void finish_round() {
        ++round_;
        round_.notify_all();
    }
    void wait_until_consumed(int number) {
        for (int round = round_; round <= number && !lost_; round = round_) {
            round_.wait(round);
        }
    }
    static void spin(std::uint32_t steps) {
        for (std::atomic<std::uint32_t> i{0}; i < steps; ++i) {}
    }

    const std::uint32_t seed_;
    Counter items_;
    spool::basic_event_count<Parking> events_;
    std::atomic<int> consumed_{0};
    std::atomic<int> round_{0};  // the number of consumed items, plus one at the end
    std::atomic<bool> done_{false};
    std::atomic<bool> lost_{false};
    std::mutex stops_mutex_;
    std::array<std::stop_source, fickle_consumers> stops_;  // guarded by stops_mutex_
};

template <class Market>
class event_count_leaving_race : public testing::Test {};
using markets =
    testing::Types<fickle_market<spool::default_parking, test::atomic_counter>,
                   fickle_market<spool::default_parking, test::guarded_counter>,
                   fickle_market<spool::portable_parking, test::atomic_counter>,
                   fickle_market<spool::portable_parking, test::guarded_counter>,
                   fickle_market<spool::default_parking, test::atomic_counter, waking::throttled>,
                   fickle_market<spool::default_parking, test::guarded_counter, waking::throttled>>;
TYPED_TEST_SUITE(event_count_leaving_race, markets);

TYPED_TEST(event_count_leaving_race, steady_consumer_never_sleeps_beside_an_item) {
    constexpr int items = 4'000;
    TypeParam market{test::new_seed()};
    market.run(items);
    EXPECT_FALSE(market.lost_a_wake());
    EXPECT_EQ(market.consumed() + market.left(), items);
    EXPECT_EQ(market.left(), 0);
    EXPECT_EQ(market.waiters(), 0U);
}

}  // namespace
