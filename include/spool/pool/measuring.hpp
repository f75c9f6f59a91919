// measuring: how much a pool measures about its tasks.
#pragma once

#include <bit>
#include <cstdint>

namespace spool::inline v1 {

/// How many of a pool's tasks are timed for thread_pool_executor::read(). A task is timed or not; a
/// timed one counts as many times as there were tasks for each timed one (the period).
///
///     spool::thread_pool_executor pool({.measure = spool::measuring::adaptive()});
///     std::cout << pool.read().wait.quantile(0.99).count() << " ns\n";
///
/// A timed task costs an allocation and three clock reads.
class measuring {
public:
    /// No task is timed: the default. Counters, busy and idle time are exact all the same.
    [[nodiscard]] static constexpr measuring off() noexcept { return measuring{0, 0}; }
    /// Times every task while each thread runs at most `per_second` of them in a second, and about
    /// that many beyond.
    [[nodiscard]] static constexpr measuring adaptive(std::uint32_t per_second = 100'000) noexcept {
        return measuring{per_second == 0 ? 1 : per_second, 0};
    }
    /// Times one task in `period`, rounded up to a power of two, at most 2^20.
    [[nodiscard]] static constexpr measuring every(std::uint32_t period = 1) noexcept {
        constexpr std::uint32_t most = std::uint32_t{1} << 20U;
        return measuring{0, period <= 1 ? 1 : period >= most ? most : std::bit_ceil(period)};
    }

    [[nodiscard]] constexpr bool is_on() const noexcept { return per_second_ != 0 || period_ != 0; }
    /// Zero unless adaptive.
    [[nodiscard]] constexpr std::uint32_t per_second() const noexcept { return per_second_; }
    /// Zero unless fixed by every().
    [[nodiscard]] constexpr std::uint32_t period() const noexcept { return period_; }
    friend constexpr bool operator==(const measuring&, const measuring&) noexcept = default;

private:
    constexpr measuring(std::uint32_t per_second, std::uint32_t period) noexcept
        : per_second_(per_second), period_(period) {}

    std::uint32_t per_second_;
    std::uint32_t period_;
};

}  // namespace spool::inline v1
