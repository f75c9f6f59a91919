// group_access: all that a task_group needs of its pool.
#pragma once

#include <chrono>
#include <stop_token>
#include <vector>

#include "pool/admission_path.hpp"
#include "pool/deadlock/deadlock_watch.hpp"
#include "pool/group/guest.hpp"
#include "pool/pool.hpp"
#include "pool/worker/task_runner.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "spool/detail/spinning.hpp"

namespace spool::inline v1::detail {

/// The thread that runs children: a worker, or a guest.
struct child_runner {
    worker* as_worker;
    group_guest* as_guest;

    [[gnu::always_inline]] void run(pool& p, task& child) const {
        if (as_worker != nullptr) [[likely]] {
            task_runner{p}.run_child(*as_worker, child);
        } else {
            as_guest->run(child);
        }
    }
};

/// Made for one call, as a path is. run_own(), run_stolen() and run_queued() throw what the queue
/// throws; a child throws nothing.
class group_access {
public:
    explicit group_access(const thread_pool_executor& handle) noexcept : pool_(pool_access::of(handle)) {}

    /// The pool's owner id. Another one if the handle has got a new pool in a forked child.
    [[nodiscard]] const void* id() const noexcept { return &pool_; }
    /// The calling thread as a worker of the pool, or null.
    [[nodiscard]] worker* self() const noexcept { return worker_wait_context::of(&pool_); }
    /// The calling thread becomes a guest. Null: it cannot.
    [[nodiscard]] group_guest* enter() const noexcept {
        return group_guest::enter(&pool_, pool_.backlog.queue());
    }
    /// True: run_own(), run_stolen() and run_queued() find the children. Otherwise the group must
    /// keep a list of those that it may claim.
    [[nodiscard]] bool finds_children() const noexcept { return pool_.backlog.has_stores(); }
    /// How long a join spins, in search of tasks to help with, before it sleeps.
    [[nodiscard]] std::chrono::nanoseconds spin_time() const noexcept {
        const bool may_spin =
            pool_.config.idle_spin.is_low_latency() ? can_spinning_help() : is_spinning_worthwhile();
        return may_spin ? spin_budget : std::chrono::nanoseconds{0};
    }

    /// Whether the children that the calling thread forks are meant for other threads.
    void expose_own(bool exposes) const noexcept { pool_.backlog.queue().expose_own(exposes); }
    /// Returns false, and leaves `child` unchanged, if the pool refuses it.
    [[nodiscard]] bool try_fork(task& child) const { return admission_path{pool_}.try_fork(child); }

    /// Runs the newest task in the thread's own store, if it is wanted. Otherwise returns false.
    template <class Wanted>
    [[gnu::always_inline]] bool run_own(child_runner by, Wanted is_wanted) const {
        const auto run = run_if(by, is_wanted);
        return pool_.backlog.queue().use_own(run);
    }
    /// The same for the oldest task in the store of another thread.
    template <class Wanted>
    bool run_stolen(child_runner by, Wanted is_wanted) const {
        const auto run = run_if(by, is_wanted);
        return pool_.backlog.queue().use_other(run);
    }
    /// Runs all wanted tasks of the whole queue; calls `before_each` before each. Returns false if
    /// there are none.
    template <class Wanted, class Before>
    bool run_queued(child_runner by, Wanted is_wanted, Before before_each) const {
        std::vector<task> children = pool_.backlog.queue().take_if(is_wanted);
        for (task& child : children) {
            before_each();
            by.run(pool_, child);
        }
        return !children.empty();
    }
    /// Runs a child that the group has claimed. The child's queue entry is then stale.
    void run_claimed(child_runner by, future_link entry, task& child) const {
        if (by.as_worker != nullptr) {
            task_runner{pool_}.run_claimed_child(*by.as_worker, entry, child);
            return;
        }
        try {
            pool_.backlog.add_stale_entry();
        } catch (...) {
            report_queue_failure();
        }
        by.as_guest->run(child);
    }
    /// Precondition: inside a catch block.
    void report_queue_failure() const noexcept { pool_.config.report_queue_failure(); }

    /// Sleeps, and takes part in the search for deadlocks. \throws deadlock
    wait_result wait(const std::stop_token& stop, deadlock_watch::sleeper sleep) const {
        return deadlock_watch::wait(pool_.watch, blocked_wait::what::group, stop, sleep);
    }

private:
    template <class Wanted>
    [[nodiscard]] auto run_if(child_runner by, Wanted is_wanted) const {
        return [this, by, is_wanted](task& t) {
            const bool wanted = is_wanted(t);
            if (wanted) [[likely]] {
                by.run(pool_, t);
            }
            return wanted;
        };
    }

    pool& pool_;
};

}  // namespace spool::inline v1::detail
