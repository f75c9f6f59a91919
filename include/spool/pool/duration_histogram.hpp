// duration_histogram: how many durations fell into each of 640 logarithmic buckets.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace spool::inline v1 {

/// 16 buckets per power of two, from 1 ns to 2.4 hours: every value is known to 6 %. Values below
/// and above go to the first and the last bucket. Counts only grow, so a difference of two readings
/// is the histogram of the time in between.
class duration_histogram {
public:
    static constexpr std::size_t buckets = 640;

    [[nodiscard]] static constexpr std::size_t bucket_of(std::chrono::nanoseconds d) noexcept {
        const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(d.count(), 0));
        if (value < fine) {
            return static_cast<std::size_t>(value);
        }
        const auto width = static_cast<unsigned>(std::bit_width(value)) - 1 - fine_bits;
        const std::uint64_t bucket = (std::uint64_t{width} + 1) * fine + (value >> width) - fine;
        return std::min<std::size_t>(static_cast<std::size_t>(bucket), buckets - 1);
    }
    /// The least value of a bucket, and that of the next one.
    [[nodiscard]] static constexpr std::chrono::nanoseconds lower_end(std::size_t bucket) noexcept {
        if (bucket < fine) {
            return std::chrono::nanoseconds{static_cast<std::int64_t>(bucket)};
        }
        return std::chrono::nanoseconds{
            static_cast<std::int64_t>((fine + bucket % fine) << (bucket / fine - 1))};
    }
    [[nodiscard]] static constexpr std::chrono::nanoseconds upper_end(std::size_t bucket) noexcept {
        return lower_end(bucket + 1);
    }

    void add(std::chrono::nanoseconds d, std::uint64_t weight = 1) noexcept {
        add_to_bucket(bucket_of(d), weight);
        sum_ += static_cast<std::uint64_t>(std::max<std::int64_t>(d.count(), 0)) * weight;
    }
    void add_to_bucket(std::size_t bucket, std::uint64_t weight) noexcept {
        counts_[bucket] += weight;
        count_ += weight;
    }
    void add_to_sum(std::uint64_t ns) noexcept { sum_ += ns; }
    duration_histogram& operator+=(const duration_histogram& other) noexcept {
        for (std::size_t i = 0; i < buckets; ++i) {
            counts_[i] += other.counts_[i];
        }
        count_ += other.count_;
        sum_ += other.sum_;
        return *this;
    }
    /// Precondition: `earlier` is an earlier reading of the same pool.
    duration_histogram& operator-=(const duration_histogram& earlier) noexcept {
        for (std::size_t i = 0; i < buckets; ++i) {
            counts_[i] -= earlier.counts_[i];
        }
        count_ -= earlier.count_;
        sum_ -= earlier.sum_;
        return *this;
    }

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t count_in(std::size_t bucket) const noexcept { return counts_[bucket]; }
    [[nodiscard]] std::chrono::nanoseconds sum() const noexcept {
        return std::chrono::nanoseconds{static_cast<std::int64_t>(sum_)};
    }
    [[nodiscard]] std::chrono::nanoseconds mean() const noexcept {
        return std::chrono::nanoseconds{count_ == 0 ? 0 : static_cast<std::int64_t>(sum_ / count_)};
    }
    /// The value below which this share of the values lies, to the middle of its bucket; zero if
    /// the histogram is empty. `share` of 1 is the largest value.
    [[nodiscard]] std::chrono::nanoseconds quantile(double share) const noexcept {
        const auto wanted =
            static_cast<std::uint64_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(count_));
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < buckets; ++i) {
            below += counts_[i];
            if (counts_[i] != 0 && (below > wanted || below == count_)) {
                return lower_end(i) + (upper_end(i) - lower_end(i)) / 2;
            }
        }
        return std::chrono::nanoseconds{0};
    }

private:
    static constexpr unsigned fine_bits = 4;
    static constexpr std::uint64_t fine = 1U << fine_bits;

    std::array<std::uint64_t, buckets> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;  // ns
};

}  // namespace spool::inline v1
