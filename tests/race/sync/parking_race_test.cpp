// Parking itself: a thread that is about to sleep on a word does not miss a change of that word.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "race/sync/in_time.hpp"
#include "race/sync/seed.hpp"
#include "spool/detail/parking.hpp"
#include "unit/sync/parkings.hpp"

namespace {

template <class Parking>
class parking_race : public testing::Test {
protected:
    static constexpr std::uint32_t rounds = 20'000;

    // Sleeps on each value of the word in turn until the other thread changes it. Returns the
    // number of rounds without a lost wake-up.
    std::uint32_t sleep_on_each_value() {
        for (std::uint32_t round = 0; round < rounds; ++round) {
            about_to_sleep_ = round + 1;
            const bool woken = test::in_time([&] {
                while (word_.load() == round) {
                    parking_.park(word_, round, test::time_limit());
                }
                return true;
            });
            if (!woken) {
                about_to_sleep_ = rounds;
                return round;
            }
        }
        return rounds;
    }

    // Changes the word a few steps after the other thread has announced its sleep.
    void change_each_value(test::dice dice) {
        for (std::uint32_t round = 0; round < rounds; ++round) {
            for (int spins = 0; about_to_sleep_ <= round; ++spins) {
                if (spins > 1'000) {
                    std::this_thread::yield();
                }
            }
            const std::uint32_t steps = dice.roll(100);
            for (std::atomic<std::uint32_t> i{0}; i < steps; ++i) {}
            word_ = round + 1;
            parking_.unpark_one(word_);
        }
    }

    Parking parking_;
    typename Parking::word word_{0};
    std::atomic<std::uint32_t> about_to_sleep_{0};
};
TYPED_TEST_SUITE(parking_race, test::parkings, test::parking_names);

TYPED_TEST(parking_race, change_just_before_the_sleep_is_not_missed) {
    const test::dice dice{test::new_seed(), 0};
    std::uint32_t slept = 0;
    std::thread sleeper{[&] { slept = this->sleep_on_each_value(); }};
    this->change_each_value(dice);
    sleeper.join();
    EXPECT_EQ(slept, this->rounds);
}

}  // namespace
