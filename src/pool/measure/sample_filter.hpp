// sample_filter: which tasks a pool times.
//
// The choice depends on the task's id: its product with an odd number, of which some bits must be
// zero. Ids come in blocks per thread, and the product spreads them: no pattern of submissions is
// always timed, or never.
#pragma once

#include <atomic>
#include <cstdint>

#include "spool/base/task_id.hpp"

namespace spool::inline v1 {

class sample_filter {
public:
    static constexpr std::uint32_t longest_period = std::uint32_t{1} << 20U;

    /// `all`: wants() is true for every id, whatever the period (see pool_options::task_times).
    explicit sample_filter(bool all) noexcept : all_(all), mask_(all ? 0 : nothing) {}

    /// For the fast path. True for about one id in `period`; for one in 2^32 if the filter is off.
    [[nodiscard]] bool wants(task_id id) const noexcept {
        // relaxed, hint: a task that sees the old mask is timed, or not, as before
        return (spread(id) & mask_.load(std::memory_order_relaxed)) == 0;
    }
    [[nodiscard]] bool is_on() const noexcept {
        return on_.load(std::memory_order_relaxed);  // relaxed, hint
    }
    /// One task in so many is timed; a power of two. 0: none.
    [[nodiscard]] std::uint32_t period() const noexcept {
        return is_on() ? mask_.load(std::memory_order_relaxed) + 1 : 0;  // relaxed, hint
    }
    /// `period`: a power of two, or 0 for off.
    void set(std::uint32_t period) noexcept {
        if (!all_) {
            const std::uint32_t mask = period == 0 ? nothing : period - 1;
            mask_.store(mask, std::memory_order_relaxed);  // relaxed, hint
        }
        on_.store(period != 0, std::memory_order_relaxed);  // relaxed, hint
    }

    [[nodiscard]] static std::uint32_t spread(std::uint64_t n) noexcept {
        // 2^64 / golden ratio
        return static_cast<std::uint32_t>(n * 0x9E37'79B9'7F4A'7C15U >> 32U);
    }

private:
    static constexpr std::uint32_t nothing = ~std::uint32_t{0};

    const bool all_;
    std::atomic<std::uint32_t> mask_;
    std::atomic<bool> on_{false};
};

}  // namespace spool::inline v1
