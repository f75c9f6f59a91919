// submit_all, invoke_all, invoke_any: many tasks at once, on any executor.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "spool/base/deadline.hpp"
#include "spool/base/error.hpp"
#include "spool/executor/executor.hpp"
#include "spool/executor/submit.hpp"
#include "spool/future/future_task.hpp"
#include "spool/queue/linked_blocking_queue.hpp"

namespace spool::inline v1 {

/// A range of callables. The elements of a container passed as an rvalue are moved, others are
/// copied.
template <class Range>
concept task_range = std::ranges::input_range<Range> && task_callable<std::ranges::range_value_t<Range>>;

template <task_range Range>
using range_result_t = task_result_t<std::ranges::range_value_t<Range>>;

namespace detail {

// A batch of tasks. The constructor makes all of them before the first is started: if a callable is
// empty, none starts. The destructor cancels every task that is not done.
template <class T>
class batch {
public:
    template <class Range>
    batch(executor& where, Range&& range) : executor_(where) {
        for (auto&& f : range) {
            auto parts =
                make_future_task<T>(where, forward_element<Range>(std::forward<decltype(f)>(f))).split();
            futures.push_back(std::move(parts.handle));
            work_.push_back(std::move(parts.work));
        }
    }
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;
    ~batch() { cancel_all(); }

    void start(std::size_t i) { executor_.execute(std::move(work_[i])); }
    void start_all() { executor_.execute_all(work_); }
    void cancel_all() noexcept {
        work_.clear();  // destroys the unstarted tasks, which cancels them
        for (future<T>& f : futures) {
            try {
                f.cancel();
            } catch (...) {  // from an on_done callback; there is no caller to tell
                report_uncaught("an on_done callback of the " + f.describe(), std::current_exception());
            }
        }
    }

    std::vector<future<T>> futures;

private:
    executor& executor_;
    std::vector<task> work_;
};

// A worker that waits without limit is watched for deadlocks: see deadlock_policy.
template <class T, class Wait>
wait_result wait_for_any(const std::vector<future<T>>& futures, deadline until, const std::stop_token& stop,
                         Wait wait) {
    if (!until.is_never() || nested_waiter::current() == nullptr) {
        return wait(wait_limits{.until = until, .stop = stop});
    }
    std::vector<future_link> open;
    for (const future<T>& f : futures) {
        if (!f.is_done()) {
            open.push_back(f.link());
        }
    }
    return nested_waiter::wait_here(open, stop, [&](const wait_limits& limits) { return wait(limits); });
}

}  // namespace detail

/// Submits all tasks, in order; see executor::execute_all.
///
///     auto pages = spool::submit_all(where, downloads);
///
/// \throws std::invalid_argument if one of the callables is empty: then none was started
/// \throws what execute() throws: then unstarted tasks are cancelled, started ones asked to stop
template <task_range Range>
[[nodiscard]] std::vector<future<range_result_t<Range>>> submit_all(executor& where, Range&& range) {
    detail::batch<range_result_t<Range>> all{where, std::forward<Range>(range)};
    all.start_all();
    return std::exchange(all.futures, {});
}

/// Runs all tasks and waits until each is done or the time is over; then cancels the rest. The
/// futures are in the order of the range. What a task threw is in its future. All futures are done,
/// except one whose outcome another thread is writing just when the time ends: get() waits for that
/// outcome (see future::cancel).
///
///     for (auto& f : spool::invoke_all(where, jobs)) { use(f.get()); }
///
/// \throws std::invalid_argument if one of the callables is empty: then none was started
/// \throws what execute() throws, or interrupted: then all tasks are cancelled
template <task_range Range>
[[nodiscard]] std::vector<future<range_result_t<Range>>> invoke_all_until(executor& where, Range&& range,
                                                                          deadline until) {
    detail::batch<range_result_t<Range>> all{where, std::forward<Range>(range)};
    bool in_time = true;
    if (until.is_never()) {
        all.start_all();
    }
    for (std::size_t i = 0; !until.is_never() && in_time && i < all.futures.size(); ++i) {
        in_time = !until.expired();
        if (in_time) {
            all.start(i);
        }
    }
    for (std::size_t i = 0; in_time && i < all.futures.size(); ++i) {
        in_time = all.futures[i].wait_until(until);
    }
    all.cancel_all();
    return std::exchange(all.futures, {});
}

template <task_range Range>
[[nodiscard]] auto invoke_all(executor& where, Range&& range) {
    return invoke_all_until(where, std::forward<Range>(range), deadline::never());
}
template <task_range Range, class Rep, class Period>
[[nodiscard]] auto invoke_all(executor& where, Range&& range, std::chrono::duration<Rep, Period> timeout) {
    return invoke_all_until(where, std::forward<Range>(range), deadline::after(timeout));
}

/// Runs the tasks until one succeeds, returns its result and cancels the others. Starts the tasks
/// one after the other, and starts no more once a result is available.
///
///     std::string page = spool::invoke_any(where, mirrors, 500ms);
///
/// \throws what the last task to fail threw, if all fail
/// \throws timed_out if no task has succeeded in time
/// \throws std::invalid_argument if the range or a callable is empty: then none was started
/// \throws what execute() throws, or interrupted
template <task_range Range>
range_result_t<Range> invoke_any_until(executor& where, Range&& range, deadline until) {
    using result = range_result_t<Range>;
    detail::batch<result> all{where, std::forward<Range>(range)};
    if (all.futures.empty()) {
        throw std::invalid_argument("invoke_any: no tasks");
    }
    // Shared with the callbacks, which may run after this call has returned.
    const auto done = std::make_shared<linked_blocking_queue<future<result>>>();
    std::exception_ptr last_failure;
    std::size_t started = 0;
    std::size_t ended = 0;
    while (ended < all.futures.size()) {
        std::optional<future<result>> ended_one = done->poll();
        if (!ended_one.has_value() && started < all.futures.size()) {
            all.futures[started].on_done(
                [done](const future<result>& next) { done->put(future<result>{next}, {}); });
            all.start(started++);
            continue;
        }
        if (!ended_one.has_value() &&
            detail::wait_for_any(all.futures, until, this_task::stop_token(), [&](const wait_limits& limits) {
                return done->pop_until(ended_one, limits);
            }) == wait_result::timed_out) {
            throw timed_out("invoke_any: none of " + std::to_string(started) + " tasks succeeded in time");
        }
        if (!ended_one.has_value()) {
            throw interrupted("invoke_any: stop requested");
        }
        ++ended;
        switch (ended_one->state()) {
            case future_state::succeeded: return std::move(*ended_one).get();
            case future_state::failed: last_failure = ended_one->exception_now(); break;
            default:
                last_failure = std::make_exception_ptr(
                    cancelled("task " + std::to_string(ended_one->id()) + " was cancelled"));
                break;
        }
    }
    std::rethrow_exception(last_failure);
}

template <task_range Range>
auto invoke_any(executor& where, Range&& range) -> range_result_t<Range> {
    return invoke_any_until(where, std::forward<Range>(range), deadline::never());
}
template <task_range Range, class Rep, class Period>
auto invoke_any(executor& where, Range&& range, std::chrono::duration<Rep, Period> timeout)
    -> range_result_t<Range> {
    return invoke_any_until(where, std::forward<Range>(range), deadline::after(timeout));
}

}  // namespace spool::inline v1
