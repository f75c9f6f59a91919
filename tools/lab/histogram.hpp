// A histogram of durations with logarithmic buckets: 16 per power of two, so that every value is
// known to 6 %.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace spool::lab {

using std::chrono::nanoseconds;

class histogram {
public:
    void add(nanoseconds d) noexcept {
        ++counts_[bucket_of(d)];
        ++total_;
    }
    void add(const histogram& other) noexcept {
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            counts_[i] += other.counts_[i];
        }
        total_ += other.total_;
    }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }

    /// Returns the value below which this share of the values lies, rounded to the middle of its
    /// bucket; zero if the histogram is empty.
    [[nodiscard]] nanoseconds quantile(double share) const noexcept {
        const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
        std::uint64_t below = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            below += counts_[i];
            if (below > wanted || (below == total_ && total_ > 0)) {
                return middle_of(i);
            }
        }
        return nanoseconds{0};
    }

private:
    static constexpr unsigned fine_bits = 4;
    static constexpr std::uint64_t fine = 1U << fine_bits;

    [[nodiscard]] static std::size_t bucket_of(nanoseconds d) noexcept {
        const auto value = static_cast<std::uint64_t>(d.count() < 0 ? 0 : d.count());
        if (value < fine) {
            return static_cast<std::size_t>(value);
        }
        const auto width = static_cast<unsigned>(std::bit_width(value)) - 1 - fine_bits;
        return static_cast<std::size_t>((std::uint64_t{width} + 1) * fine + (value >> width) - fine);
    }
    [[nodiscard]] static nanoseconds middle_of(std::size_t bucket) noexcept {
        if (bucket < fine) {
            return nanoseconds{static_cast<nanoseconds::rep>(bucket)};
        }
        const std::uint64_t width = bucket / fine - 1;
        const std::uint64_t low = (fine + bucket % fine) << width;
        return nanoseconds{static_cast<nanoseconds::rep>(low + ((std::uint64_t{1} << width) >> 1U))};
    }

    std::array<std::uint32_t, 64 * fine> counts_{};
    std::uint64_t total_ = 0;
};

}  // namespace spool::lab
