#include "spool/live/window.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <utility>

#include <spool/base/default_parallelism.hpp>
#include <spool/pool/run_state.hpp>

namespace spool::inline v1::live {
namespace {

double seconds(std::chrono::nanoseconds d) {
    return std::chrono::duration<double>(d).count();
}

// A counter of an older reading may be larger by a task in flight, never the newer by so much.
std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
    return after > before ? after - before : 0;
}
std::chrono::nanoseconds growth(std::chrono::nanoseconds before, std::chrono::nanoseconds after) {
    return std::max(after - before, std::chrono::nanoseconds{0});
}

std::string number(double n) {
    char text[32];
    std::snprintf(text, sizeof text, n < 10 ? "%.2g" : "%.0f", n);
    return text;
}
std::string percent(double share) {
    return number(std::round(share * 100)) + " %";
}
std::string time_text(double s) {
    return std::isinf(s) ? "without end"
           : s >= 1      ? number(s) + " s"
           : s >= 1e-3   ? number(s * 1e3) + " ms"
                         : number(s * 1e6) + " us";
}

}  // namespace

double window::per_second(std::uint64_t n) const noexcept {
    return length.count() <= 0 ? 0 : static_cast<double>(n) / seconds(length);
}
double window::utilisation() const noexcept {
    const double all = seconds(busy) + seconds(idle);
    return all <= 0 ? 0 : seconds(busy) / all;
}
double window::cpu_share() const noexcept {
    return busy.count() <= 0 ? 0 : std::min(1.0, seconds(cpu) / seconds(busy));
}
double window::expected_wait() const noexcept {
    if (now.queued == 0) {
        return 0;
    }
    const double rate = per_second(completed);
    return rate <= 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(now.queued) / rate;
}

window difference(const pool_reading& earlier, const pool_reading& later) {
    window w;
    w.length = later.at - earlier.at;
    w.now = later.numbers;
    w.accepted = growth(earlier.accepted(), later.accepted());
    w.started = growth(earlier.started, later.started);
    w.completed = growth(earlier.numbers.completed, later.numbers.completed);
    w.failed = growth(earlier.failed, later.failed);
    w.rejected = growth(earlier.numbers.rejected, later.numbers.rejected);
    w.busy = growth(earlier.busy, later.busy);
    w.idle = growth(earlier.idle, later.idle);
    w.cpu = growth(earlier.cpu, later.cpu);
    w.blocked = growth(earlier.blocked, later.blocked);
    w.wait = later.wait;
    w.wait -= earlier.wait;
    w.run = later.run;
    w.run -= earlier.run;
    return w;
}

machine_load machine_meter::read() {
    machine_load load;
    load.cpus = static_cast<double>(default_parallelism());
    if (std::ifstream file{"/proc/pressure/cpu"}) {
        std::string some;
        std::string average;
        if (file >> some >> average && some == "some" && average.starts_with("avg10=")) {
            load.pressure = std::strtod(average.c_str() + 6, nullptr) / 100;
        }
    }
    if (std::ifstream file{"/sys/fs/cgroup/cpu.stat"}) {
        std::uint64_t periods = 0;
        std::uint64_t throttled = 0;
        std::string name;
        std::uint64_t value = 0;
        while (file >> name >> value) {
            periods = name == "nr_periods" ? value : periods;
            throttled = name == "nr_throttled" ? value : throttled;
        }
        const std::uint64_t new_periods = growth(std::exchange(periods_, periods), periods);
        const std::uint64_t new_throttled = growth(std::exchange(throttled_, throttled), throttled);
        load.throttled =
            new_periods == 0 ? 0 : static_cast<double>(new_throttled) / static_cast<double>(new_periods);
    }
    return load;
}

std::string_view to_string(condition c) noexcept {
    switch (c) {
        case condition::idle: return "idle";
        case condition::healthy: return "healthy";
        case condition::short_of_threads: return "short of threads";
        case condition::short_of_cpu: return "short of CPU";
        case condition::throttled: return "throttled";
        case condition::blocked: return "blocked";
        case condition::stuck: return "stuck";
        case condition::rejecting: return "rejecting";
        case condition::ended: return "ended";
    }
    return "unknown";
}

// The first rule that applies. The order is that of the damage.
diagnosis diagnose(const window& w, const machine_load& machine) {
    constexpr double throttled_share = 0.05;
    constexpr double waiting_share = 0.3;   // below: a worker waits more than it computes
    constexpr double pressing_share = 0.2;  // above: threads wait for a CPU
    constexpr std::chrono::nanoseconds enough = std::chrono::seconds{1};
    const std::string workers = std::to_string(w.now.pool_size);
    const std::string queued = std::to_string(w.now.queued);
    if (!accepts_tasks(w.now.state)) {
        return {condition::ended,
                "the pool is " + std::string{to_string(w.now.state)} + ", " + queued + " task(s) queued"};
    }
    const bool all_busy = w.now.pool_size > 0 && w.now.active >= w.now.pool_size;
    const bool behind = w.now.queued > 0 && all_busy;
    if (behind && w.completed == 0 && w.length >= enough) {
        return {condition::stuck, "all " + workers + " workers are busy, " + queued +
                                      " task(s) wait, and none has completed for " +
                                      time_text(seconds(w.length))};
    }
    const std::string backlog =
        queued + " task(s) queued, a new one waits about " + time_text(w.expected_wait());
    const std::string grow = w.now.pool_size >= w.now.maximum_size ? "a larger maximum_size"
                                                                   : "a larger core_size or a smaller queue";
    if (w.rejected > 0) {
        return {condition::rejecting, std::to_string(w.rejected) + " task(s) were refused in " +
                                          time_text(seconds(w.length)) + "; " + backlog};
    }
    if (behind && machine.throttled > throttled_share) {
        return {condition::throttled, "the cgroup's quota stopped the process in " +
                                          percent(machine.throttled) + " of its periods; " + backlog};
    }
    if (behind && w.cpu_share() < waiting_share && machine.pressure <= pressing_share) {
        return {condition::blocked, "all " + workers + " workers wait, CPU " + percent(w.cpu_share()) +
                                        ": something downstream is slow; more threads may help. " + backlog};
    }
    if (behind &&
        (machine.pressure > pressing_share || static_cast<double>(w.now.pool_size) >= machine.cpus)) {
        return {condition::short_of_cpu, "all " + workers + " workers compute on " + number(machine.cpus) +
                                             " CPU(s), pressure " + percent(machine.pressure) +
                                             ": more threads will not help. " + backlog};
    }
    if (behind) {
        return {condition::short_of_threads,
                "all " + workers + " workers compute, and CPUs are free: " + grow + " will help. " + backlog};
    }
    if (w.started == 0 && w.now.active == 0) {
        return {condition::idle, w.length.count() == 0 ? std::string{"seen for the first time"}
                                                       : "no task for " + time_text(seconds(w.length))};
    }
    return {condition::healthy,
            number(w.per_second(w.completed)) + " tasks a second, " + percent(w.utilisation()) + " busy"};
}

}  // namespace spool::inline v1::live
