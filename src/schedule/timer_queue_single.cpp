// Operations of timer_queue on one timer, which finds its queue through the gate.
#include "schedule/timer_gate.hpp"
#include "schedule/timer_queue.hpp"
#include "schedule/times.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1::detail {

using std::chrono::nanoseconds;

void timer_queue::remove_cancelled(future_core& timer) noexcept {
    {
        SPOOL_PAUSE_POINT("timer_queue: about to remove a cancelled one");
        const timer_gate::visit at{timer};
        if (!at || !at.queue().remove_on_cancel()) {
            return;
        }
        timer_queue& queue = at.queue();
        queue.mutex_.assert_held();  // by the visit
        queue.take_out(timer);
        queue.tell_if_empty();
    }
    SPOOL_PAUSE_POINT("timer_queue: removed a cancelled one");
    timer.drop_reference();  // the right to run, which the queue owned
}

task timer_queue::take(future_core& timer, const void* pool) {
    const timer_gate::visit at{timer};
    if (!at || at.queue().home_ != pool) {
        return {};
    }
    timer_queue& queue = at.queue();
    queue.mutex_.assert_held();  // by the visit
    queue.take_out(timer);
    queue.tell_if_empty();
    return timer.take_task();
}

task timer_queue::take_if_due(future_core& timer, const void* pool) {
    const timer_gate::visit at{timer};
    if (!at || at.queue().home_ != pool || timer.kind() == future_core::timer_kind::periodic ||
        !at.queue().is_due(timer, at.queue().now())) {
        return {};
    }
    timer_queue& queue = at.queue();
    queue.mutex_.assert_held();  // by the visit
    queue.take_out(timer);
    queue.tell_if_empty();
    return timer.take_task();
}

nanoseconds timer_queue::delay_of(const future_core& timer) {
    const timer_gate::visit at{timer};
    return at ? difference(timer.when.time_since_epoch(), at.queue().now().time_since_epoch())
              : nanoseconds::zero();
}

}  // namespace spool::inline v1::detail
