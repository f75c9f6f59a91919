#include "schedule/timer_gate.hpp"

#include <utility>

namespace spool::inline v1::detail {
namespace {

constinit std::mutex list_mutex;
constinit timer_gate* unused = nullptr;  // never freed: see timer_gate

}  // namespace

timer_gate& timer_gate::open(timer_queue& queue) {
    timer_gate* gate = nullptr;
    {
        const std::lock_guard lock{list_mutex};
        gate = unused;
        if (gate != nullptr) {
            unused = gate->next;
        }
    }
    if (gate == nullptr) {
        gate = new timer_gate;
    }
    const std::lock_guard lock{gate->mutex};
    gate->queue = &queue;
    return *gate;
}

void timer_gate::close() noexcept {
    {
        const std::lock_guard lock{mutex};
        queue = nullptr;
    }
    const std::lock_guard lock{list_mutex};
    next = std::exchange(unused, this);
}

timer_gate::visit::visit(const future_core& timer) {
    const void* const start = timer.start();
    if (start == nullptr || start == future_core::holder_mark() || start == future_core::out_mark()) {
        return;
    }
    gate_ = static_cast<timer_gate*>(const_cast<void*>(start));
    lock_ = std::unique_lock{gate_->mutex};
    if (timer.start() != start) {
        lock_.unlock();
    }
}

}  // namespace spool::inline v1::detail
