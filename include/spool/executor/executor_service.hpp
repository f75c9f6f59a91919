// executor_service: an executor with a lifecycle, and futures.
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/executor/executor.hpp"
#include "spool/executor/invoke.hpp"
#include "spool/executor/submit.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1 {

/// An executor that can be shut down and that returns futures.
///
///                    | running | shutdown() called   | shutdown_now() called  | terminated
///    execute, submit | accept  | reject              | reject                 | reject
///    queued tasks    | run     | run                 | handed back            | none
///    running tasks   | run     | run                 | asked to stop          | none
///    await_...       | waits   | waits               | waits                  | true
///
/// A derived class implements execute() and the five pure virtual lifecycle functions; this class
/// provides the rest.
///
/// Thread safety: any thread may call any member, also a task of the service.
/// Memory ordering: what a thread did before submitting is visible to the task. What the tasks did
/// is visible after await_termination() returned true.
class SPOOL_API executor_service : public executor {
public:
    ~executor_service() override;

    // ---- Lifecycle

    /// Rejects new tasks from now on; runs the tasks that it has.
    virtual void shutdown() = 0;
    /// The same, but requests stop of every running task, and returns the tasks that have not
    /// started, in order. Destroying such a task cancels its future. As long as the caller keeps
    /// the list, those futures stay pending, and their waiters keep waiting. (Not [[nodiscard]]:
    /// dropping the list, which cancels the futures, is the common use.)
    virtual std::vector<task> shutdown_now() = 0;
    [[nodiscard]] virtual bool is_shutdown() const = 0;
    /// True after shutdown, once every task has ended.
    [[nodiscard]] virtual bool is_terminated() const = 0;
    /// True if the service is shut down but not terminated yet.
    [[nodiscard]] virtual bool is_terminating() const { return is_shutdown() && !is_terminated(); }

    /// Waits for is_terminated(). True if that came in time. \throws interrupted
    virtual bool await_termination_until(deadline until, std::stop_token stop) = 0;
    template <class Rep, class Period>
    bool await_termination(std::chrono::duration<Rep, Period> timeout) {
        return is_terminated() || await_termination(timeout, this_task::stop_token());
    }
    template <class Rep, class Period>
    bool await_termination(std::chrono::duration<Rep, Period> timeout, std::stop_token stop) {
        return await_termination_until(deadline::after(timeout), std::move(stop));
    }

    /// Calls shutdown(), then waits without limit. If the current task's stop is requested
    /// meanwhile, calls shutdown_now() and still waits to the end.
    virtual void close();

    // ---- Futures

    /// Runs `f`; the future delivers what `f` returns or throws. `f` may take the task's stop
    /// token.
    /// \throws rejected_execution; std::invalid_argument if `f` is empty
    template <task_callable F>
    [[nodiscard]] future<task_result_t<F>> submit(F&& f) {
        return spool::submit(*this, std::forward<F>(f));
    }
    /// The same, and a stop request on `stop` cancels the future; see spool::submit.
    template <task_callable F>
    [[nodiscard]] future<task_result_t<F>> submit(std::stop_token stop, F&& f) {
        return spool::submit(*this, std::move(stop), std::forward<F>(f));
    }
    template <task_callable F>
    void submit(F&& f, std::stop_token stop) = delete;  // write submit(stop, f)
    /// Runs `f` and discards its return value; the future delivers `value`. `value` is not an
    /// argument of `f`: to pass arguments, capture them.
    template <task_callable F, class V>
    [[nodiscard]] future<std::decay_t<V>> submit(F&& f, V&& value) {
        return spool::submit(*this, std::forward<F>(f), std::forward<V>(value));
    }

    /// Runs all tasks and waits for all of them; see spool::invoke_all.
    template <task_range Range>
    [[nodiscard]] auto invoke_all(Range&& range) {
        return spool::invoke_all(*this, std::forward<Range>(range));
    }
    template <task_range Range, class Rep, class Period>
    [[nodiscard]] auto invoke_all(Range&& range, std::chrono::duration<Rep, Period> timeout) {
        return spool::invoke_all(*this, std::forward<Range>(range), timeout);
    }

    /// Submits all tasks and returns their futures, in order; see spool::submit_all.
    template <task_range Range>
    [[nodiscard]] auto submit_all(Range&& range) {
        return spool::submit_all(*this, std::forward<Range>(range));
    }

    /// Returns the result of the first task to succeed; see spool::invoke_any.
    template <task_range Range>
    auto invoke_any(Range&& range) -> range_result_t<Range> {
        return spool::invoke_any(*this, std::forward<Range>(range));
    }
    template <task_range Range, class Rep, class Period>
    auto invoke_any(Range&& range, std::chrono::duration<Rep, Period> timeout) -> range_result_t<Range> {
        return spool::invoke_any(*this, std::forward<Range>(range), timeout);
    }
};

/// How shutdown_and_await() ended.
struct shutdown_report {
    std::vector<task> never_ran;  ///< returned by shutdown_now()
    bool terminated;              ///< false: a task still runs and ignores its stop request
};

/// Shuts a service down in two phases. The first calls shutdown() and waits up to `grace` for
/// queued and running tasks. The second calls shutdown_now() and waits up to `stop_grace` for the
/// tasks that it asked to stop. An interruption of the first wait starts the second phase; the
/// second wait then ends at once, because the stop stays requested. Does not throw interrupted: the
/// report tells the outcome.
///
///     auto end = spool::shutdown_and_await(pool, 5s, 1s);
///     if (!end.terminated) { log("a task does not stop"); }
[[nodiscard]] SPOOL_API shutdown_report shutdown_and_await(executor_service& service,
                                                           std::chrono::nanoseconds grace,
                                                           std::chrono::nanoseconds stop_grace);

template <class Rep1, class Period1, class Rep2, class Period2>
[[nodiscard]] shutdown_report shutdown_and_await(executor_service& service,
                                                 std::chrono::duration<Rep1, Period1> grace,
                                                 std::chrono::duration<Rep2, Period2> stop_grace) {
    return shutdown_and_await(service, saturated(grace), saturated(stop_grace));
}

}  // namespace spool::inline v1
