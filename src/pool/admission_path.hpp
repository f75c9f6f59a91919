// admission_path: how a task gets into a pool, or is refused.
//
// A template over the pool, so that the models in tests/model explore this very text over parts of
// their own. What no model explores is in admission_path.cpp.
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
// between L1 and L2: task_backlog::synchronize_with_producers().)
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include "pool/lifecycle_path.hpp"
#include "pool/pool.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "pool/worker_path.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/pool/admission.hpp"

namespace spool::inline v1 {

template <class Pool>
class admission_path {
public:
    using task_type = typename Pool::task_type;
    using ticket = typename Pool::ticket;

    explicit admission_path(Pool& pool) noexcept : pool_(pool) {}

    // The fast paths make another admission_path for their slow part. So the address of the first
    // one is taken by no call, and the compiler keeps pool_ in a register.

    /// Consumes the task. \throws what the rejection policy or the factory throws;
    /// std::invalid_argument if the task is empty
    void execute(task_type&& work) {
        if (!pool_.backlog.needs_publication(work)) [[likely]] {
            calls_under_way::entry call = enter_call();
            const ticket mine{work.id(), 0};
            const admitted how = admit(work);
            if (how == admitted::queued) [[likely]] {
                return;
            }
            call.end();
            admission_path{pool_}.finish_or_reject(work, mine, how);
        } else {
            admission_path{pool_}.publish_and_execute(work);
        }
    }
    /// These two move from `work` only if the pool accepts it. `error` becomes what the factory
    /// threw, if that is the reason for a refusal.
    admission_result try_execute(task_type& work, std::exception_ptr& error) {
        const calls_under_way::entry call = enter_call();
        return try_admit(work, error);
    }
    bool try_fork(task_type& child) {
        const calls_under_way::entry call = enter_call();
        if (pool_.backlog.needs_publication(child)) [[unlikely]] {
            return admission_path{pool_}.publish_and_fork(child);
        }
        const ticket mine{child.id(), 0};
        const admitted how = admit(child);
        return how == admitted::queued || admission_path{pool_}.finish_fork(child, mine, how);
    }
    /// try_execute() for a caller that keeps the pool alive.
    admission_result try_admit(task_type& work, std::exception_ptr& error) {
        const ticket mine = pool_.backlog.publish(work);
        const admitted how = admit_or_recover(work);
        return how == admitted::queued ? admission_result::accepted : finish(work, mine, how, error);
    }
    /// try_admit() that waits for room. \throws interrupted; deadlock
    admission_result execute_until(task_type& work, deadline until, const std::stop_token& stop);
    void execute_all(std::span<task> work);
    /// Requeues a task of this pool that runs again. Returns false if the task may not run again;
    /// `work` is then untouched.
    bool requeue(task_type& work, function_ref<bool(run_state)> may_run);
    /// Offers a published task again.
    admission_result readmit(task_type& work, std::exception_ptr& error) {
        return admit_below_core(work, pool_.backlog.ticket_of(work), error);
    }
    /// The same without growth: returns false, and leaves `work` with the caller, if the queue
    /// refuses it.
    bool try_requeue(task_type& work);
    bool remove(task_id id);
    std::size_t purge();

    // ---- The steps

    /// How far admit() got.
    enum class admitted {
        queued,      // done
        below_core,  // nothing was done: go on with admit_below_core()
        refused,     // by the queue: go on with grow_or_refuse()
        look_again,  // the task is in the queue, but the pool has changed: go on with recheck()
    };
    /// The common case: the pool accepts tasks and has its core workers, at least one, and the queue
    /// takes the task. Precondition: the task is published.
    admitted admit(task_type& work) {
        const auto seen = pool_.control.observe();
        const pool_control before = seen.now();
        const admission::sizes now{.core = pool_.settings.core_size()};
        // With a core size of 0 there may be no worker: recheck() starts one after the offer.
        if (before.workers == 0 || admission::on_arrival(before, now) != admission::arrival::offer) {
            return admitted::below_core;
        }
        if (!pool_.backlog.offer(work)) {  // E1
            return admitted::refused;
        }
        SPOOL_PAUSE_POINT("execute: offered, second look to come");
        return pool_.control.is_still(seen) ? admitted::queued : admitted::look_again;  // E2
    }
    /// Goes on where admit() stopped. A task that is refused is withdrawn.
    admission_result finish(task_type& work, ticket mine, admitted how, std::exception_ptr& error);

private:
    // Brackets the part of a call that reads the pool when the task may already have run.
    [[nodiscard]] calls_under_way::entry enter_call() noexcept {
        return {pool_.calls, [this] { return worker_wait_context::of(&pool_) == nullptr; }};
    }
    void publish_and_execute(task_type& work);
    bool publish_and_fork(task_type& child);
    void finish_or_reject(task_type& work, ticket mine, admitted how);
    bool finish_fork(task_type& child, ticket mine, admitted how);
    // Offers the task. If the queue throws, withdraws the task and rethrows; but if the queue holds
    // the task all the same, or a waiter has claimed it, the task is in.
    bool offer(task_type& work) {
        try {
            return pool_.backlog.offer(work);
        } catch (...) {
            if (pool_.backlog.try_recover(work)) {
                throw;
            }
            pool_.config.report_queue_failure();
            return true;
        }
    }
    // admit() with the same care.
    admitted admit_or_recover(task_type& work) {
        try {
            return admit(work);
        } catch (...) {
            if (pool_.backlog.try_recover(work)) {
                throw;
            }
            pool_.config.report_queue_failure();
            return admitted::look_again;
        }
    }
    admission_result admit_below_core(task_type& work, ticket mine, std::exception_ptr& error);
    admission_result grow_or_refuse(task_type& work, std::exception_ptr& error);
    admission_result recheck(task_type& work, ticket mine, std::exception_ptr& error);
    std::optional<task_type> take_back_if_possible(ticket wanted) noexcept;
    std::size_t offer_some(std::span<task> work);
    start_result try_start(task_type* first, start_bound limit, std::exception_ptr& error) {
        return worker_path<Pool>{pool_}.try_start(first, limit, error);
    }
    void try_terminate() { lifecycle_path<Pool>{pool_}.try_terminate(); }

    Pool& pool_;
};

// ---- After admit()

template <class Pool>
[[gnu::noinline]] admission_result admission_path<Pool>::finish(task_type& work, ticket mine, admitted how,
                                                                std::exception_ptr& error) {
    admission_result answer = admission_result::accepted;
    switch (how) {
        case admitted::queued: break;
        case admitted::below_core: answer = admit_below_core(work, mine, error); break;
        case admitted::refused: answer = grow_or_refuse(work, error); break;
        case admitted::look_again: answer = recheck(work, mine, error); break;
    }
    // If a waiter has claimed the body meanwhile, the pool has accepted the task.
    return answer == admission_result::accepted || pool_.backlog.try_withdraw(work)
               ? answer
               : admission_result::accepted;
}

template <class Pool>
admission_result admission_path<Pool>::admit_below_core(task_type& work, ticket mine,
                                                        std::exception_ptr& error) {
    switch (admission::on_arrival(pool_.control.load(), pool_.settings.sizes())) {  // step 1
        case admission::arrival::reject_shut_down: return admission_result::shut_down;
        case admission::arrival::start_worker:
            switch (try_start(&work, start_bound::core_size, error)) {
                case start_result::started: return admission_result::accepted;
                case start_result::not_allowed: break;  // lost a race: core full, or shut down
                case start_result::failed:
                    if (pool_.control.load().workers == 0) {
                        return admission_result::no_thread;
                    }
                    break;  // another worker will dequeue the task
            }
            break;
        case admission::arrival::offer: break;
    }
    if (!accepts_tasks(pool_.control.load().state)) {
        return admission_result::shut_down;
    }
    if (!offer(work)) {  // step 2, E1
        return grow_or_refuse(work, error);
    }
    return recheck(work, mine, error);
}

// Step 3, after the queue refused the task.
template <class Pool>
admission_result admission_path<Pool>::grow_or_refuse(task_type& work, std::exception_ptr& error) {
    for (;;) {
        SPOOL_PAUSE_POINT("execute: refused by the queue");
        switch (admission::after_refusal(pool_.control.load(), pool_.settings.sizes())) {
            case admission::refused::reject_full: return admission_result::full;
            case admission::refused::reject_shut_down: return admission_result::shut_down;
            case admission::refused::start_worker: break;
        }
        switch (try_start(&work, start_bound::maximum_size, error)) {
            case start_result::started: return admission_result::accepted;
            case start_result::failed: return admission_result::no_thread;
            case start_result::not_allowed: break;  // the pool has changed: decide again
        }
    }
}

// The second half of the handshake, after a successful offer.
template <class Pool>
admission_result admission_path<Pool>::recheck(task_type& work, ticket mine, std::exception_ptr& error) {
    SPOOL_PAUSE_POINT("execute: offered");
    const admission::sizes now = pool_.settings.sizes();
    switch (admission::after_offer(pool_.control.load(), now)) {  // E2
        case admission::offered::done: return admission_result::accepted;
        case admission::offered::take_back:
            if (auto back = take_back_if_possible(mine)) {
                work = *std::move(back);
                try_terminate();  // the pool may have waited for this very entry
                return admission_result::shut_down;
            }
            // A worker has the task, or shutdown_now() handed it back.
            return admission_result::accepted;
        case admission::offered::start_worker: break;
    }
    const start_bound limit = now.queue_first ? start_bound::core_size_or_one : start_bound::maximum_size;
    if (try_start(nullptr, limit, error) == start_result::failed && pool_.control.load().workers == 0) {
        if (auto back = take_back_if_possible(mine)) {
            work = *std::move(back);
            // Other submitters may have relied on that worker.
            worker_path<Pool>{pool_}.retry_start_for_queued();
            try_terminate();  // the pool may have waited for this entry
            return admission_result::no_thread;
        }
    }
    return admission_result::accepted;
}

// A task is accepted or not, never in between. If the queue throws twice, the task stays in the
// queue and counts as accepted. A pool that has ended meanwhile destroys the task with its queue,
// as it does with tasks that shutdown_now() could not drain.
template <class Pool>
auto admission_path<Pool>::take_back_if_possible(ticket wanted) noexcept -> std::optional<task_type> {
    for (int tries = 0; tries < 2; ++tries) {
        try {
            return pool_.backlog.take_back(wanted);
        } catch (...) {
            pool_.config.report_queue_failure();
        }
    }
    return std::nullopt;
}

extern template class admission_path<detail::pool>;

}  // namespace spool::inline v1
