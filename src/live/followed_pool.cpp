#include "live/followed_pool.hpp"

namespace spool::inline v1::live {
namespace {

constexpr std::chrono::nanoseconds short_window = std::chrono::seconds{10};
constexpr std::chrono::nanoseconds long_window = std::chrono::seconds{60};
// A kept reading takes 10 KB, and a window may be longer by this much.
constexpr std::chrono::nanoseconds apart = std::chrono::seconds{2};

}  // namespace

void followed_pool::add(pool_reading now, std::chrono::nanoseconds longest_running,
                        const machine_load& machine, std::chrono::nanoseconds history) {
    const time_point at = now.at;
    if (kept_.empty() || at - kept_.back().at >= apart) {
        kept_.push_back(now);
    }
    while (kept_.size() > 1 && at - kept_[1].at >= long_window) {
        kept_.pop_front();
    }
    queued_.emplace_back(at, now.numbers.queued);
    while (at - queued_.front().first > long_window) {
        queued_.pop_front();
    }
    const bool first = history_.empty();
    const window since_last = difference(first ? now : status_.reading, now);
    history_.push_back({at, now.numbers.pool_size, now.numbers.active, now.numbers.queued,
                        since_last.per_second(since_last.accepted),
                        since_last.per_second(since_last.completed),
                        since_last.per_second(since_last.rejected), since_last.utilisation(),
                        since_last.wait.quantile(0.99), since_last.run.quantile(0.99)});
    while (at - history_.front().at > history) {
        history_.pop_front();
    }
    status_.accepted = std::max(status_.accepted, now.accepted());
    status_.last_10s = difference(before(at, short_window), now);
    status_.last_60s = difference(before(at, long_window), now);
    status_.most_queued = std::max_element(queued_.begin(), queued_.end(), [](const auto& a, const auto& b) {
                              return a.second < b.second;
                          })->second;
    status_.longest_running = longest_running;
    status_.verdict = diagnose(status_.last_10s, machine);
    status_.reading = std::move(now);
}

const pool_reading& followed_pool::before(time_point now, std::chrono::nanoseconds age) const {
    const auto young =
        std::find_if(kept_.begin(), kept_.end(), [&](const pool_reading& r) { return now - r.at < age; });
    return young == kept_.begin() ? kept_.front() : *std::prev(young);
}

std::vector<history_point> followed_pool::history(time_point since) const {
    const auto first = std::find_if(history_.begin(), history_.end(),
                                    [since](const history_point& p) { return p.at > since; });
    return {first, history_.end()};
}

}  // namespace spool::inline v1::live
