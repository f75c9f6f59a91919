// sample_rate: lets the period of the samples follow the rate of the tasks.
//
// Counts samples over windows of a second. Up to `per_second` samples per thread in a window change
// nothing. A window that is full before its second is over raises the period, so a burst costs the
// timing of that many tasks at most. A window that ends in time lowers the period to what its rate
// needs.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>

#include "pool/measure/sample_filter.hpp"

namespace spool::inline v1 {

class sample_rate {
public:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::nanoseconds window = std::chrono::seconds{1};

    /// Counts a sample, taken at `now`, that stands for `period` tasks. Returns the new period. Any
    /// thread may call it.
    std::uint32_t count(clock::time_point now, std::uint32_t period, std::uint32_t per_second,
                        std::size_t threads) noexcept {
        // relaxed, statistic: the counts only decide the period
        const std::uint64_t tasks = tasks_.fetch_add(period, std::memory_order_relaxed) + period;
        const std::uint64_t n = samples_.fetch_add(1, std::memory_order_relaxed) + 1;  // statistic
        std::int64_t begun = begun_.load(std::memory_order_relaxed);                   // statistic
        const std::int64_t ns = now.time_since_epoch().count();
        const std::int64_t elapsed = ns - begun;
        const double limit =
            static_cast<double>(per_second) * static_cast<double>(std::max<std::size_t>(threads, 1));
        const bool full = static_cast<double>(n) > limit;
        if (begun != 0 && !full && elapsed < window.count()) {
            return period;
        }
        // The thread that moves the beginning closes the window.
        if (!begun_.compare_exchange_strong(begun, ns, std::memory_order_relaxed)) {  // statistic
            return period;
        }
        tasks_.store(0, std::memory_order_relaxed);    // relaxed, statistic
        samples_.store(0, std::memory_order_relaxed);  // relaxed, statistic
        if (begun == 0) {
            return period;
        }
        const std::uint32_t wanted = wanted_period(tasks, std::chrono::nanoseconds{elapsed}, limit);
        // A full window was slowed down by the timing itself: the true rate is higher.
        return full && elapsed < window.count()
                   ? std::min(std::max(wanted, period) * 4, sample_filter::longest_period)
                   : wanted;
    }

    /// The least period with which `tasks` in `elapsed` give at most `limit` samples a second.
    [[nodiscard]] static std::uint32_t wanted_period(std::uint64_t tasks, std::chrono::nanoseconds elapsed,
                                                     double limit) noexcept {
        const double rate = static_cast<double>(tasks) * 1e9 /
                            static_cast<double>(std::max<std::int64_t>(elapsed.count(), 1));
        const double period =
            std::clamp(rate / limit, 1.0, static_cast<double>(sample_filter::longest_period));
        const auto whole = static_cast<std::uint32_t>(period);
        return std::bit_ceil(static_cast<double>(whole) < period ? whole + 1 : whole);
    }

private:
    std::atomic<std::int64_t> begun_{0};  // of the window, ns; 0: no sample yet
    std::atomic<std::uint64_t> tasks_{0};
    std::atomic<std::uint64_t> samples_{0};
};

}  // namespace spool::inline v1
