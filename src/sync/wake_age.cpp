#include "spool/detail/wake_age.hpp"

#include <algorithm>
#include <ctime>

namespace spool::inline v1 {
namespace {

// What this thread knows of the wake-up that it asked for last.
struct known_wake {
    std::uint32_t timestamp = 0;
    std::uint32_t skips = 0;  // looks to answer without reading the clock
    std::uint32_t step = 1;
};
constinit thread_local known_wake known;

std::uint32_t in_32_bits(deadline::time_point t) noexcept {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch());
    return static_cast<std::uint32_t>(us.count());
}

}  // namespace

deadline::time_point coarse_now() noexcept {
#if defined(CLOCK_MONOTONIC_COARSE)
    timespec t{};
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &t) == 0) {  // the same time base as the steady clock
        return deadline::time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
    }
#endif
    return deadline::clock::now();
}

std::uint32_t wake_timestamp::now() noexcept {
    return in_32_bits(deadline::clock::now());
}

bool wake_timestamp::is_long_ago(std::uint32_t timestamp) noexcept {
    const bool is_same = known.timestamp == timestamp;
    if (is_same && known.skips != 0) {
        --known.skips;
        return false;
    }
    // The timestamp may lie a little ahead, on the clock of another CPU: hence the slack.
    constexpr std::uint32_t slack = 1'000'000;
    constexpr auto limit = static_cast<std::uint32_t>(wake_limit.count());
    if (now() - timestamp + slack > limit + slack) {
        return true;
    }
    constexpr std::uint32_t most_skips = 64;
    known = {timestamp, 0, is_same ? std::min(2 * known.step, most_skips) : 1};
    known.skips = known.step;
    return false;
}

}  // namespace spool::inline v1
