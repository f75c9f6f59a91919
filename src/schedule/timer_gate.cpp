#include "schedule/timer_gate.hpp"

#include <utility>

namespace spool::inline v1::detail {
namespace {

constinit mutex list_mutex;
constinit timer_gate* unused SPOOL_GUARDED_BY(list_mutex) = nullptr;  // never freed: see timer_gate

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

timer_gate::visit::visit(const future_core& timer) {
    const void* const start = timer.start();
    if (start == nullptr || start == future_core::holder_mark() || start == future_core::out_mark()) {
        return;
    }
    auto* const gate = static_cast<timer_gate*>(const_cast<void*>(start));
    gate->mutex.lock();
    if (timer.start() == start) {
        gate_ = gate;
    } else {
        gate->mutex.unlock();
    }
}

}  // namespace spool::inline v1::detail
