// deadline: every duration converts to one, without overflow.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ratio>

#include "spool/base/deadline.hpp"

namespace {

using spool::deadline;
using spool::saturated;
using namespace std::chrono;
using namespace std::chrono_literals;

using seconds_as_double = duration<double>;
using seconds_as_float = duration<float>;

TEST(saturated_duration, ordinary_durations_are_exact) {
    EXPECT_EQ(saturated(0s), 0ns);
    EXPECT_EQ(saturated(1ns), 1ns);
    EXPECT_EQ(saturated(-1ns), -1ns);
    EXPECT_EQ(saturated(50ms), 50'000'000ns);
    EXPECT_EQ(saturated(-3s), -3'000'000'000ns);
    EXPECT_EQ(saturated(hours{24 * 365}), hours{24 * 365});
    EXPECT_EQ(saturated(123'456'789'123'456'789ns), 123'456'789'123'456'789ns);
    static_assert(saturated(2s) == 2'000'000'000ns);
}

TEST(saturated_duration, too_long_a_duration_becomes_the_longest) {
    EXPECT_EQ(saturated(hours::max()), nanoseconds::max());
    EXPECT_EQ(saturated(seconds::max()), nanoseconds::max());
    EXPECT_EQ(saturated(milliseconds::max()), nanoseconds::max());
    EXPECT_EQ(saturated(nanoseconds::max()), nanoseconds::max());
    EXPECT_EQ(saturated(duration<std::uint64_t, std::nano>::max()), nanoseconds::max());
    EXPECT_EQ(saturated(duration<std::int64_t, std::giga>::max()), nanoseconds::max());
    EXPECT_EQ(saturated(hours{24 * 366 * 300}), nanoseconds::max());
}

TEST(saturated_duration, too_negative_a_duration_becomes_the_most_negative) {
    EXPECT_EQ(saturated(hours::min()), nanoseconds::min());
    EXPECT_EQ(saturated(seconds::min()), nanoseconds::min());
    EXPECT_EQ(saturated(nanoseconds::min()), nanoseconds::min());
    EXPECT_EQ(saturated(duration<std::int64_t, std::giga>::min()), nanoseconds::min());
}

TEST(saturated_duration, floating_point_durations_are_converted) {
    EXPECT_EQ(saturated(seconds_as_double{1.5}), 1'500ms);
    EXPECT_EQ(saturated(seconds_as_double{-0.25}), -250ms);
    EXPECT_EQ(saturated(seconds_as_double{0.0}), 0ns);
    EXPECT_EQ(saturated(seconds_as_double{1e300}), nanoseconds::max());
    EXPECT_EQ(saturated(seconds_as_double{-1e300}), nanoseconds::min());
    EXPECT_EQ(saturated(seconds_as_float{0.5F}), 500ms);
    EXPECT_EQ(saturated(seconds_as_float::max()), nanoseconds::max());
}

TEST(saturated_duration, infinity_is_the_longest_and_nan_is_zero) {
    EXPECT_EQ(saturated(seconds_as_double{std::numeric_limits<double>::infinity()}), nanoseconds::max());
    EXPECT_EQ(saturated(seconds_as_double{-std::numeric_limits<double>::infinity()}), nanoseconds::min());
    EXPECT_EQ(saturated(seconds_as_double{std::numeric_limits<double>::quiet_NaN()}), 0ns);
}

TEST(saturated_duration, small_representations_are_converted) {
    EXPECT_EQ(saturated(duration<std::int8_t>{100}), 100s);
    EXPECT_EQ(saturated(duration<std::int8_t, std::ratio<3600>>{-100}), -100h);
    EXPECT_EQ(saturated(duration<std::uint16_t, std::ratio<86400>>{365}), 365 * 24h);
}

// The period is no whole number of nanoseconds: the product of count and numerator overflows 64
// bits, although the result fits.
TEST(saturated_duration, odd_periods_do_not_overflow) {
    using video_frames = duration<std::int64_t, std::ratio<1001, 30'000>>;
    EXPECT_EQ(saturated(video_frames{30'000}), 1001s);
    constexpr std::int64_t two_hundred_years = std::int64_t{200} * 365 * 86'400;
    const nanoseconds d = saturated(video_frames{two_hundred_years / 1001 * 30'000});
    EXPECT_NEAR(duration<double>(d).count(), static_cast<double>(two_hundred_years), 1'000.0);
}

TEST(deadline_of_a_wait, never_is_never_and_does_not_expire) {
    EXPECT_TRUE(deadline::never().is_never());
    EXPECT_FALSE(deadline::never().expired());
    EXPECT_EQ(deadline::never().when(), deadline::time_point::max());
}

TEST(deadline_of_a_wait, zero_and_negative_are_over_already) {
    EXPECT_TRUE(deadline::after(0s).expired());
    EXPECT_TRUE(deadline::after(-1ns).expired());
    EXPECT_TRUE(deadline::after(hours::min()).expired());
    EXPECT_TRUE(deadline::after(nanoseconds::min()).expired());
    EXPECT_TRUE(deadline::after(seconds_as_double{-1e300}).expired());
    EXPECT_TRUE(deadline::after(seconds_as_double{std::numeric_limits<double>::quiet_NaN()}).expired());
}

TEST(deadline_of_a_wait, too_long_to_add_is_never) {
    EXPECT_TRUE(deadline::after(hours::max()).is_never());
    EXPECT_TRUE(deadline::after(nanoseconds::max()).is_never());
    EXPECT_TRUE(deadline::after(seconds::max()).is_never());
    EXPECT_TRUE(deadline::after(seconds_as_double{std::numeric_limits<double>::infinity()}).is_never());
    // The duration fits in nanoseconds, but the sum with now does not.
    EXPECT_TRUE(
        deadline::after(nanoseconds::max() - (deadline::clock::now().time_since_epoch() / 2)).is_never());
}

TEST(deadline_of_a_wait, future_time_is_not_expired) {
    const deadline later = deadline::after(1h);
    EXPECT_FALSE(later.is_never());
    EXPECT_FALSE(later.expired());
    EXPECT_GT(later.when(), deadline::clock::now() + 59min);
    EXPECT_LE(later.when(), deadline::clock::now() + 1h);
}

TEST(deadline_of_a_wait, past_time_is_expired) {
    EXPECT_TRUE(deadline::at(deadline::clock::now()).expired());
    EXPECT_TRUE(deadline::at(deadline::clock::now() - 1h).expired());
    EXPECT_TRUE(deadline::at(deadline::time_point::min()).expired());
    EXPECT_FALSE(deadline::at(deadline::clock::now() + 1h).expired());
}

TEST(deadline_of_a_wait, earlier_is_less_and_never_is_greatest) {
    const deadline over = deadline::after(-1s);
    const deadline soon = deadline::after(1h);
    const deadline later = deadline::after(2h);
    EXPECT_LT(over, soon);
    EXPECT_LT(soon, later);
    EXPECT_LT(later, deadline::never());
    EXPECT_EQ(soon, deadline::at(soon.when()));
    EXPECT_EQ(deadline::never(), deadline::at(deadline::time_point::max()));
}

}  // namespace
