// Operations of timer_queue on one timer, which finds its queue through the gate.
#include "schedule/timer_gate.hpp"
#include "schedule/timer_queue.hpp"
#include "schedule/times.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1::detail {

using std::chrono::nanoseconds;

void timer_queue::remove_cancelled(timer& t) noexcept {
    {
        SPOOL_PAUSE_POINT("timer_queue: about to remove a cancelled one");
        const timer_gate::visit at{t};
        if (!at || !at.queue().remove_on_cancel()) {
            return;
        }
        timer_queue& queue = at.queue();
        queue.mutex_.assert_held();  // by the visit
        queue.take_out(t);
        queue.tell_if_empty();
    }
    SPOOL_PAUSE_POINT("timer_queue: removed a cancelled one");
    t.drop_reference();  // the right to run, which the queue owned
}

task timer_queue::take(timer& t, const void* pool) {
    const timer_gate::visit at{t};
    return at && at.queue().pool_ == pool ? at.queue().take_found(t) : task{};
}

task timer_queue::take_if_due(timer& t, const void* pool) {
    const timer_gate::visit at{t};
    if (!at || at.queue().pool_ != pool || t.kind() == timer_kind::periodic ||
        !at.queue().is_due(t, at.queue().now())) {
        return {};
    }
    return at.queue().take_found(t);
}

// Precondition: the caller visits the timer.
task timer_queue::take_found(timer& t) {
    mutex_.assert_held();  // by the visit
    take_out(t);
    tell_if_empty();
    return timer_ref{t}.take_task();
}

nanoseconds timer_queue::delay_of(const timer& t) {
    const timer_gate::visit at{t};
    return at ? difference(t.stamp.time_since_epoch(), at.queue().now().time_since_epoch())
              : nanoseconds::zero();
}

}  // namespace spool::inline v1::detail
