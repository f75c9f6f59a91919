// The part of timer_queue for timers that are due at a time of day.
#include <algorithm>
#include <new>

#include "schedule/timer_queue.hpp"
#include "schedule/times.hpp"

namespace spool::inline v1::detail {

using std::chrono::nanoseconds;

due_time timer_queue::expected(std::chrono::system_clock::time_point wall) const noexcept {
    const nanoseconds target = saturated(wall.time_since_epoch());
    const nanoseconds today = saturated(wall_now().time_since_epoch());
    return target <= today ? now() : sum(now(), difference(target, today));
}

bool timer_queue::is_due(const timer& t, due_time now_) const noexcept {
    return t.kind() == timer_kind::at_wall_time ? wall_now() >= t.wall_time() : t.stamp <= now_;
}

bool timer_queue::is_due(timer_ref t, due_time now_) const noexcept {
    const timer* const state = t.as_timer();
    return state != nullptr ? is_due(*state, now_) : t.due() <= now_;
}

future_link::place timer_queue::place_of(const timer& t) {
    const timer_gate::visit at{t};
    if (!at) {
        return {};
    }
    const timer_queue& queue = at.queue();
    return {.where = future_link::whereabout::queued,
            .pool = queue.pool_,
            .ready =
                queue.is_due(t, queue.now()) ? future_link::readiness::due : future_link::readiness::not_due};
}

// Reads the time of day first: the time between the two reads makes a timer late, never early.
nanoseconds timer_queue::wall_offset() const noexcept {
    const nanoseconds wall = saturated(wall_now().time_since_epoch());
    return difference(wall, now().time_since_epoch());
}

// Timers for a time of day are placed where the steady clock is expected to reach it. Moves these
// timers if the clock offset has changed by more than `tolerance`.
void timer_queue::follow_wall_clock(nanoseconds tolerance) {
    const nanoseconds offset = wall_offset();
    if (std::max(difference(offset, offset_), difference(offset_, offset)) <= tolerance) {
        return;
    }
    const std::size_t before = at_wall_time_;
    timer_ref moved = wheel_.take_out([](timer_ref t) {
        const timer* const state = t.as_timer();
        return state != nullptr && state->kind() == timer_kind::at_wall_time;
    });
    while (moved) {
        const timer_ref next = moved.after();
        timer& state = *moved.as_timer();
        state.stamp = met(state.wall_time(), offset);
        try {
            wheel_.insert(moved);
        } catch (const std::bad_alloc&) {
            // No memory for the heap: the timer lies in a bucket for a while, and is checked then.
            state.stamp = sum(now(), 4 * wall_check);
            wheel_.insert(moved);
        }
        moved = next;
    }
    at_wall_time_ = before;
    offset_ = offset;
}

}  // namespace spool::inline v1::detail
