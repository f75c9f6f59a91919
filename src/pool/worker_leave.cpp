// A worker leaves: it carries on after all, hands its place to a successor, or departs.
#include <algorithm>
#include <utility>

#include "pool/pool.hpp"
#include "pool/worker_wait_context.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {

void detail::pool::depart(worker& w) {
    termination.leave_close(w);  // before `leaving` is set: as a working closer
    w.leaving = true;
    if (config.hooks != nullptr) {
        config.guarded(w.info, [&] { config.hooks->worker_stopped(w.info); });
    }
    run_kept(w);
    // Set by this very thread: the hook has destroyed the pool.
    if (w.stage == worker_stage::let_go) {
        return;
    }
    worker_roster::worker_list ended_before = roster.retire(w);
    termination.leave_close(w);
    detail::hand_over_in_library(this);
    steps().departed();
    worker_roster::join(ended_before);
}

// Wakes submitters that wait for a free place, and a destructor that waits for the last worker.
// pair (S): the count was lowered before.
void detail::pool::tell_of_free_place() noexcept {
    backlog.wake_producers();
    termination.notify();
}

// The queue throws at every call: retries it less and less often, down to once a second.
void detail::pool::back_off() {
    const unsigned failures = backlog.count_poll_failure();
    const std::chrono::milliseconds pause{1U << std::min(failures, 10U)};
    static_cast<void>(termination.await([this] { return !runs_queue(control.load().state); },
                                        {.until = deadline::after(pause)}));
}

}  // namespace spool::inline v1
