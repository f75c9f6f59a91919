// future<T>: a handle to the result of a task.
#pragma once

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "spool/base/error.hpp"
#include "spool/future/detail/future_core.hpp"
#include "spool/future/detail/future_value.hpp"

namespace spool::inline v1 {

namespace detail {
[[noreturn]] SPOOL_API void throw_no_state(const char* call);
[[noreturn]] SPOOL_API void throw_not_in_time(const char* call, const future_core& core);
[[noreturn]] SPOOL_API void throw_cancelled(task_id id);
/// See future::cancel_on().
SPOOL_API void cancel_on_stop(future_core& core, std::stop_token stop);
[[noreturn]] SPOOL_API void throw_not_now(const char* call, const char* wanted, const future_core& core);
}  // namespace detail

/// The result of a task: a value, a reference, nothing (void), an exception, or a cancellation.
/// Handles are copyable. Two handles are equal if they belong to the same task.
///
///     spool::future<int> answer = pool.submit([] { return 6 * 7; });
///     int n = answer.get();   // waits; throws what the task threw
///
/// `get() const&` returns a `const T&` that is valid as long as a handle exists.
/// `std::move(f).get()` returns a T: moved out if f was the last handle, else copied. A move-only T
/// has only the second form: the first call gets the result, a later call throws std::logic_error.
/// A moved-from handle has no state: every call on it but valid(), describe(), comparison and
/// assignment throws std::logic_error.
///
/// Waits are interruptible: the plain forms by the current task's stop token, the others by the
/// given token. An available result takes precedence over an interruption, and an interruption over
/// a time-out.
///
/// If a task waits without limit for itself, or for a task that it runs inside of, the wait would
/// never end: it throws a std::logic_error that names the awaited task. With a limit, the task
/// waits until the limit.
///
/// A future always becomes done: if its task is destroyed without having run, the future is
/// cancelled. The task's callable is destroyed before the future becomes done.
///
/// Thread safety: threads may use different handles concurrently; one handle is a plain value. What
/// the task did is visible after get() or wait(), and after is_done() returned true.
template <class T>
class future {
    using value_type = std::remove_cv_t<T>;
    static constexpr bool in_place = !std::is_void_v<T> && !std::is_reference_v<T>;
    static constexpr bool sharable = !in_place || std::copy_constructible<T>;
    using shared_result = std::conditional_t<in_place, std::add_lvalue_reference_t<const T>, T>;

public:
    future() noexcept = default;
    future(const future& other) noexcept : state_(other.state_) {
        if (state_ != nullptr) {
            state_->add_handle();
        }
    }
    future(future&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
    future& operator=(future other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~future() {
        if (state_ != nullptr) {
            detail::hand_over(state_);
            state_->drop_handle();
        }
    }

    /// False for a default-constructed or moved-from handle.
    [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
    friend bool operator==(const future& a, const future& b) noexcept { return a.state_ == b.state_; }

    /// Waits for the result.
    /// \throws what the task threw, cancelled, interrupted; std::logic_error if the caller is the
    /// awaited task
    shared_result get() const& requires sharable {
        checked("get").wait_or_throw("future::get");
        return shared();
    }
    shared_result get(std::stop_token stop) const& requires sharable {
        checked("get").wait_or_throw(std::move(stop), "future::get");
        return shared();
    }
    // Compilers show the line of a deleted function, and so the comment on it.
    T get() const&  // the result can only be moved: write std::move(f).get()
        requires(!sharable) = delete;
    T get(std::stop_token) const& requires(!sharable) = delete;  // write std::move(f).get(stop)
    T get() && {
        checked("get").wait_or_throw("future::get");
        return last();
    }
    T get(std::stop_token stop) && {
        checked("get").wait_or_throw(std::move(stop), "future::get");
        return last();
    }

    /// Waits for the result, at most for `d`. A handle that times out or is interrupted keeps its
    /// state.
    /// \throws timed_out, and what get() throws
    template <class Rep, class Period>
    shared_result get_for(std::chrono::duration<Rep, Period> d) const& requires sharable {
        in_time(checked("get_for").wait_in_time(deadline::after(d), "future::get_for"));
        return shared();
    }
    template <class Rep, class Period>
    shared_result get_for(std::chrono::duration<Rep, Period> d,
                          std::stop_token stop) const& requires sharable {
        in_time(checked("get_for").wait_in_time(deadline::after(d), std::move(stop), "future::get_for"));
        return shared();
    }
    template <class Rep, class Period>
    T get_for(std::chrono::duration<Rep, Period> d) && {
        in_time(checked("get_for").wait_in_time(deadline::after(d), "future::get_for"));
        return last();
    }
    template <class Rep, class Period>
    T get_for(std::chrono::duration<Rep, Period> d, std::stop_token stop) && {
        in_time(checked("get_for").wait_in_time(deadline::after(d), std::move(stop), "future::get_for"));
        return last();
    }

    /// Waits until the future is done, whatever the outcome.
    /// \throws interrupted; std::logic_error as get()
    void wait() const {
        checked("wait").wait_or_throw("future::wait");
        detail::receive(state_);
    }
    void wait(std::stop_token stop) const {
        checked("wait").wait_or_throw(std::move(stop), "future::wait");
        detail::receive(state_);
    }
    /// The same, at most for `d`. True if the future is done. \throws interrupted
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> d) const {
        return seen(checked("wait_for").wait_in_time(deadline::after(d), "future::wait_for"));
    }
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> d, std::stop_token stop) const {
        return seen(
            checked("wait_for").wait_in_time(deadline::after(d), std::move(stop), "future::wait_for"));
    }

    [[nodiscard]] bool wait_until(deadline until) const {
        detail::future_core& mine = checked("wait_until");
        if (until.is_never()) {
            mine.wait_or_throw("future::wait_until");
            return seen(true);
        }
        return seen(mine.wait_in_time(until, "future::wait_until"));
    }

    /// Cancels the future, unless it is done. A body that has not started never will, and this call
    /// destroys its callable. A running body is asked to stop, or left alone with `let_run`; its
    /// result is discarded. Either way, this call releases the waiters at once, and is_done()
    /// holds. After the body has ended, cancel() can still succeed while the callable is being
    /// destroyed; the result is then discarded.
    ///
    /// False: the future was done, or another thread is completing it right now. cancel() does not
    /// wait for that thread, which may be in user code: destroying the callable of a task that
    /// never ran, or moving the result. So is_done() may become true a little later; get() and
    /// wait() wait for it. Also false: the callable's own destructor makes the call, after the body
    /// has ended.
    /// \throws what an on_done callback throws
    bool cancel(cancel_mode mode = cancel_mode::interrupt) const {
        const future keep = *this;  // a callback may drop this very handle
        detail::hand_over(state_);
        return keep.checked("cancel").cancel(mode);
    }

    /// Ties the future to `stop`: until the future is done, a stop request cancels it as cancel()
    /// does. If the stop was requested before, this call cancels the future at once. The thread
    /// that requests the stop runs everything that cancel() runs. What an on_done callback throws
    /// there is reported (see report_uncaught). Two allocations.
    void cancel_on(std::stop_token stop) const {
        const future keep = *this;
        detail::cancel_on_stop(keep.checked("cancel_on"), std::move(stop));
    }

    /// True if there is an outcome: a value, an exception or a cancellation.
    [[nodiscard]] bool is_done() const { return seen(checked("is_done").is_done()); }
    [[nodiscard]] bool is_cancelled() const {
        return seen(checked("is_cancelled").state()) == future_state::cancelled;
    }
    [[nodiscard]] future_state state() const { return seen(checked("state").state()); }

    /// The result, without waiting. \throws std::logic_error unless state() is succeeded
    shared_result result_now() const requires sharable {
        if (checked("result_now").now() != detail::phase::succeeded) {
            detail::throw_not_now("result_now", "a result", *state_);
        }
        return shared();
    }
    /// The exception, without waiting. \throws std::logic_error unless state() is failed
    [[nodiscard]] std::exception_ptr exception_now() const {
        if (checked("exception_now").now() != detail::phase::failed) {
            detail::throw_not_now("exception_now", "an exception", *state_);
        }
        detail::receive(state_);
        return state_->error();
    }

    /// Calls `f()` or `f(future)` once, when the outcome can be read. The completing thread makes
    /// the calls, in registration order. If that thread has already taken the list of callbacks,
    /// this call runs `f`. An exception from `f` does not change the outcome. It comes out of the
    /// call that completed the future, or out of this one.
    /// \throws std::invalid_argument if `f` is empty
    template <class F>
        requires(std::invocable<std::decay_t<F>&> || std::invocable<std::decay_t<F>&, const future&>)
    void on_done(F&& f) const { on_done(prepare_on_done(std::forward<F>(f))); }
    /// The same in two steps. The second step allocates nothing, so it can follow an action that
    /// cannot be undone.
    template <class F>
        requires(std::invocable<std::decay_t<F>&> || std::invocable<std::decay_t<F>&, const future&>)
    [[nodiscard]] detail::future_core::callback_ptr prepare_on_done(F&& f) const {
        static_cast<void>(checked("on_done"));
        if (detail::is_empty_callable(f)) {
            detail::throw_empty_callable("future::on_done");
        }
        if constexpr (std::invocable<std::decay_t<F>&, const future&>) {
            // `self` prevents get() from moving the value out before the callback runs. Completion
            // breaks the reference cycle.
            return detail::future_core::prepare(
                [self = *this, f = std::forward<F>(f)]() mutable { std::invoke(f, self); });
        } else {
            return detail::future_core::prepare([f = std::forward<F>(f)]() mutable { std::invoke(f); });
        }
    }
    void on_done(detail::future_core::callback_ptr prepared) const {
        checked("on_done").on_done(std::move(prepared));
    }

    /// The id of the task that produces the result.
    [[nodiscard]] task_id id() const { return checked("id").id(); }

    /// For pool implementations.
    [[nodiscard]] future_link link() const { return future_link{checked("link")}; }

    /// For human readers: "future of task 17: completed exceptionally: disk full".
    [[nodiscard]] std::string describe() const {
        return valid() ? state_->describe() : "future without a state";
    }
    friend std::ostream& operator<<(std::ostream& out, const future& f) { return out << f.describe(); }

protected:
    /// Takes over a new state, whose handle count starts at one.
    template <class F, class Base>
    explicit future(detail::future_body<T, F, Base>* state) noexcept : state_(state) {}

    [[nodiscard]] detail::future_core& checked(const char* call) const {
        if (state_ == nullptr) {
            detail::throw_no_state(call);
        }
        return *state_;
    }
    /// Precondition: the handle has a state.
    [[nodiscard]] detail::future_result<T>& result() const noexcept {
        return *static_cast<detail::future_result<T>*>(state_->result());
    }

private:
    // For ThreadSanitizer: reading `answer` also makes the effects of the task visible.
    template <class Answer>
    [[nodiscard]] Answer seen(Answer answer) const noexcept {
        detail::receive(state_);
        return answer;
    }
    void in_time(bool done) const {
        if (!done) {
            detail::throw_not_in_time("get_for", *state_);
        }
    }
    void throw_unless_succeeded() const {
        detail::receive(state_);
        switch (state_->now()) {
            case detail::phase::failed: std::rethrow_exception(state_->error());
            case detail::phase::cancelled: detail::throw_cancelled(state_->id());
            default: break;
        }
    }
    shared_result shared() const {
        throw_unless_succeeded();
        if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*result().value());
        } else if constexpr (!std::is_void_v<T>) {
            return result().value();
        }
    }
    T last() {
        // Consumes the handle, even if the outcome is thrown.
        const future done = std::move(*this);
        done.throw_unless_succeeded();
        if constexpr (!in_place) {
            return done.shared();
        } else if constexpr (!std::copy_constructible<T>) {
            return done.result().take_value();
        } else if (done.state_->is_last_handle()) {
            return std::move(done.result().value());
        } else {
            return done.result().value();
        }
    }

    detail::future_core* state_ = nullptr;
};

}  // namespace spool::inline v1
