#include "schedule/timer_gate.hpp"

#include <utility>

namespace spool::inline v1::detail {
namespace {

constinit mutex list_mutex;
constinit timer_gate* unused SPOOL_GUARDED_BY(list_mutex) = nullptr;  // never freed: see timer_gate
constinit timer_gate* all SPOOL_GUARDED_BY(list_mutex) = nullptr;     // linked by `older`

// A forked child starts without gates: the parent's gates may be locked forever.
void abandon_gates() noexcept {
    list_mutex.assert_held();
    for (timer_gate* gate = std::exchange(all, nullptr); gate != nullptr; gate = gate->older) {
        gate->in_child.abandon(gate);
    }
    unused = nullptr;
}
[[maybe_unused]] const bool joins_forks = join_forks(fork_order::timer_gates, {&list_mutex, abandon_gates});

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
    if (!owner.is_listed() || is_abandoned(owner.address())) {
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
