// loop_clock: a cheap clock for guesses. A loop times its blocks with it.
#pragma once

#include <chrono>
#include <cstdint>

namespace spool::inline v1::detail {

/// On x86-64 a tick is one of the processor's time stamp counter, of which 2.5 are taken for a
/// nanosecond: nothing but the size of blocks depends on it. Elsewhere a tick is a nanosecond.
class loop_clock {
public:
#if defined(__x86_64__)
    [[nodiscard]] static std::uint64_t now() noexcept {
        return __builtin_ia32_rdtsc();
    }
    [[nodiscard]] static constexpr std::uint64_t from_ns(std::uint64_t ns) noexcept {
        return ns * 5 / 2;
    }
#else
    [[nodiscard]] static std::uint64_t now() noexcept {
        return static_cast<std::uint64_t>(
            std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count());
    }
    [[nodiscard]] static constexpr std::uint64_t from_ns(std::uint64_t ns) noexcept {
        return ns;
    }
#endif
};

}  // namespace spool::inline v1::detail
