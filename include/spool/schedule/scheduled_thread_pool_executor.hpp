// scheduled_thread_pool_executor: a pool that runs tasks at a given time.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "spool/base/export.hpp"
#include "spool/executor/submit.hpp"
#include "spool/pool/thread_pool_executor.hpp"
#include "spool/schedule/detail/scheduled_body.hpp"
#include "spool/schedule/scheduled_future.hpp"
#include "spool/schedule/scheduled_pool_options.hpp"

namespace spool::inline v1 {

namespace detail {
class timer_queue;
}

/// A thread_pool_executor whose queue orders by due time. It runs tasks after a delay, at a time,
/// or periodically.
///
///     spool::scheduled_thread_pool_executor timers({.name = "timers", .core_size = 2});
///     auto reminder = timers.schedule([] { return remind(); }, 5min);
///     auto beat = timers.schedule_at_fixed_rate([] { send_heartbeat(); }, 0s, 1s);
///     ...
///     beat.cancel();
///
/// A task never starts before its time. Tasks that are due at the same instant start in submission
/// order. A task of execute() or submit() is due at once; submit() returns a plain future, as in
/// every executor_service. A negative delay counts as zero; a delay too large to add means never.
///
/// Timers are cheap: inserting one takes constant time and one allocation, cancelling one takes
/// constant time. Inserting wakes a thread only if the new timer is the earliest of all. One idle
/// worker sleeps until the next timer is due; the other idle workers sleep without limit.
///
/// Periodic tasks: runs of one task never overlap. An exception from a run is reported to
/// `uncaught` and counted in the future, and the series continues (see periodic_options). The
/// series ends when its future is cancelled, or with the pool.
///
///                     | at shutdown()                           | shutdown_now() | destructor
///    due, not started | runs                                    | handed back    | runs
///    delayed          | runs (run_delayed_after_shutdown)       | handed back    | cancelled
///    periodic         | cancelled (run_periodic_after_shutdown) | handed back    | cancelled
///
/// close() calls shutdown() and waits, so it waits for delayed tasks to come due and run. A
/// periodic task that was handed back runs once if it is called, and ends cancelled.
///
/// Everything else is as in thread_pool_executor: hooks, rejection, counts, nested waits (a worker
/// that waits for a task that is due runs it itself).
class SPOOL_API scheduled_thread_pool_executor : public thread_pool_executor {
public:
    /// \throws std::invalid_argument naming the values, as thread_pool_executor does
    explicit scheduled_thread_pool_executor(scheduled_pool_options options = {});
    /// Cancels the tasks that are not due, then waits for the rest as close() does.
    ~scheduled_thread_pool_executor() override;

    [[nodiscard]] std::string executor_label() const override;

    // ---- Once

    // The schedule functions are not [[nodiscard]]: a timer whose future is dropped is ordinary,
    // and the pool keeps it.

    /// Runs `f` when the delay is over.
    /// \throws rejected_execution after shutdown, by the default policy; std::invalid_argument if
    /// `f` is empty
    template <task_callable F, class Rep, class Period>
    scheduled_future<task_result_t<F>> schedule(F&& f, std::chrono::duration<Rep, Period> delay) {
        return once_at(std::forward<F>(f), due_after(saturated(delay)));
    }

    /// Runs `f` at `when`, or at once if `when` has passed.
    template <task_callable F, class Duration>
    scheduled_future<task_result_t<F>> schedule_at(
        F&& f, std::chrono::time_point<std::chrono::steady_clock, Duration> when) {
        return once_at(std::forward<F>(f), due_time{saturated(when.time_since_epoch())});
    }
    /// The same by the time of day. When the system clock is set, the task follows within a second.
    template <task_callable F, class Duration>
    scheduled_future<task_result_t<F>> schedule_at(
        F&& f, std::chrono::time_point<std::chrono::system_clock, Duration> when) {
        using std::chrono::system_clock;
        const system_clock::time_point wall{
            std::chrono::duration_cast<system_clock::duration>(saturated(when.time_since_epoch()))};
        return at_wall_time(std::forward<F>(f), wall);
    }

    // ---- Periodic

    /// Runs `f` after the initial delay, and then once every period. The period counts from when
    /// each run was due.
    /// \throws std::invalid_argument if the period is not positive or the jitter is negative, and
    /// what schedule() throws
    template <task_callable F, class Rep1, class Period1, class Rep2, class Period2>
    scheduled_future<void> schedule_at_fixed_rate(F&& f, std::chrono::duration<Rep1, Period1> initial_delay,
                                                  std::chrono::duration<Rep2, Period2> period,
                                                  periodic_options options = {}) {
        check_period("schedule_at_fixed_rate", saturated(period), options);
        return periodic(std::forward<F>(f), due_after(saturated(initial_delay)), saturated(period),
                        detail::repetition::fixed_rate, options);
    }
    /// Runs `f` after the initial delay, and then repeatedly, `delay` after the end of each run.
    /// \throws std::invalid_argument if the delay is not positive or the jitter is negative, and
    /// what schedule() throws
    template <task_callable F, class Rep1, class Period1, class Rep2, class Period2>
    scheduled_future<void> schedule_with_fixed_delay(F&& f,
                                                     std::chrono::duration<Rep1, Period1> initial_delay,
                                                     std::chrono::duration<Rep2, Period2> delay,
                                                     periodic_options options = {}) {
        check_period("schedule_with_fixed_delay", saturated(delay), options);
        return periodic(std::forward<F>(f), due_after(saturated(initial_delay)), saturated(delay),
                        detail::repetition::fixed_delay, options);
    }

    // ---- Behaviour after shutdown() and on cancel; changeable at any time

    [[nodiscard]] bool run_delayed_after_shutdown() const noexcept;
    void set_run_delayed_after_shutdown(bool run);
    [[nodiscard]] bool run_periodic_after_shutdown() const noexcept;
    void set_run_periodic_after_shutdown(bool run);
    [[nodiscard]] bool remove_on_cancel() const noexcept;
    void set_remove_on_cancel(bool remove) noexcept;

    /// Removes a waiting task from the queue, in constant time; its future becomes cancelled. False
    /// if the task waits no longer.
    template <class T>
    bool remove(const scheduled_future<T>& f) {
        return take_back(f.state_of("remove"));
    }
    using thread_pool_executor::remove;

protected:
    void on_shutdown() override;
    void reinitialize_after_fork(blocking_queue<task>& queue, const void* pool_id,
                                 requeue_handle way) const override;

private:
    friend class unconfigurable_scheduler;
    class link_to_pool;
    [[nodiscard]] detail::timer_queue& timers() const noexcept;
    [[nodiscard]] const std::shared_ptr<detail::schedule_link>& link() const noexcept;

    [[nodiscard]] due_time due_after(std::chrono::nanoseconds delay) const noexcept;
    [[nodiscard]] due_time expected(std::chrono::system_clock::time_point wall) const noexcept;
    void check_period(const char* call, std::chrono::nanoseconds period,
                      const periodic_options& options) const;
    bool take_back(detail::timer* waiting);

    template <class T, class F>
    scheduled_future<T> put_in(detail::future_body<T, F, detail::timer>* state, due_time due) {
        scheduled_future<T> handle{state};
        // due_time::min() means "no due time".
        state->stamp = std::max(due, due_time::min() + std::chrono::nanoseconds{1});
        thread_pool_executor::execute(detail::timer_runner{*state});
        return handle;
    }

    template <class F>
    scheduled_future<task_result_t<F>> once_at(F&& f, due_time due) {
        using result = task_result_t<F>;
        return detail::with_decoration<result>(*this, std::forward<F>(f), [&]<class G>(G&& g) {
            return put_in(new detail::once_body<result, std::decay_t<G>>(std::forward<G>(g)), due);
        });
    }
    template <class F>
    scheduled_future<task_result_t<F>> at_wall_time(F&& f, std::chrono::system_clock::time_point wall) {
        using result = task_result_t<F>;
        return detail::with_decoration<result>(*this, std::forward<F>(f), [&]<class G>(G&& g) {
            using body = detail::wall_time_body<result, std::decay_t<G>>;
            return put_in(new body(wall, std::forward<G>(g)), expected(wall));
        });
    }
    template <class F>
    scheduled_future<void> periodic(F&& f, due_time first, std::chrono::nanoseconds period,
                                    detail::repetition how, const periodic_options& options) {
        return detail::with_decoration<void>(*this, std::forward<F>(f), [&]<class G>(G&& g) {
            auto* const state = new detail::periodic_body<std::decay_t<G>>(
                std::in_place, std::forward<G>(g), link(), first, period, how, options);
            return put_in(state, state->stamp);
        });
    }
};

}  // namespace spool::inline v1
