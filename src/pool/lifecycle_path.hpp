// lifecycle_path: how a pool ends: shutdown, stop, tidying, termination, and close() on any thread.
//
// A template over the pool, so that the models in tests/model explore this very text over parts of
// their own. What no model explores is in lifecycle_path.cpp.
//
// THE END
//
//     a worker that leaves                 any thread that may have removed the last obstacle
//     D1  leaves the workers' count,       T1  checks: no worker is counted, and no queued task
//         enters the departing count           has to run
//     D2  runs its hook, leaves the list   T2  moves the state to tidying, by one compare-exchange
//     D3  leaves the departing count,          from what T1 saw, with no worker departing; if a
//         then goes to T1                      worker departs, that worker comes to T1
//
// So the end comes once, and after the last worker's D2.
#pragma once

#include <exception>
#include <optional>
#include <stop_token>
#include <vector>

#include "pool/pool.hpp"
#include "pool/worker_path.hpp"
#include "spool/base/deadline.hpp"
#include "spool/base/function_ref.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/pool/run_state.hpp"

namespace spool::inline v1 {

template <class Pool>
class lifecycle_path {
public:
    explicit lifecycle_path(Pool& pool) noexcept : pool_(pool) {}

    void shutdown();
    std::vector<task> shutdown_now();
    /// Ends the pool if nothing is left to do. A thread calls this after it has removed a
    /// worker or a queued task, which may have been the last.
    void try_terminate();
    bool await_termination(deadline until, const std::stop_token& stop);
    void close();
    /// close() for the destructor, which may run inside a task or a hook of this pool.
    void destroy();

private:
    [[nodiscard]] bool try_tidy();
    // The pool is shutting down, and no worker is left, not even a departing one, that would run
    // the queue or end the pool.
    [[nodiscard]] bool is_stranded() const noexcept {
        return pool_.control.load().state == run_state::shutting_down && pool_.control.has_at_most(0, 0);
    }
    void wake_all() noexcept;
    void close_on_worker(worker& w);
    void wait_for_end(const std::stop_token& stop);
    void discard_queue() noexcept;
    void drain_on_caller(const std::stop_token& stop);
    void drain_on_worker(worker& w);
    void run_first(worker& w);
    bool pop_or_report(std::optional<task>& next, const worker_info& where, const wait_limits& limits,
                       function_ref<bool()> give_up);
    void detach_self(worker& w);

    Pool& pool_;
};

template <class Pool>
void lifecycle_path<Pool>::shutdown() {
    pool_.control.advance_to(run_state::shutting_down);  // L1
    SPOOL_PAUSE_POINT("shutdown: moved");
    pool_.backlog.synchronize_with_producers();
    pool_.on_shutdown();
    wake_all();
    // A pool built on a queue that held tasks may have no worker to run them.
    worker_path<Pool> workers{pool_};
    std::exception_ptr error;
    if (pool_.control.load().workers == 0 && !pool_.backlog.is_surely_empty() &&  // L2
        workers.try_start(nullptr, start_bound::maximum_size, error) != start_result::started) {
        workers.retry_start_for_queued();
    }
    try_terminate();
}

// Wakes every thread that may have to check the control word again. pair (S): the word was changed
// before.
template <class Pool>
void lifecycle_path<Pool>::wake_all() noexcept {
    pool_.backlog.wake_consumers();
    pool_.backlog.wake_producers();
    pool_.termination.notify();
}

template <class Pool>
void lifecycle_path<Pool>::try_terminate() {
    if (!try_tidy()) {
        return;
    }
    detail::receive_in_library(&pool_);
    pool_.termination.run_hook(pool_.config);
    detail::hand_over_in_library(&pool_);
    SPOOL_PAUSE_POINT("terminate: about to be terminated");
    pool_.control.advance_to(run_state::terminated);
    pool_.termination.notify();  // pair (S): the control word
}

// Returns true to exactly one caller, which must end the pool. The state is then tidying.
template <class Pool>
bool lifecycle_path<Pool>::try_tidy() {
    for (;;) {
        pool_control seen = pool_.control.load();  // T1
        if (accepts_tasks(seen.state) || seen.state >= run_state::tidying ||
            (seen.state == run_state::shutting_down && !pool_.backlog.is_surely_empty())) {
            return false;
        }
        if (seen.workers != 0) {
            pool_.backlog.wake_consumers();  // a waiting worker may have to leave now
            return false;
        }
        SPOOL_PAUSE_POINT("terminate: about to tidy");
        if (pool_.control.try_tidy(seen)) {  // T2
            return true;
        }
        if (pool_.control.is_any_departing()) {
            return false;
        }
    }
}

extern template class lifecycle_path<detail::pool>;

}  // namespace spool::inline v1
