#include "sync/throttle_watch.hpp"

#include <cmath>
#include <utility>

#include "base/cgroup.hpp"

namespace spool::inline v1::detail {

throttle_watch::throttle_watch(std::vector<std::string> folders, deadline::time_point now)
    : folders_(std::move(folders)) {
    const double quota = cpu_quota(folders_);
    may_spin_.store(quota >= min_quota);
    if (quota >= min_quota && std::isfinite(quota)) {
        throttled_periods_.store(throttled_periods(folders_));
        next_refresh_.store(now + refresh_interval);
    }
}

// The thread that moves next_refresh_ reads the files. Other threads keep the last answer.
void throttle_watch::refresh(deadline::time_point now) noexcept {
    deadline::time_point due = next_refresh_.load();
    if (now < due || !next_refresh_.compare_exchange_strong(due, now + refresh_interval)) {
        return;
    }
    try {
        const std::uint64_t periods = throttled_periods(folders_);
        if (periods > throttled_periods_.exchange(periods)) {
            throttled_until_.store(now + throttled_for);
        }
        may_spin_.store(now >= throttled_until_.load());
    } catch (...) {  // no memory to read the files: keep the last answer
    }
}

}  // namespace spool::inline v1::detail
