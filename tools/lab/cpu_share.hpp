// CPU-bound tasks that share the CPUs evenly, in simulated time.
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

/// Every task gets the same share of the CPUs, at most one CPU. One number tracks the progress of
/// all: the CPU time that a task present from the start would have received. A task ends when that
/// number has grown by the task's own work since its start.
class cpu_share {
public:
    explicit cpu_share(std::size_t cpus) : cpus_(static_cast<double>(cpus)) {}

    [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }

    void add(nanoseconds now, nanoseconds work, std::uint64_t job) {
        advance(now);
        ends_.emplace(progress_ + static_cast<double>(work.count()), job);
    }
    /// Returns when the next task ends, provided that no other task is added before.
    [[nodiscard]] nanoseconds next_end() const {
        if (ends_.empty()) {
            return nanoseconds::max();
        }
        const double left = std::max(0.0, (ends_.top().first - progress_) / rate());
        return seen_ + nanoseconds{static_cast<nanoseconds::rep>(std::ceil(left))};
    }
    /// Advances to next_end() and removes the task that ends there. Precondition: not empty.
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
