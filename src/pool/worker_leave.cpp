// A worker leaves: it carries on after all, hands its place to a successor, or departs.
#include <algorithm>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {

void thread_pool_executor::core::depart(worker& w) {
    forget_closer(w);  // before `leaving` is set: as a working closer
    w.leaving = true;
    if (hooks_ != nullptr) {
        guarded(w.info, [&] { hooks_->worker_stopped(w.info); });
    }
    run_kept(w);
    // Set by this very thread: the hook has destroyed the pool.
    if (w.stage == worker_stage::let_go) {
        return;
    }
    worker_roster::worker_list ended_before = roster_.retire(w);
    forget_closer(w);
    detail::hand_over_in_library(this);
    steps().departed();
    worker_roster::join(ended_before);
}

void thread_pool_executor::core::forget_closer(worker& w) noexcept {
    if (std::exchange(w.closing, false)) {
        closers_like(w).fetch_sub(1);
    }
}

// Wakes submitters that wait for a free place, and a destructor that waits for the last worker.
// pair (S): the count was lowered before.
void thread_pool_executor::core::tell_of_free_place() noexcept {
    backlog_.wake_producers();
    changed_.notify_all();
}

// The queue throws at every call: retries it less and less often, down to once a second.
void thread_pool_executor::core::back_off() {
    const unsigned failures = backlog_.count_poll_failure();
    const std::chrono::milliseconds pause{1U << std::min(failures, 10U)};
    static_cast<void>(
        changed_.await([this] { return !runs_queue(control().state); }, {.until = deadline::after(pause)}));
}

void thread_pool_executor::core::report(const std::exception_ptr& error) const noexcept {
    const worker* const self = self_service::of(*this);
    if (self == nullptr) {
        uncaught(pool_info_, error);
    } else {
        const task_id id = self->current.load(std::memory_order_relaxed);  // relaxed, owner
        uncaught(task_info{.id = id, .worker = &self->info}, error);
    }
}

}  // namespace spool::inline v1
