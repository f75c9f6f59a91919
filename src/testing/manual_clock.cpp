#include "spool/testing/manual_clock.hpp"

#include <algorithm>
#include <limits>

namespace spool::inline v1::testing {
namespace {

using std::chrono::nanoseconds;
using std::chrono::system_clock;

constexpr std::int64_t start = nanoseconds{std::chrono::hours{1}}.count();

std::int64_t ns(system_clock::time_point t) {
    return saturated(t.time_since_epoch()).count();
}

}  // namespace

manual_clock::manual_clock() : now_(start), wall_offset_(0) {
    const system_clock::time_point year_2000 =
        std::chrono::sys_days{std::chrono::year{2000} / std::chrono::January / 1};
    wall_offset_.store(ns(year_2000) - start);
}

manual_clock::~manual_clock() = default;

void manual_clock::move_on(nanoseconds d) {
    if (d <= nanoseconds::zero()) {
        return;
    }
    for (std::int64_t before = now_.load();;) {
        const std::int64_t left = std::numeric_limits<std::int64_t>::max() - before;
        if (now_.compare_exchange_weak(before, before + std::min<std::int64_t>(d.count(), left))) {
            break;
        }
    }
    tell();
}

void manual_clock::set_wall(system_clock::time_point to) {
    const std::int64_t now = now_.load();  // never negative
    wall_offset_.store(std::max(ns(to), std::numeric_limits<std::int64_t>::min() + now) - now);
    tell();
}

void manual_clock::tell() {
    const detail::lock_guard lock{mutex_};
    for (clock_listener* const listener : listeners_) {
        listener->time_changed();
    }
}

due_time manual_clock::now() const noexcept {
    return due_time{nanoseconds{now_.load()}};
}

system_clock::time_point manual_clock::wall_now() const noexcept {
    const std::int64_t now = now_.load();
    const std::int64_t offset = wall_offset_.load();
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const std::int64_t sum = offset > most - now ? most : now + offset;
    return system_clock::time_point{std::chrono::duration_cast<system_clock::duration>(nanoseconds{sum})};
}

deadline manual_clock::sleep_limit(due_time) const noexcept {
    return deadline::never();
}

void manual_clock::add_listener(clock_listener& listener) {
    const detail::lock_guard lock{mutex_};
    listeners_.push_back(&listener);
}

void manual_clock::remove_listener(clock_listener& listener) noexcept {
    const detail::lock_guard lock{mutex_};
    listeners_.erase(std::remove(listeners_.begin(), listeners_.end(), &listener), listeners_.end());
}

}  // namespace spool::inline v1::testing
