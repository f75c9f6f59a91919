#include "schedule/timer_gate.hpp"

#include <utility>

#include "base/fork_handlers.hpp"

namespace spool::inline v1::detail {
namespace {

constinit mutex list_mutex;
constinit timer_gate* unused SPOOL_GUARDED_BY(list_mutex) = nullptr;  // never freed: see timer_gate
constinit timer_gate* all SPOOL_GUARDED_BY(list_mutex) = nullptr;     // linked by `older`

// A forked child starts without gates: the parent's gates may be locked forever, and the timers
// behind them are lost.
void lock_list() SPOOL_ACQUIRE(list_mutex) {
    list_mutex.lock();
}
void unlock_list() SPOOL_RELEASE(list_mutex) {
    list_mutex.unlock();
}
void leave_gates_to_parent() SPOOL_RELEASE(list_mutex) {
    for (timer_gate* gate = std::exchange(all, nullptr); gate != nullptr; gate = gate->older) {
        gate->abandoned.abandon(gate);
    }
    unused = nullptr;
    list_mutex.unlock();
}
[[maybe_unused]] const bool watching =
    try_register_fork_handlers(lock_list, unlock_list, leave_gates_to_parent);

}  // namespace

timer_gate& timer_gate::open(timer_queue& queue) {
    timer_gate* gate = nullptr;
    {
        const lock_guard lock{list_mutex};
        gate = unused;
        if (gate != nullptr) {
            unused = gate->next;
        }
    }
    if (gate == nullptr) {
        gate = new timer_gate;
        const lock_guard lock{list_mutex};
        gate->older = std::exchange(all, gate);
    }
    const lock_guard lock{gate->mutex};
    gate->queue = &queue;
    return *gate;
}

void timer_gate::close() noexcept {
    {
        const lock_guard lock{mutex};
        queue = nullptr;
    }
    const lock_guard lock{list_mutex};
    next = std::exchange(unused, this);
}

timer_gate::visit::visit(const timer& t) {
    const future_owner owner = t.owner();
    if (!owner.is_listed() || abandoned_owner::is_abandoned(owner.address())) {
        return;
    }
    auto* const gate = static_cast<timer_gate*>(const_cast<void*>(owner.address()));
    gate->mutex.lock();
    if (t.owner() == owner) {
        gate_ = gate;
    } else {
        gate->mutex.unlock();
    }
}

}  // namespace spool::inline v1::detail
