// deadline: the one type in which the library passes time limits on. Any chrono duration converts
// to a deadline without overflow.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace spool::inline v1 {

/// Converts any duration to nanoseconds. A value out of range becomes the nearest one in range; NaN
/// becomes zero.
template <class Rep, class Period>
[[nodiscard]] constexpr std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> d) noexcept {
    using std::chrono::nanoseconds;
    using ratio = std::ratio_divide<Period, std::nano>;
    // The range check uses floating point, where nothing wraps. The exact conversion follows only
    // inside the range.
    const auto approximate = static_cast<long double>(d.count()) * static_cast<long double>(ratio::num) /
                             static_cast<long double>(ratio::den);
    if (approximate != approximate) {
        return nanoseconds::zero();
    }
    // Slightly inside the limits: rounding of the estimate must not let an overflow through.
    constexpr auto bound = static_cast<long double>(std::numeric_limits<nanoseconds::rep>::max()) * 0.999999L;
    if (approximate >= bound) {
        return nanoseconds::max();
    }
    if (approximate <= -bound) {
        return nanoseconds::min();
    }
    if constexpr (ratio::num != 1 && ratio::den != 1 && !std::chrono::treat_as_floating_point_v<Rep>) {
        // duration_cast multiplies before it divides: the product may overflow, the quotient fit.
        if (static_cast<std::intmax_t>(d.count()) > std::numeric_limits<std::intmax_t>::max() / ratio::num ||
            static_cast<std::intmax_t>(d.count()) < std::numeric_limits<std::intmax_t>::min() / ratio::num) {
            return nanoseconds{static_cast<nanoseconds::rep>(approximate)};
        }
    }
    return std::chrono::duration_cast<nanoseconds>(d);
}

/// A setting in nanoseconds. It accepts any chrono duration and saturates: `.keep_alive =
/// hours::max()` does not overflow.
class duration_setting {
public:
    template <class Rep, class Period>
    constexpr duration_setting(std::chrono::duration<Rep, Period> d) noexcept : value_(saturated(d)) {}
    constexpr operator std::chrono::nanoseconds() const noexcept { return value_; }

private:
    std::chrono::nanoseconds value_;
};

/// A point on the steady clock at which a wait ends, or never.
///
///     if (!result.wait_until(deadline::after(50ms))) { ... }  // result: a future
class deadline {
public:
    using clock = std::chrono::steady_clock;
    using time_point = std::chrono::time_point<clock, std::chrono::nanoseconds>;

    /// A wait without a time limit.
    [[nodiscard]] static constexpr deadline never() noexcept { return deadline{time_point::max()}; }

    /// The point `d` from now. A zero or negative `d` has already expired; a `d` too large to add
    /// means never.
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
    /// Reads the clock only if the answer depends on it.
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
