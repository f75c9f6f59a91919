// pool_steps: the steps that must agree with each other. They are the steps of execute(), of a
// worker that looks for tasks and leaves, of shutdown() and of termination. A template over the
// control word and the pool around it, so that the models in tests/model run this very text.
//
// THE HANDSHAKE
//
//     execute()                          shutdown(), a worker that leaves
//     E1  offer the task                 L1  change the control word
//     E2  look at the control word       L2  look at the queue
//
// All four are seq_cst, so at least one side sees the other. Either E2 sees that the pool is shut
// down, or that no worker is left, and execute() takes the task back or starts a worker. Or L2 sees
// the task, and a worker stays for it. (Where E1 ends in a light barrier, a heavy barrier comes
// between L1 and L2: settle_queue().)
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

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "spool/detail/pause_point.hpp"
#include "spool/pool/admission.hpp"
#include "spool/pool/run_state.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/sync/wait_limits.hpp"

namespace spool::inline v1 {

enum class start_result { started, not_allowed, failed };
enum class quick_result {
    accepted,
    not_simple,  // nothing was done: take the slow path from its beginning
    refused,     // by the queue: continue with refused_by_queue()
    look_again,  // the task is in the queue, but the pool has changed: continue with recheck()
};
enum class start_bound { core_size, core_size_or_one, maximum_size };

/// Control: a control_word. Host: the pool; the text below shows which members it must have.
template <class Control, class Host>
class pool_steps {
public:
    pool_steps(Control& control, Host& host) noexcept : control_(control), host_(host) {}

    // ---- A task arrives

    template <class Task, class Error>
    admission_result admit(Task& work, Error& start_error) {
        const auto mine = host_.ticket_of(work);
        switch (admission::on_arrival(control(), host_.sizes())) {  // step 1
            case admission::arrival::reject_shut_down: return admission_result::shut_down;
            case admission::arrival::start_worker:
                switch (host_.start_worker(&work, start_bound::core_size, start_error)) {
                    case start_result::started: return admission_result::accepted;
                    case start_result::not_allowed: break;  // lost a race: core full, or shut down
                    case start_result::failed:
                        if (control().workers == 0) {
                            return admission_result::no_thread;
                        }
                        break;  // another worker will dequeue the task
                }
                break;
            case admission::arrival::offer: break;
        }
        if (!accepts_tasks(control().state)) {
            return admission_result::shut_down;
        }
        if (!host_.offer(work)) {  // step 2, E1
            return refused_by_queue(work, start_error);
        }
        return recheck(work, mine, start_error);
    }

    /// Fast path, for a plain task in a pool without queue_first: the pool has its core workers,
    /// and the queue takes the task. Makes the decisions of admit().
    template <class Task>
    quick_result admit_quickly(Task& work) {
        if (admission::on_arrival(control(), {.core = host_.core_size()}) != admission::arrival::offer) {
            return quick_result::not_simple;
        }
        if (!host_.offer(work)) {  // E1
            return quick_result::refused;
        }
        SPOOL_PAUSE_POINT("execute: offered quickly");
        const pool_control again = control();  // E2
        return admission::after_offer(again) == admission::offered::done ? quick_result::accepted
                                                                         : quick_result::look_again;
    }

    /// Step 3, after the queue refused the task.
    template <class Task, class Error>
    admission_result refused_by_queue(Task& work, Error& start_error) {
        for (;;) {
            SPOOL_PAUSE_POINT("execute: refused by the queue");
            switch (admission::after_refusal(control(), host_.sizes())) {
                case admission::refused::reject_full: return admission_result::full;
                case admission::refused::reject_shut_down: return admission_result::shut_down;
                case admission::refused::start_worker: break;
            }
            switch (host_.start_worker(&work, start_bound::maximum_size, start_error)) {
                case start_result::started: return admission_result::accepted;
                case start_result::failed: return admission_result::no_thread;
                case start_result::not_allowed: break;  // the pool has changed: decide again
            }
        }
    }

    /// The second half of the handshake, after a successful offer.
    template <class Task, class Ticket, class Error>
    admission_result recheck(Task& work, const Ticket& mine, Error& start_error) {
        SPOOL_PAUSE_POINT("execute: offered");
        const admission::sizes now = host_.sizes();
        switch (admission::after_offer(control(), now)) {  // E2
            case admission::offered::done: return admission_result::accepted;
            case admission::offered::take_back:
                if (auto back = host_.take_back_if_possible(mine)) {
                    work = *std::move(back);
                    host_.try_terminate();  // the pool may have waited for this very entry
                    return admission_result::shut_down;
                }
                // A worker has the task, or shutdown_now() handed it back.
                return admission_result::accepted;
            case admission::offered::start_worker: break;
        }
        const start_bound limit = now.queue_first ? start_bound::core_size_or_one : start_bound::maximum_size;
        Task* const none = nullptr;
        if (host_.start_worker(none, limit, start_error) == start_result::failed && control().workers == 0) {
            if (auto back = host_.take_back_if_possible(mine)) {
                work = *std::move(back);
                host_.try_for_the_stranded();  // those of others, who relied on that worker
                host_.try_terminate();         // the pool may have waited for this entry
                return admission_result::no_thread;
            }
        }
        return admission_result::accepted;
    }

    // ---- A worker is started

    /// Moves from `*first` only if it returns `started`.
    template <class Task, class Error>
    start_result start_worker(Task* first, start_bound limit, Error& error) {
        for (pool_control seen = control();;) {
            const admission::sizes now = host_.sizes();
            const bool queue_empty = accepts_tasks(seen.state) || host_.queue_is_empty();
            const std::size_t most = limit == start_bound::maximum_size ? now.maximum
                                     : limit == start_bound::core_size_or_one
                                         ? std::max<std::size_t>(now.core, 1)
                                         : now.core;
            if (!admission::may_start(seen, most, first != nullptr, queue_empty)) {
                return start_result::not_allowed;
            }
            if (control_.try_add_worker(seen)) {
                break;
            }
        }
        SPOOL_PAUSE_POINT("start: counted in");
        const start_result result = host_.launch(first, error);
        if (result != start_result::started) {  // roll back
            SPOOL_PAUSE_POINT("start: about to roll back");
            control_.release_worker();
            host_.tell_of_free_place();
            if (first != nullptr) {
                host_.try_for_the_stranded();
            }
            host_.try_terminate();
        }
        return result;
    }

    // ---- A worker looks for a task

    /// Gets the next task into `turn`. Returns false if the worker must leave; the worker is then
    /// counted out already. A worker leaves when
    ///   1. the pool is stopping,
    ///   2. the pool is shutting down and the queue is empty,
    ///   3. there are more workers than the maximum,
    ///   4. it has been idle for the keep-alive, and the keep-alive applies to it;
    /// for 3 and 4 only if other workers are left or the queue is empty.
    template <class Turn>
    bool fetch(Turn& turn) {
        bool timed_out = false;
        for (;;) {
            // Reads the version first: the worker notices a later change before its next sleep.
            const auto version = host_.settings_version();
            const admission::sizes now = host_.sizes();
            pool_control seen = control();
            const bool queue_matters = !accepts_tasks(seen.state) || timed_out || seen.workers > now.maximum;
            const bool queue_empty = queue_matters && host_.queue_empty();
            if (admission::must_leave(seen, queue_empty) ||
                admission::may_leave(seen, now, timed_out, queue_empty)) {
                SPOOL_PAUSE_POINT("fetch: about to be counted out");
                if (control_.try_leave(seen)) {  // D1, L1
                    return false;
                }
                continue;
            }
            if (std::exchange(timed_out, false)) {
                turn.has_to_stay();
            }
            if (turn.poll()) {
                return true;
            }
            // pair (S): a thread that changes one of these words wakes the consumers afterwards
            const auto look_again = [&] {
                const run_state state = control().state;
                return state != seen.state || host_.settings_version() != version ||
                       (!accepts_tasks(state) && host_.queue_empty());
            };
            SPOOL_PAUSE_POINT("fetch: about to wait");
            const wait_result how = turn.wait(admission::waits_with_limit(seen, now), look_again);
            if (how == wait_result::ready) {
                return true;
            }
            timed_out = how == wait_result::timed_out;
        }
    }

    // ---- A worker leaves

    /// Precondition: the worker is counted out and departing. If too few workers are left (a task
    /// was queued at the last moment, the core size was raised), the worker counts itself in again
    /// and carries on: that needs no new thread. Returns whether it did.
    bool stays() {
        host_.settle_queue();
        for (pool_control seen = control();;) {
            SPOOL_PAUSE_POINT("leave: counted out");
            const bool queue_empty = host_.queue_is_empty();  // L2
            const std::size_t least = admission::least_workers(host_.sizes(), queue_empty);
            if (!admission::may_start(seen, least, false, queue_empty)) {
                return false;
            }
            if (control_.try_come_back(seen)) {
                return true;
            }
        }
    }
    /// For a worker that died of an exception. Returns true if the worker must end: the pool does
    /// not need it, or a successor has taken its place in the count. Returns false if no successor
    /// could be started; the worker then carries on.
    template <class Launch>
    bool hands_over(Launch&& successor) {
        for (pool_control seen = control();
             admission::must_leave(seen, host_.queue_is_empty()) || seen.workers > host_.sizes().maximum;) {
            if (control_.try_leave(seen)) {  // D1
                return true;
            }
        }
        control_.begin_departure();  // D1
        SPOOL_PAUSE_POINT("leave: about to hand over");
        if (successor() == start_result::started) {
            return true;
        }
        control_.end_departure();
        return false;
    }
    void departed() {
        SPOOL_PAUSE_POINT("leave: off the list");
        control_.end_departure();  // D3
        host_.tell_of_free_place();
        SPOOL_PAUSE_POINT("leave: about to terminate");
        host_.try_terminate();
    }

    // ---- The pool ends

    template <class Task, class Error>
    void shutdown(Task* none, Error& error) {
        control_.advance_to(run_state::shutting_down);  // L1
        SPOOL_PAUSE_POINT("shutdown: moved");
        host_.settle_queue();
        host_.on_shutdown();
        host_.wake_everybody();
        // A pool built on a queue that held tasks may have no worker to run them.
        if (control().workers == 0 && !host_.queue_is_empty() &&  // L2
            host_.start_worker(none, start_bound::maximum_size, error) != start_result::started) {
            host_.try_for_the_stranded();
        }
        host_.try_terminate();
    }

    /// Returns true to exactly one caller, which must end the pool. The state is then tidying.
    [[nodiscard]] bool try_tidy() {
        for (;;) {
            pool_control seen = control();  // T1
            if (accepts_tasks(seen.state) || seen.state >= run_state::tidying ||
                (seen.state == run_state::shutting_down && !host_.queue_is_empty())) {
                return false;
            }
            if (seen.workers != 0) {
                host_.wake_consumers();  // a waiting worker may have to leave now
                return false;
            }
            SPOOL_PAUSE_POINT("terminate: about to tidy");
            if (control_.try_tidy(seen)) {  // T2
                return true;
            }
            if (control_.somebody_departs()) {
                return false;
            }
        }
    }
    /// The pool is shutting down, and no worker is left, not even a departing one, that would run
    /// the queue or end the pool.
    [[nodiscard]] bool is_stranded() const noexcept {
        return control().state == run_state::shutting_down && control_.at_most(0, 0);
    }

private:
    [[nodiscard]] pool_control control() const noexcept { return control_.load(); }

    Control& control_;
    Host& host_;
};

}  // namespace spool::inline v1
