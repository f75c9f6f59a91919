#include "sync/throttle_watch.hpp"

#include <cmath>
#include <utility>

#include "base/cgroup.hpp"

namespace spool::inline v1::detail {

throttle_watch::throttle_watch(std::vector<std::string> folders, deadline::time_point now)
    : folders_(std::move(folders)) {
    const double quota = cpu_quota(folders_);
    allows_.store(quota >= least_quota);
    if (quota >= least_quota && std::isfinite(quota)) {
        throttled_.store(throttled_periods(folders_));
        next_look_.store(now + asks_every);
    }
}

// The thread that moves next_look_ reads the files. Other threads keep the last answer.
void throttle_watch::look(deadline::time_point now) noexcept {
    deadline::time_point due = next_look_.load();
    if (now < due || !next_look_.compare_exchange_strong(due, now + asks_every)) {
        return;
    }
    try {
        const std::uint64_t periods = throttled_periods(folders_);
        if (periods > throttled_.exchange(periods)) {
            throttled_until_.store(now + keeps_for);
        }
        allows_.store(now >= throttled_until_.load());
    } catch (...) {  // no memory to read the files: keep the last answer
    }
}

}  // namespace spool::inline v1::detail
