// future_task<T>: a future together with the right to run it, or to complete it by hand.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/base/task.hpp"
#include "spool/future/future.hpp"

namespace spool::inline v1 {

namespace detail {

// A callable that runs `f` and returns a value given beforehand.
template <class F, class V>
struct returning {
    F f;
    V value;

    V operator()() requires(!stoppable_callable<F>) {
        static_cast<void>(std::invoke(f));
        return std::move(value);
    }
    V operator()(std::stop_token stop) requires stoppable_callable<F> {
        static_cast<void>(std::invoke(f, std::move(stop)));
        return std::move(value);
    }
    void run() {
        if constexpr (stoppable_callable<F>) {
            static_cast<void>(std::invoke(f, task_scope::current_token()));
        } else {
            static_cast<void>(std::invoke(f));
        }
    }
    [[nodiscard]] int priority() const requires has_priority<F> { return f.priority(); }
    [[nodiscard]] due_time due() const requires has_due_time<F> { return f.due(); }
    friend bool operator==(const returning& r, std::nullptr_t) noexcept { return is_empty_callable(r.f); }
};
template <class F, class V>
inline constexpr bool keeps_value<returning<F, V>> = true;

struct future_maker;

}  // namespace detail

/// A runnable future, usable without a pool. It is a future<T>: copy it into one to get a handle to
/// give away. It runs its body on request, or is completed by hand instead.
///
///     spool::future_task<int> answer{[] { return 6 * 7; }};
///     std::jthread runner{[&] { answer.run(); }};
///     std::printf("%d\n", answer.get());
///
/// It is move-only and owns the right to run: if it is destroyed without having run, the future is
/// cancelled. It is itself a callable, so `pool.execute(std::move(answer))` works.
///
/// Thread safety: any thread may call run(), set_*() and all of future<T>. The first to complete it
/// wins.
template <class T>
class future_task : public future<T> {
public:
    /// \throws std::invalid_argument if `f` is empty
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, future_task> && task_callable<F> &&
                 (std::is_void_v<T> || std::is_convertible_v<task_result_t<F>, T>))
    explicit future_task(F&& f) : future_task(detail::order_of(nonempty(f)), std::forward<F>(f)) {}

    /// Runs `f`, discards its return value and delivers `value`.
    /// \throws std::invalid_argument if `f` is empty
    template <class F, class V>
        requires(task_callable<F>&& std::convertible_to<V, T>)
    future_task(F&& f, V&& value)
        : future_task(detail::returning<std::decay_t<F>, T>{std::forward<F>(f), std::forward<V>(value)}) {}

    future_task(future_task&&) noexcept = default;
    future_task& operator=(future_task&&) noexcept = default;

    /// Runs the body on this thread, in its own task scope, and completes the future with the
    /// outcome. No effect if the future was started, completed or cancelled before. A result that
    /// comes after a cancellation is discarded.
    /// \throws only what an on_done callback throws
    void run() { this->checked("run").run(); }
    void operator()() { run(); }

    /// Runs the body, discards its result and leaves the future pending, so that it can run again.
    /// A value given beforehand is kept for the run that delivers it. True if the future is pending
    /// again. False if it was not pending, the body threw (the future is then failed), or it was
    /// cancelled meanwhile. Not [[nodiscard]]: the future's state says the same.
    bool run_and_reset() { return this->checked("run_and_reset").run_and_reset(); }

    /// Completes the future by hand; a body that has not started never will. False, with no effect,
    /// if the future was done or about to be.
    template <class V = T>
        requires(!std::is_void_v<T> && !std::is_reference_v<T> && std::constructible_from<T, V>)
    bool set_value(V&& value) { return complete(std::forward<V>(value)); }
    template <class V>
        requires(std::is_reference_v<T>&& std::is_convertible_v<V&, T>)
    bool set_value(V& value) {
        T result = value;
        return complete(std::addressof(result));
    }
    bool set_value() requires std::is_void_v<T> { return complete(); }
    /// \throws std::invalid_argument if `error` is null
    bool set_exception(std::exception_ptr error) {
        if (error == nullptr) {
            throw std::invalid_argument("future_task::set_exception: null exception");
        }
        auto& state = this->checked("set_exception");
        detail::hand_over(&state);
        return state.set_exception(std::move(error));
    }

    [[nodiscard]] int priority() const noexcept { return runner_.priority(); }
    [[nodiscard]] due_time due() const noexcept { return runner_.due(); }

    /// Splits it into a handle for the user and a task to run; for executors. (A future_task that
    /// is itself the task would count as a handle until it is destroyed.)
    struct parts {
        future<T> handle;
        task work;
    };
    [[nodiscard]] parts split() && {
        static_cast<void>(this->checked("split"));
        if (runner_.due() == due_time::min()) [[likely]] {
            return {static_cast<future<T>&&>(*this), task{detail::future_runner{std::move(runner_)}}};
        }
        return {static_cast<future<T>&&>(*this), task{std::move(runner_)}};
    }

private:
    template <class F>
    friend struct detail::task_traits;
    friend struct detail::future_maker;

    template <class... Args>
    bool complete(Args&&... args) {
        detail::future_core& state = this->checked("set_value");
        if (!state.claim_by_hand()) {
            return false;
        }
        detail::store_and_finish(state, this->result(), std::forward<Args>(args)...);
        return true;
    }
    template <class F>
    static const F& nonempty(const F& f) {
        if (detail::is_empty_callable(f)) {
            detail::throw_empty_callable("future_task");
        }
        // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): used in the calling expression
        return f;
    }

    template <class F>
    future_task(detail::task_order order, F&& f, detail::state_depot* memory = nullptr)
        : future<T>(new (memory) detail::future_body<T, std::decay_t<F>>(std::forward<F>(f))),
          runner_(&this->checked("future_task"), order) {}

    detail::due_future_runner runner_;
};

namespace detail {

// For executors: a future task whose state may come from `memory`.
struct future_maker {
    template <class T, class F>
    static future_task<T> make(F&& f, state_depot* memory) {
        return {order_of(future_task<T>::nonempty(f)), std::forward<F>(f), memory};
    }
};

template <class T>
const future_task<T>& to_future_task(const future_task<T>& f) noexcept {
    return f;
}
// A type derived from future_task is the body of a future too, whatever members it adds.
template <class F>
concept derived_from_future_task = requires(const F& f) {
    to_future_task(f);
};
template <derived_from_future_task F>
struct task_traits<F> : no_task_traits {
    static constexpr bool is_future_body = true;
    [[nodiscard]] SPOOL_UNWATCHED static task_id id(const F& f) { return to_future_task(f).id(); }
    [[nodiscard]] SPOOL_UNWATCHED static void* shared_state(const F& f) noexcept {
        return to_future_task(f).runner_.core();
    }
};

}  // namespace detail

template <class F>
future_task(F) -> future_task<task_result_t<F>>;
template <class F, class V>
future_task(F, V) -> future_task<std::decay_t<V>>;

}  // namespace spool::inline v1
