// submit: runs a task on any executor and returns a future for its result.
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

// Runs a decorated body and returns the result that the body left in the slot.
template <class T>
struct decorated_body {
    task work;
    std::shared_ptr<std::optional<stored_result<T>>> slot;
    task_order order;  // that of the callable before decoration

    [[nodiscard]] int priority() const noexcept { return order.priority; }
    [[nodiscard]] due_time due() const noexcept { return order.due; }
    T operator()() {
        slot->reset();  // the body may run several times
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

// Calls `f` as the body of a future and stores its result in the slot.
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

/// Returns make(f), or, if the executor has a decorator, make(g): g runs the decorated f and
/// returns f's result.
/// \throws std::invalid_argument if `f` is empty
template <class T, task_callable F, class Make>
[[nodiscard]] auto with_decoration(const executor& where, F&& f, Make make) {
    const task_decorator* decorator = where.decorator();
    if (is_empty_callable(f)) {
        throw_empty_callable(where.executor_label());
    }
    if (decorator == nullptr) {
        return make(std::forward<F>(f));
    }
    const task_order order = order_of(f);
    auto slot = std::make_shared<std::optional<stored_result<T>>>();
    task body = slot_filler<T, std::decay_t<F>>{std::forward<F>(f), slot};
    return make(decorated_body<T>{decorate(*decorator, std::move(body)), std::move(slot), order});
}

}  // namespace detail

/// Makes the future_task that submit(where, f) would run, including the executor's decorator.
/// \throws std::invalid_argument if `f` is empty
template <class T, task_callable F>
[[nodiscard]] future_task<T> make_future_task(const executor& where, F&& f) {
    return detail::with_decoration<T>(where, std::forward<F>(f), [&where]<class G>(G&& g) {
        return detail::future_maker::make<T>(std::forward<G>(g), where.state_memory());
    });
}

/// Runs `f` on `where`; the future delivers what `f` returns or throws. `f` may take the task's
/// stop token.
///
///     auto answer = spool::submit(where, [] { return 6 * 7; });
///
/// One allocation, and one more when a callable asks for its token.
/// \throws what where.execute() throws; std::invalid_argument if `f` is empty
template <task_callable F>
[[nodiscard]] future<task_result_t<F>> submit(executor& where, F&& f) {
    auto [handle, work] = make_future_task<task_result_t<F>>(where, std::forward<F>(f)).split();
    where.execute(std::move(work));
    return std::move(handle);
}

/// The same, and a stop request on `stop` cancels the future, as future::cancel() does: a task that
/// has not begun never runs, a running task is asked to stop. The connection ends when the future
/// is done. If the stop was requested before the call, nothing is submitted.
///
///     auto page = spool::submit(where, request.stop_token(),
///                               [](std::stop_token stop) { return render(stop); });
///
/// The token comes first, because a value comes after `f` (see below). `f` gets its own task's
/// token, not this one.
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

/// The same for an action with a result known beforehand: the return value of `f` is discarded, and
/// the future delivers `value`. `value` is not an argument of `f`. To pass arguments, capture them.
template <task_callable F, class V>
[[nodiscard]] future<std::decay_t<V>> submit(executor& where, F&& f, V&& value) {
    using result = std::decay_t<V>;
    return submit(where,
                  detail::returning<std::decay_t<F>, result>{std::forward<F>(f), std::forward<V>(value)});
}

}  // namespace spool::inline v1
