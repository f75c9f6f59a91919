// submit: a task whose result comes back through a future, on any executor.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "spool/base/error.hpp"
#include "spool/executor/executor.hpp"
#include "spool/future/future_task.hpp"

namespace spool::inline v1 {

namespace detail {

SPOOL_API task decorate(const task_decorator& decorator, task body);

// Runs a decorated body and answers with the result that the body left in the slot.
template <class T>
struct decorated_body {
    task work;
    std::shared_ptr<std::optional<stored_result<T>>> slot;
    task_order order;  // of the callable that was decorated

    [[nodiscard]] int priority() const noexcept { return order.priority; }
    [[nodiscard]] due_time due() const noexcept { return order.due; }
    T operator()() {
        slot->reset();  // of the run before, where there are several
        work();
        if (!slot->has_value()) {
            throw cancelled("the decorator did not run the body of the task");
        }
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(***slot);
        } else if constexpr (!std::is_void_v<T>) {
            return std::move(**slot);
        }
    }
};

// Calls `f` as the body of a future and leaves its result in the slot.
template <class T, class F>
struct slot_filler {
    F f;
    std::shared_ptr<std::optional<stored_result<T>>> slot;

    void operator()(std::stop_token stop) {
        const auto call = [&]() -> decltype(auto) {
            if constexpr (stoppable_callable<F>) {
                return std::invoke(f, std::move(stop));
            } else {
                return std::invoke(f);
            }
        };
        if constexpr (std::is_void_v<T>) {
            static_cast<void>(call());
            slot->emplace();
        } else if constexpr (std::is_reference_v<T>) {
            slot->emplace(std::addressof(static_cast<T>(call())));
        } else {
            slot->emplace(call());
        }
    }
};

}  // namespace detail

/// The future task of `f` as `where` would submit it: decorated, if the executor has a decorator.
/// \throws std::invalid_argument if `f` is empty
template <class T, task_callable F>
[[nodiscard]] future_task<T> make_future_task(const executor& where, F&& f) {
    const task_decorator* decorator = where.decorator();
    if (detail::is_empty_callable(f)) {
        detail::throw_empty_callable(where.executor_label());
    }
    if (decorator == nullptr) {
        return future_task<T>{std::forward<F>(f)};
    }
    const detail::task_order order = detail::order_of(f);
    auto slot = std::make_shared<std::optional<detail::stored_result<T>>>();
    task body = detail::slot_filler<T, std::decay_t<F>>{std::forward<F>(f), slot};
    return future_task<T>{
        detail::decorated_body<T>{detail::decorate(*decorator, std::move(body)), std::move(slot), order}};
}

/// Runs `f` on `where`; its result, or what it throws, comes through the future. `f` may take the task's stop token.
///
///     auto answer = spool::submit(where, [] { return 6 * 7; });
///
/// One allocation (one more for a callable that asks for its token, at that moment).
/// \throws what where.execute() throws; std::invalid_argument if `f` is empty
template <task_callable F>
[[nodiscard]] future<task_result_t<F>> submit(executor& where, F&& f) {
    auto [handle, work] = make_future_task<task_result_t<F>>(where, std::forward<F>(f)).split();
    where.execute(std::move(work));
    return std::move(handle);
}

/// The same, and a stop requested of `stop` cancels the future, as future::cancel() does: a task that has not begun never runs, one that
/// runs is asked to stop. The connection ends when the future is done. If the stop was requested before, nothing is submitted.
///
///     auto page = spool::submit(where, request.stop_token(), [](std::stop_token stop) { return render(stop); });
///
/// The token comes first: after `f` comes a value (see below). `f` gets its own task's token, not this one.
template <task_callable F>
[[nodiscard]] future<task_result_t<F>> submit(executor& where, std::stop_token stop, F&& f) {
    auto [handle, work] = make_future_task<task_result_t<F>>(where, std::forward<F>(f)).split();
    handle.cancel_on(std::move(stop));
    if (!handle.is_done()) {
        where.execute(std::move(work));
    }
    return std::move(handle);
}
template <task_callable F>
void submit(executor& where, F&& f, std::stop_token stop) = delete;  // write submit(where, stop, f)

/// The same for an action with a result known beforehand: what `f` returns is dropped, the future brings `value`.
/// `value` is no argument of `f`: `f` is called without one. To pass arguments, capture them.
template <task_callable F, class V>
[[nodiscard]] future<std::decay_t<V>> submit(executor& where, F&& f, V&& value) {
    using result = std::decay_t<V>;
    return submit(where,
                  detail::returning<std::decay_t<F>, result>{std::forward<F>(f), std::forward<V>(value)});
}

}  // namespace spool::inline v1
