// followed_pool: what the monitor remembers about one pool.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <spool/live/monitor.hpp>
#include <spool/pool/pool_handle.hpp>

namespace spool::inline v1::live {

class followed_pool {
public:
    using time_point = std::chrono::steady_clock::time_point;

    followed_pool(pool_handle pool, std::string label) : pool_(std::move(pool)) {
        status_.label = std::move(label);
    }

    /// Adds a reading. \throws std::bad_alloc, and then changes nothing that matters
    void add(pool_reading now, std::chrono::nanoseconds longest_running, const machine_load& machine,
             std::chrono::nanoseconds history);

    [[nodiscard]] const pool_handle& pool() const noexcept { return pool_; }
    [[nodiscard]] const pool_status& status() const noexcept { return status_; }
    [[nodiscard]] std::vector<history_point> history(time_point since) const;

    bool turned_on = false;  // the monitor has turned the pool's measuring on

private:
    // The newest kept reading that is at least `age` old; the oldest if there is none.
    [[nodiscard]] const pool_reading& before(time_point now, std::chrono::nanoseconds age) const;

    pool_handle pool_;
    pool_status status_;
    std::deque<pool_reading> kept_;  // some seconds apart, for the windows; oldest first
    std::deque<history_point> history_;
    std::deque<std::pair<time_point, std::size_t>> queued_;  // of the last 60 s
};

}  // namespace spool::inline v1::live
