// future<T>: the handle to a result that a task will bring.
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

/// A result that a task will bring: a value, a reference, nothing (void), an exception, or the word that it was
/// cancelled. Handles are copyable and equal when they belong to the same task.
///
///     spool::future<int> answer = pool.submit([] { return 6 * 7; });
///     int n = answer.get();   // waits; throws what the task threw
///
/// `get() const&` gives a `const T&` that is valid as long as a handle lives. `std::move(f).get()` gives a T: moved out
/// when f was the last handle, else copied. For a move-only T there is only the latter: the first
/// one wins, a later one throws std::logic_error. A handle that was moved from has no state: every call on
/// it but valid(), describe(), comparison and assignment throws std::logic_error.
///
/// Waits are interruptible: the plain forms by the current task's stop, the others by the token given. A result that is
/// there comes before an interruption, an interruption before a time-out.
///
/// A task that waits without limit for itself, or for one that it runs inside of, gets a std::logic_error that names it: the wait would
/// never end. With a limit it waits until that is over.
///
/// A future always gets done: a task that is destroyed without having run makes it cancelled. The task's callable is
/// destroyed before that.
///
/// Thread safety: different handles from different threads; one handle as a plain value. What the task did is visible
/// after get() or wait(), and after is_done() was true.
template <class T>
class future {
    using state_type = detail::future_value<T>;
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

    /// False for a handle that was made without a task, or moved from.
    [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
    friend bool operator==(const future& a, const future& b) noexcept { return a.state_ == b.state_; }

    /// Waits for the result.
    /// \throws what the task threw, cancelled, interrupted; std::logic_error if this very task brings it
    shared_result get() const& requires sharable {
        checked("get").wait_or_throw("future::get");
        return shared();
    }
    shared_result get(std::stop_token stop) const& requires sharable {
        checked("get").wait_or_throw(std::move(stop), "future::get");
        return shared();
    }
    // A compiler shows the line of a deleted function, and so its comment.
    T get() const& requires(!sharable) = delete;  // the result can only be moved: write std::move(f).get()
    T get(std::stop_token) const& requires(!sharable) = delete;  // write std::move(f).get(stop)
    T get() && {
        checked("get").wait_or_throw("future::get");
        return last();
    }
    T get(std::stop_token stop) && {
        checked("get").wait_or_throw(std::move(stop), "future::get");
        return last();
    }

    /// Waits for the result at most so long; a handle that times out or is interrupted keeps its state.
    /// \throws timed_out besides
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

    /// Waits until it is done, whatever the outcome. \throws interrupted
    void wait() const {
        checked("wait").wait_or_throw("future::wait");
        detail::receive(state_);
    }
    void wait(std::stop_token stop) const {
        checked("wait").wait_or_throw(std::move(stop), "future::wait");
        detail::receive(state_);
    }
    /// The same at most so long: true if it is done. \throws interrupted
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
        state_type& mine = checked("wait_until");
        if (until.is_never()) {
            mine.wait_or_throw("future::wait_until");
            return seen(true);
        }
        return seen(mine.wait_in_time(until, "future::wait_until"));
    }

    /// Makes the future cancelled, if it is not done. A body that has not started never will, and its callable is
    /// destroyed here; one that runs is asked to stop, or left alone with `let_run`, and what it brings is discarded.
    /// Either way the waiters are released at once, and is_done() holds. A body that has ended may still be cancelled while its
    /// callable is destroyed; its result is discarded then.
    ///
    /// False: it was done, or another thread is completing it right now. cancel() does not wait for that thread, which may be in users'
    /// code: it destroys the callable of a task that never ran, or moves the result. So is_done() may become true only a
    /// little later; get() and wait() wait for it. Also false: a call from the destructor of the callable itself, after the body has ended.
    /// \throws what an on_done callback throws
    bool cancel(cancel_mode mode = cancel_mode::interrupt) const {
        const future keep = *this;  // a callback may drop this very handle
        detail::hand_over(state_);
        return keep.checked("cancel").cancel(mode);
    }

    /// From now on, until it is done, a stop requested of `stop` cancels it as cancel() does; at once, if that has been requested. The
    /// thread that requests the stop does so, and with it runs what cancel() runs. One allocation. What an on_done callback throws
    /// there is reported (see report_uncaught).
    void cancel_on(std::stop_token stop) const {
        const future keep = *this;
        detail::cancel_on_stop(keep.checked("cancel_on"), std::move(stop));
    }

    /// There is an outcome: a value, an exception or the cancellation.
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

    /// Calls `f()` or `f(future)` once, when the outcome can be read: on the thread that completes the
    /// future, in the order of registration, or here and now if that thread has called the others already. An exception from it leaves the
    /// outcome as it is and comes out of the call that completed the future (or out of this one).
    /// \throws std::invalid_argument if `f` is empty
    template <class F>
        requires(std::invocable<std::decay_t<F>&> || std::invocable<std::decay_t<F>&, const future&>)
    void on_done(F&& f) const { on_done(prepare_on_done(std::forward<F>(f))); }
    /// The same in two steps: the second needs no memory, so that it can follow on what cannot be undone.
    template <class F>
        requires(std::invocable<std::decay_t<F>&> || std::invocable<std::decay_t<F>&, const future&>)
    [[nodiscard]] detail::future_core::callback_ptr prepare_on_done(F&& f) const {
        static_cast<void>(checked("on_done"));
        if (detail::is_empty_callable(f)) {
            detail::throw_empty_callable("future::on_done");
        }
        if constexpr (std::invocable<std::decay_t<F>&, const future&>) {
            // The handle keeps the value from being moved out under the callback; completion breaks the circle.
            return detail::future_core::prepare(
                [self = *this, f = std::forward<F>(f)]() mutable { std::invoke(f, self); });
        } else {
            return detail::future_core::prepare([f = std::forward<F>(f)]() mutable { std::invoke(f); });
        }
    }
    void on_done(detail::future_core::callback_ptr prepared) const {
        checked("on_done").on_done(std::move(prepared));
    }

    /// The id of the task that brings the result.
    [[nodiscard]] task_id id() const { return checked("id").id(); }

    /// For those who write pools.
    [[nodiscard]] future_link link() const { return future_link{checked("link")}; }

    /// For people: "future of task 17: completed exceptionally: disk full".
    [[nodiscard]] std::string describe() const {
        return valid() ? state_->describe() : "future without a state";
    }
    friend std::ostream& operator<<(std::ostream& out, const future& f) { return out << f.describe(); }

protected:
    /// Takes over the handle that a new state is born with.
    explicit future(state_type* state) noexcept : state_(state) {}

    [[nodiscard]] state_type& checked(const char* call) const {
        if (state_ == nullptr) {
            detail::throw_no_state(call);
        }
        return *state_;
    }

private:
    // What was read after the task had ended comes with what the task did.
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
            return static_cast<T>(*state_->value());
        } else if constexpr (!std::is_void_v<T>) {
            return state_->value();
        }
    }
    T last() {
        const future done = std::move(*this);  // the handle is used up, also where the outcome is thrown
        done.throw_unless_succeeded();
        if constexpr (!in_place) {
            return done.shared();
        } else if constexpr (!std::copy_constructible<T>) {
            return done.state_->take_value();
        } else if (done.state_->is_last_handle()) {
            return std::move(done.state_->value());
        } else {
            return done.state_->value();
        }
    }

    state_type* state_ = nullptr;
};

}  // namespace spool::inline v1
