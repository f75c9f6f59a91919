// pool_config: what never changes in a pool's life, and where the failures of user code go.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "spool/base/clock_source.hpp"
#include "spool/pool/pool_options.hpp"

namespace spool::inline v1 {

struct pool_config {
    /// Moves its settings out of `options`. `owner`: the pool, as futures and workers name it.
    pool_config(const void* owner, pool_options& options, bool queue_first,
                std::shared_ptr<clock_source> clock);

    const void* const owner;
    const std::string name;
    const std::string label;                  // thread_pool_executor "name"
    const worker_info pool_info;              // for events that happen on no worker
    const std::shared_ptr<pool_hooks> hooks;  // may be null
    const task_decorator decorate;
    const uncaught_policy uncaught;
    const std::shared_ptr<clock_source> clock;  // for due times; null: the real clock
    const spool::idle_spin idle_spin;
    const fork_policy on_fork;
    const deadlock_policy on_deadlock;
    const bool task_times;
    const bool queue_first;  // every task goes through the queue, which knows when it is due

    /// Neither hooks nor clocks look at a task, and what it throws does not end the process.
    [[nodiscard]] bool is_bare() const noexcept {
        return hooks == nullptr && !task_times && !uncaught.terminates();
    }
    /// The time by the clock that the tasks' due times refer to.
    [[nodiscard]] due_time now() const noexcept { return clock ? clock->now() : due_time::clock::now(); }

    /// Reports an exception to `uncaught`, as if it had left the body of the task that runs on this
    /// thread.
    void report(const std::exception_ptr& error) const noexcept;
    /// Precondition: inside a catch block. Reports what a user's queue or comparator threw, for a
    /// call that must go on. Does not report a lack of memory.
    void report_queue_failure() const noexcept;
    /// Calls user code that has no caller to throw to: what it throws goes to `uncaught`. Returns
    /// false if it threw. `where`: a worker_info, or the task_info of the task concerned.
    template <class Where, class F>
    bool guarded(const Where& where, F&& f) const noexcept {
        try {
            f();
            return true;
        } catch (...) {
            uncaught(where, std::current_exception());
            return false;
        }
    }
};

}  // namespace spool::inline v1
