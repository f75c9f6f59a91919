// monitor: follows all pools of the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <spool/base/deadline.hpp>
#include <spool/base/export.hpp>
#include <spool/live/exposition.hpp>
#include <spool/pool/measuring.hpp>

namespace spool::inline v1::live {

struct monitor_options {
    /// How often the monitor reads all pools.
    duration_setting tick = std::chrono::seconds{1};
    /// How far back history() goes: a point per tick.
    duration_setting history = std::chrono::minutes{10};
    /// What the monitor turns on in pools that measure nothing, as long as it lives.
    measuring measure = measuring::adaptive();
    /// Written every `metrics_every`, by a rename, for the textfile collector of node_exporter:
    /// metrics without a port. Empty: not written. The directory must exist.
    std::filesystem::path metrics_file{};
    duration_setting metrics_every = std::chrono::seconds{15};
    /// The pools to follow; null: all. Called on the monitor's thread.
    std::function<bool(std::string_view pool)> include = nullptr;
    /// How many pools are followed at most; the others only count.
    std::size_t most_pools = 256;
    /// Gets each failure of the monitor itself, once until it succeeds again. Called on the
    /// monitor's thread. Null: standard error.
    std::function<void(std::string_view message)> report = nullptr;
};

struct history_point {
    std::chrono::steady_clock::time_point at{};
    std::size_t pool_size = 0, active = 0, queued = 0;
    double accepted = 0, completed = 0, rejected = 0;  ///< per second, since the point before
    double utilisation = 0;
    std::chrono::nanoseconds wait_p99{0}, run_p99{0};  ///< since the point before
};

/// One thread that follows all pools of the process, also those that are made later.
///
///     spool::live::monitor watch({.metrics_file = "/var/lib/node_exporter/spool.prom"});
///
/// The series of a pool that was destroyed end with the next tick. Two pools of one name are "name"
/// and "name#2", in the order in which the monitor saw them, for as long as they live; a pool whose
/// own name is taken in this way gets the next free number itself.
///
/// Thread safety: any thread may call any member. Lifetime: the destructor stops the thread and
/// waits for it, then turns off the measuring that the monitor turned on. Nothing runs afterwards.
/// fork(): a forked child has no monitor: the members answer as with no pool, and the destructor
/// does nothing there.
class SPOOL_API monitor {
public:
    /// \throws std::invalid_argument if `tick` or `metrics_every` is not positive;
    /// std::system_error if no thread can be started
    explicit monitor(monitor_options options = {});
    monitor(const monitor&) = delete;
    monitor& operator=(const monitor&) = delete;
    ~monitor();

    /// What the last tick saw, in the order of the labels.
    [[nodiscard]] std::vector<pool_status> pools() const;
    /// The points after `since`, oldest first; none for a label that is not followed.
    [[nodiscard]] std::vector<history_point> history(std::string_view label,
                                                     std::chrono::steady_clock::time_point since = {}) const;
    /// What the last tick saw, as text.
    [[nodiscard]] std::string exposition(exposition_format format = exposition_format::prometheus) const;
    /// Reads all pools now, on this thread.
    void tick();
    /// How many ticks there were.
    [[nodiscard]] std::uint64_t ticks() const;

private:
    class core;
    std::unique_ptr<core> core_;
};

}  // namespace spool::inline v1::live
