// group_access: all that a task_group needs of its pool.
#pragma once

#include <chrono>
#include <stop_token>
#include <vector>

#include "pool/admission_path.hpp"
#include "pool/deadlock/deadlock_watch.hpp"
#include "pool/pool.hpp"
#include "pool/worker/task_runner.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "spool/detail/spinning.hpp"

namespace spool::inline v1::detail {

/// Made for one call, as a path is. run_own(), run_stolen() and run_queued() throw what the queue
/// throws; a child throws nothing.
class group_access {
public:
    explicit group_access(const thread_pool_executor& handle) noexcept : pool_(pool_access::of(handle)) {}

    /// The pool's owner id. Another one if the handle has got a new pool in a forked child.
    [[nodiscard]] const void* id() const noexcept { return &pool_; }
    /// The calling thread as a worker of the pool, or null.
    [[nodiscard]] worker* self() const noexcept { return worker_wait_context::of(&pool_); }
    /// True: run_own(), run_stolen() and run_queued() find the children. Otherwise the group must
    /// keep a list of those that it may claim.
    [[nodiscard]] bool finds_children() const noexcept { return pool_.backlog.has_stores(); }
    /// How long a join spins, in search of tasks to help with, before it sleeps.
    [[nodiscard]] std::chrono::nanoseconds spin_time() const noexcept {
        const bool may_spin =
            pool_.config.idle_spin.is_low_latency() ? can_spinning_help() : is_spinning_worthwhile();
        return may_spin ? spin_budget : std::chrono::nanoseconds{0};
    }

    /// Returns false, and leaves `child` unchanged, if the pool refuses it.
    [[nodiscard]] bool try_fork(task& child) const { return admission_path{pool_}.try_fork(child); }

    /// Runs the newest task in the worker's own store, if it is wanted. Otherwise returns false.
    template <class Wanted>
    [[gnu::always_inline]] bool run_own(worker& w, Wanted is_wanted) const {
        const auto run = run_if(w, is_wanted);
        return pool_.backlog.queue().use_own(run);
    }
    /// The same for the oldest task in the store of another worker.
    template <class Wanted>
    bool run_stolen(worker& w, Wanted is_wanted) const {
        const auto run = run_if(w, is_wanted);
        return pool_.backlog.queue().use_other(run);
    }
    /// Runs all wanted tasks of the whole queue; calls `before_each` before each. Returns false if
    /// there are none.
    template <class Wanted, class Before>
    bool run_queued(worker& w, Wanted is_wanted, Before before_each) const {
        std::vector<task> children = pool_.backlog.queue().take_if(is_wanted);
        for (task& child : children) {
            before_each();
            task_runner{pool_}.run_child(w, child);
        }
        return !children.empty();
    }
    /// Runs a child that the group has claimed. The child's queue entry is then stale.
    void run_claimed(worker& w, future_link entry, task& child) const {
        task_runner{pool_}.run_claimed_child(w, entry, child);
    }
    /// Precondition: inside a catch block.
    void report_queue_failure() const noexcept { pool_.config.report_queue_failure(); }

    /// Sleeps, and takes part in the search for deadlocks. \throws deadlock
    wait_result wait(const std::stop_token& stop, deadlock_watch::sleeper sleep) const {
        return deadlock_watch::wait(pool_.watch, blocked_wait::what::group, stop, sleep);
    }

private:
    template <class Wanted>
    [[nodiscard]] auto run_if(worker& w, Wanted is_wanted) const {
        return [this, &w, is_wanted](task& t) {
            const bool wanted = is_wanted(t);
            if (wanted) [[likely]] {
                task_runner{pool_}.run_child(w, t);
            }
            return wanted;
        };
    }

    pool& pool_;
};

}  // namespace spool::inline v1::detail
