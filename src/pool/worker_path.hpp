// worker_path: the life of a worker: how it is started, looks for tasks, is replaced and leaves.
//
// A template over the pool, so that the models in tests/model explore this very text over parts of
// their own. What no model explores is in worker_path.cpp.
//
//     try_start()   counted in (control word), enlisted (roster), thread made (factory)
//     work()        fetches tasks and has them run, until it must leave or a task throws
//       leave         D1 counted out; rejoin_if_needed() undoes that
//       died          try_replace_self(): a successor takes over its place in the count
//     depart()      D2 hook and roster, D3 end of the departure (see lifecycle_path.hpp)
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "pool/pool.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/pool/admission.hpp"
#include "spool/pool/run_state.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

template <class Pool>
class lifecycle_path;

enum class start_result { started, not_allowed, failed };
/// How many workers there may be after a start. `any`: for an errand (see try_start()).
enum class start_bound { core_size, core_size_or_one, maximum_size, any };

template <class Pool>
class worker_path {
public:
    using task_type = typename Pool::task_type;

    explicit worker_path(Pool& pool) noexcept : pool_(pool) {}

    // ---- A worker is started

    /// Moves from `*first` only if it returns `started`. `error` becomes what the factory threw. A
    /// worker with an errand runs that task (0: any), if it is queued and due, and leaves.
    start_result try_start(task_type* first, start_bound limit, std::exception_ptr& error,
                           std::optional<task_id> errand = {});
    /// While a start was failing, other submitters may have queued tasks for that worker. No other
    /// worker will run those tasks, so this tries again, up to eight times.
    void retry_start_for_queued();
    /// Starts a core worker that waits for tasks.
    bool prestart();
    /// The core size has become `n`: if that is more than before, starts workers for queued tasks.
    void start_after_raised_core(std::size_t before, std::size_t n);
    /// The factory destroyed the body of the worker without running it.
    void body_dropped(worker& w) noexcept;

    // ---- On the worker's thread

    /// The body of the worker.
    void work(const std::shared_ptr<worker>& self);
    /// Claims a task for the worker. Returns false, and drops the task, if the entry is stale.
    bool try_claim(worker& w, task& next);
    /// The queue throws at every call: pauses, longer and longer, up to a second.
    void back_off();

    // ---- The steps

    /// Gets the next task into `idle`. Returns false if the worker must leave; the worker is then
    /// counted out already. A worker leaves when
    ///   1. the pool is stopping,
    ///   2. the pool is shutting down and the queue is empty,
    ///   3. there are more workers than the maximum,
    ///   4. it has been idle for the keep-alive, and the keep-alive applies to it;
    /// for 3 and 4 only if other workers are left or the queue is empty.
    template <class Idle>
    bool fetch_or_leave(Idle& idle);
    bool rejoin_if_needed();
    bool try_replace_self();
    void end_departure();
    /// Wakes submitters that wait for a free slot, and a destructor that waits for the last worker.
    /// pair (S): the count was lowered before.
    void notify_slot_free() noexcept {
        pool_.backlog.wake_producers();
        pool_.termination.notify();
    }

private:
    start_result launch(task_type* first, std::exception_ptr& error, std::optional<task_id> errand);
    start_result try_launch(task_type* first, std::exception_ptr& error, std::optional<task_id> errand);
    [[nodiscard]] bool may_start(pool_control seen, start_bound limit, bool has_first) const noexcept;

    enum class served { continue_, leave, died, detached };
    bool attach(const worker& w);
    served serve(worker& w, task_scope& scope);
    served serve_errand(worker& w, task_scope& scope);
    served attend(worker& w, task_scope& scope, bool fine);
    bool claim_and_run(worker& w, task_scope& scope, task& next);
    bool fetch(worker& w, task& next);
    bool fetch_slowly(worker& w, task& next);
    void depart(worker& w);
    void admit_again(worker& w, task& first);
    void try_terminate() { lifecycle_path<Pool>{pool_}.try_terminate(); }

    Pool& pool_;
};

// ---- A worker is started

template <class Pool>
start_result worker_path<Pool>::try_start(task_type* first, start_bound limit, std::exception_ptr& error,
                                          std::optional<task_id> errand) {
    for (pool_control seen = pool_.control.load();;) {
        if (!may_start(seen, limit, first != nullptr)) {
            return start_result::not_allowed;
        }
        if (pool_.control.try_add_worker(seen)) {
            break;
        }
    }
    SPOOL_PAUSE_POINT("start: counted in");
    const start_result result = launch(first, error, errand);
    if (result != start_result::started) {  // roll back
        SPOOL_PAUSE_POINT("start: about to roll back");
        pool_.control.release_worker();
        notify_slot_free();
        if (first != nullptr) {
            retry_start_for_queued();
        }
        try_terminate();
    }
    return result;
}

template <class Pool>
bool worker_path<Pool>::may_start(pool_control seen, start_bound limit, bool has_first) const noexcept {
    if (limit == start_bound::any) {
        return runs_queue(seen.state) && seen.workers < largest_pool;
    }
    const admission::sizes now = pool_.settings.sizes();
    const bool queue_empty = accepts_tasks(seen.state) || pool_.backlog.is_surely_empty();
    const std::size_t most = limit == start_bound::maximum_size       ? now.maximum
                             : limit == start_bound::core_size_or_one ? std::max<std::size_t>(now.core, 1)
                                                                      : now.core;
    return admission::may_start(seen, most, has_first, queue_empty);
}

// Precondition: the worker is counted in. The caller must count it out unless `started`. A failure
// is noted while the failed worker is still counted in. So a thread that waits for the end knows of
// the failure by the time it sees no worker.
template <class Pool>
start_result worker_path<Pool>::launch(task_type* first, std::exception_ptr& error,
                                       std::optional<task_id> errand) {
    const start_result result = try_launch(first, error, errand);
    if (result == start_result::failed) {
        pool_.roster.record_start_failure(error);
    } else if (result == start_result::started) {
        pool_.roster.record_start();
    }
    return result;
}

template <class Pool>
start_result worker_path<Pool>::try_launch(task_type* first, std::exception_ptr& error,
                                           std::optional<task_id> errand) {
    decltype(pool_.roster.enlist(first)) w = nullptr;
    try {
        w = pool_.roster.enlist(first);
        if (w == nullptr) {
            return start_result::not_allowed;
        }
        w->errand = errand;
        auto thread = pool_.start_thread(w);
        SPOOL_PAUSE_POINT("start: the thread runs");
        if (pool_.roster.keep_thread(w, std::move(thread))) {
            return start_result::started;
        }
    } catch (...) {
        error = std::current_exception();
        if (w == nullptr) {
            return start_result::failed;
        }
    }
    // A factory may throw, or return nothing, though its thread runs: that thread cannot be joined.
    return pool_.roster.strike_off(*w, first) ? start_result::failed : start_result::started;
}

template <class Pool>
void worker_path<Pool>::retry_start_for_queued() {
    constexpr int enough = 8;
    for (int attempt = 0; attempt < enough; ++attempt) {
        const pool_control c = pool_.control.load();
        if (!runs_queue(c.state) || c.workers != 0 || pool_.backlog.is_surely_empty()) {
            return;
        }
        std::exception_ptr error;
        try_start(nullptr, start_bound::maximum_size, error);
    }
}

// ---- A worker looks for a task

template <class Pool>
template <class Idle>
bool worker_path<Pool>::fetch_or_leave(Idle& idle) {
    bool timed_out = false;
    for (;;) {
        // Reads the version first: the worker notices a later change before its next sleep.
        const auto version = pool_.settings.version();
        const admission::sizes now = pool_.settings.sizes();
        pool_control seen = pool_.control.load();
        const bool queue_matters = !accepts_tasks(seen.state) || timed_out || seen.workers > now.maximum;
        const bool queue_empty = queue_matters && pool_.backlog.is_empty();
        if (admission::must_leave(seen, queue_empty) ||
            admission::may_leave(seen, now, timed_out, queue_empty)) {
            SPOOL_PAUSE_POINT("fetch: about to be counted out");
            if (pool_.control.try_leave(seen)) {  // D1, L1
                return false;
            }
            continue;
        }
        if (std::exchange(timed_out, false)) {
            idle.must_stay();
        }
        if (idle.poll()) {
            return true;
        }
        // pair (S): a thread that changes one of these words wakes the consumers afterwards
        const auto look_again = [&] {
            const run_state state = pool_.control.load().state;
            return state != seen.state || pool_.settings.version() != version ||
                   (!accepts_tasks(state) && pool_.backlog.is_empty());
        };
        SPOOL_PAUSE_POINT("fetch: about to wait");
        const wait_result how = idle.wait(admission::waits_with_limit(seen, now), look_again);
        if (how == wait_result::ready) {
            return true;
        }
        timed_out = how == wait_result::timed_out;
    }
}

// ---- A worker leaves

// Precondition: the worker is counted out and departing. If too few workers are left (a task was
// queued at the last moment, the core size was raised), the worker counts itself in again and
// carries on: that needs no new thread. Returns whether it did.
template <class Pool>
bool worker_path<Pool>::rejoin_if_needed() {
    pool_.backlog.synchronize_with_producers();
    for (pool_control seen = pool_.control.load();;) {
        SPOOL_PAUSE_POINT("leave: counted out");
        const bool queue_empty = pool_.backlog.is_surely_empty();  // L2
        const std::size_t least = admission::least_workers(pool_.settings.sizes(), queue_empty);
        if (!admission::may_start(seen, least, false, queue_empty)) {
            return false;
        }
        if (pool_.control.try_come_back(seen)) {
            return true;
        }
    }
}

// For a worker that died of an exception. Returns true if the worker must end: the pool does not
// need it, or a successor has taken its place in the count. Returns false if no successor could be
// started; the worker then carries on.
template <class Pool>
bool worker_path<Pool>::try_replace_self() {
    for (pool_control seen = pool_.control.load();
         admission::must_leave(seen, pool_.backlog.is_surely_empty()) ||
         seen.workers > pool_.settings.sizes().maximum;) {
        if (pool_.control.try_leave(seen)) {  // D1
            return true;
        }
    }
    pool_.control.begin_departure();  // D1
    SPOOL_PAUSE_POINT("leave: about to hand over");
    std::exception_ptr error;
    if (launch(nullptr, error, std::nullopt) == start_result::started) {
        return true;
    }
    pool_.control.end_departure();
    return false;
}

template <class Pool>
void worker_path<Pool>::end_departure() {
    SPOOL_PAUSE_POINT("leave: off the list");
    pool_.control.end_departure();  // D3
    notify_slot_free();
    SPOOL_PAUSE_POINT("leave: about to terminate");
    try_terminate();
}

extern template class worker_path<detail::pool>;

}  // namespace spool::inline v1
