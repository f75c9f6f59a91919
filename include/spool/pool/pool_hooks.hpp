// pool_hooks: what a pool calls at the events of its life.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <string>

#include "spool/base/error.hpp"
#include "spool/base/export.hpp"
#include "spool/base/task.hpp"
#include "spool/pool/thread_factory.hpp"

namespace spool::inline v1 {

/// What hooks learn about a task.
struct task_info {
    task_id id = 0;
    int priority = 0;
    const worker_info* worker = nullptr;  ///< null in `rejected`, which the submitting thread calls
    /// From submission to start, and from start to end. Zero without pool_options::task_times.
    std::chrono::nanoseconds waited{0};
    std::chrono::nanoseconds ran{0};
    /// For the user. after_execute and the `uncaught` handler find what before_execute stores here.
    /// The pool drops it after the task, also if after_execute is not called. Each run of a
    /// periodic task begins with none.
    ///
    ///     void before_execute(const spool::task_info& t) override {
    ///         t.user_data = std::make_shared<span>(t.id);
    ///     }
    mutable std::shared_ptr<void> user_data{};
};

/// A class of empty virtual functions: derive from it, override what you need, and pass it as
/// `.hooks = std::make_shared<my_hooks>()`. The pool owns the hooks, and they outlive every worker.
/// (A subclass of the pool would not: it is destroyed before its base joins the workers.)
///
/// Several threads may call each hook at once, with no lock held. before_execute, after_execute and
/// worker_* run on the worker. before_execute and after_execute run with the task's stop token, so
/// that a pause there ends at shutdown_now(). What a hook throws goes to the pool's `uncaught`;
/// after before_execute and after_execute the worker is then replaced. What `rejected` throws goes
/// to the submitter.
///
/// A hook may call every member of its pool, and close or destroy the pool: the rest of the queue
/// then runs inside the hook, as it would inside a task. Only `terminated` must not wait for the
/// termination, which it is a part of: without a limit that throws std::logic_error.
class SPOOL_API pool_hooks {
public:
    pool_hooks() = default;
    pool_hooks(const pool_hooks&) = delete;
    pool_hooks& operator=(const pool_hooks&) = delete;
    virtual ~pool_hooks();

    /// Before the body. If it throws, the pool skips the body and after_execute, and cancels the
    /// task's future.
    virtual void before_execute(const task_info&) {}
    /// After the body. `thrown` is the exception that left the body, or null. It is always null for
    /// the task of a future, which keeps its exception.
    virtual void after_execute(const task_info&, const std::exception_ptr& thrown);
    virtual void worker_started(const worker_info&) {}
    virtual void worker_stopped(const worker_info&) {}
    /// A task was refused, discarded or evicted from the queue. Called on the thread that did so.
    virtual void rejected(const task_info&, rejection_reason) {}
    /// Once, after the last worker has left.
    virtual void terminated() {}
};

}  // namespace spool::inline v1
