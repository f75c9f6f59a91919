// deadline: the only way a time limit travels inwards. Any chrono duration becomes one, and none overflows.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace spool::inline v1 {

/// Any duration as nanoseconds; what does not fit becomes the nearest that does, NaN becomes zero.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> d) noexcept {
    using std::chrono::nanoseconds;
    using ratio = std::ratio_divide<Period, std::nano>;
    // Judged in floating point first, where nothing wraps; the exact conversion follows only inside the range.
    const auto approximate = static_cast<long double>(d.count()) * static_cast<long double>(ratio::num) /
                             static_cast<long double>(ratio::den);
    if (approximate != approximate) {
        return nanoseconds::zero();
    }
    // A little inside the limits, so that rounding of the estimate cannot let an overflow through.
    constexpr auto bound = static_cast<long double>(std::numeric_limits<nanoseconds::rep>::max()) * 0.999999L;
    if (approximate >= bound) {
        return nanoseconds::max();
    }
    if (approximate <= -bound) {
        return nanoseconds::min();
    }
    if constexpr (ratio::num != 1 && ratio::den != 1 && !std::chrono::treat_as_floating_point_v<Rep>) {
        // duration_cast multiplies before it divides: the product may not fit where the quotient does.
        if (static_cast<std::intmax_t>(d.count()) > std::numeric_limits<std::intmax_t>::max() / ratio::num ||
            static_cast<std::intmax_t>(d.count()) < std::numeric_limits<std::intmax_t>::min() / ratio::num) {
            return nanoseconds{static_cast<nanoseconds::rep>(approximate)};
        }
    }
    return std::chrono::duration_cast<nanoseconds>(d);
}

/// A setting in nanoseconds that takes any chrono duration, saturated: `.keep_alive = hours::max()` does not overflow.
class duration_setting {
public:
    template <class Rep, class Period>
    constexpr duration_setting(std::chrono::duration<Rep, Period> d) noexcept : value_(saturated(d)) {}
    constexpr operator std::chrono::nanoseconds() const noexcept { return value_; }

private:
    std::chrono::nanoseconds value_;
};

/// A point on the steady clock up to which a wait may last, or never.
///
///     queue.poll_until(deadline::after(50ms));
class deadline {
public:
    using clock = std::chrono::steady_clock;
    using time_point = std::chrono::time_point<clock, std::chrono::nanoseconds>;

    /// The wait has no limit.
    [[nodiscard]] static constexpr deadline never() noexcept { return deadline{time_point::max()}; }

    /// `d` from now. Zero and negative durations are already over; one too large to add is never.
    template <class Rep, class Period>
    [[nodiscard]] static deadline after(std::chrono::duration<Rep, Period> d) noexcept {
        const std::chrono::nanoseconds wait = saturated(d);
        if (wait <= std::chrono::nanoseconds::zero()) {
            return deadline{time_point::min()};
        }
        const time_point now = clock::now();
        return wait >= time_point::max() - now ? never() : deadline{now + wait};
    }

    [[nodiscard]] static constexpr deadline at(time_point when) noexcept { return deadline{when}; }

    [[nodiscard]] constexpr bool is_never() const noexcept { return when_ == time_point::max(); }
    /// Reads the clock only when there is something to compare with.
    [[nodiscard]] bool expired() const noexcept {
        return !is_never() && (when_ == time_point::min() || clock::now() >= when_);
    }
    [[nodiscard]] constexpr time_point when() const noexcept { return when_; }

    friend constexpr auto operator<=>(const deadline&, const deadline&) = default;

private:
    explicit constexpr deadline(time_point when) noexcept : when_(when) {}
    time_point when_;
};

}  // namespace spool::inline v1
