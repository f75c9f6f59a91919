// Computing tasks that share CPUs evenly, in simulated time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace spool::lab {

using std::chrono::nanoseconds;

/// Every task gets the same share of the CPUs, at most one CPU. Progress is one number for all: how much work each that is there
/// from the beginning has got. A task ends when that number has grown by its own work.
class cpu_share {
public:
    explicit cpu_share(std::size_t cpus) : cpus_(static_cast<double>(cpus)) {}

    [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }

    void add(nanoseconds now, nanoseconds work, std::uint64_t job) {
        advance(now);
        ends_.emplace(progress_ + static_cast<double>(work.count()), job);
    }
    /// When the next one ends, if none comes before.
    [[nodiscard]] nanoseconds next_end() const {
        if (ends_.empty()) {
            return nanoseconds::max();
        }
        const double left = std::max(0.0, (ends_.top().first - progress_) / rate());
        return seen_ + nanoseconds{static_cast<nanoseconds::rep>(std::ceil(left))};
    }
    /// Takes out the one that ends at next_end().
    std::uint64_t pop() {
        advance(next_end());
        const std::uint64_t job = ends_.top().second;
        ends_.pop();
        return job;
    }

private:
    using entry = std::pair<double, std::uint64_t>;

    [[nodiscard]] double rate() const {
        return std::min(1.0, cpus_ / static_cast<double>(std::max<std::size_t>(ends_.size(), 1)));
    }
    void advance(nanoseconds now) {
        progress_ += static_cast<double>((now - seen_).count()) * rate();
        seen_ = now;
    }

    double cpus_;
    double progress_ = 0;
    nanoseconds seen_{0};
    std::priority_queue<entry, std::vector<entry>, std::greater<>> ends_;
};

}  // namespace spool::lab
