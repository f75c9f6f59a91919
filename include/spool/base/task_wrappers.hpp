// Wrappers that add properties to a callable, in any order: with_priority(), expires_at(), named().
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/base/deadline.hpp"
#include "spool/base/detail/task_table.hpp"
#include "spool/base/export.hpp"
#include "spool/detail/task_scope.hpp"

namespace spool::inline v1 {

/// A callable with a priority. with_priority() makes it.
template <class F>
class prioritized {
public:
    prioritized(int priority, F f) : f_(std::move(f)), priority_(priority) {}

    decltype(auto) operator()() requires(!stoppable_callable<F> && std::invocable<F&>) {
        return std::invoke(f_);
    }
    decltype(auto) operator()(std::stop_token stop) requires stoppable_callable<F> {
        return std::invoke(f_, std::move(stop));
    }
    [[nodiscard]] int priority() const noexcept { return priority_; }
    [[nodiscard]] due_time due() const requires detail::has_due_time<F> { return f_.due(); }
    [[nodiscard]] bool is_cancelled() const requires detail::has_cancellation<F> { return f_.is_cancelled(); }
    friend bool operator==(const prioritized& p, std::nullptr_t) noexcept {
        return detail::is_empty_callable(p.f_);
    }

private:
    friend struct detail::task_traits<prioritized>;
    F f_;
    int priority_;
};

/// Wraps `f` so that its task has this priority, also through submit(). The greater goes first, in
/// queues that order by priority.
///
///     pool.submit(spool::with_priority(10, [] { return urgent(); }));
template <task_callable F>
[[nodiscard]] prioritized<std::decay_t<F>> with_priority(int priority, F&& f) {
    return {priority, std::forward<F>(f)};
}

namespace detail {

/// Throws timed_out: the task had not begun by `when`.
[[noreturn]] SPOOL_API void throw_expired(due_time when);

}  // namespace detail

/// A callable that is not called after its expiry time. expires_at() makes it.
template <class F>
class expiring {
public:
    expiring(due_time when, F f) : f_(std::move(f)), when_(when) {}

    decltype(auto) operator()() requires(!stoppable_callable<F> && std::invocable<F&>) {
        throw_if_expired();
        return std::invoke(f_);
    }
    decltype(auto) operator()(std::stop_token stop) requires stoppable_callable<F> {
        throw_if_expired();
        return std::invoke(f_, std::move(stop));
    }
    /// Measured on the clock of the pool that runs the current task, else on the real clock.
    [[nodiscard]] bool is_expired() const { return task_scope::clock_now() > when_; }
    [[nodiscard]] int priority() const requires detail::has_priority<F> { return f_.priority(); }
    [[nodiscard]] due_time due() const requires detail::has_due_time<F> { return f_.due(); }
    [[nodiscard]] bool is_cancelled() const requires detail::has_cancellation<F> { return f_.is_cancelled(); }
    friend bool operator==(const expiring& e, std::nullptr_t) noexcept {
        return detail::is_empty_callable(e.f_);
    }

private:
    void throw_if_expired() const {
        if (is_expired()) {
            detail::throw_expired(when_);
        }
    }

    friend struct detail::task_traits<expiring>;
    F f_;
    due_time when_;
};

/// Wraps `f` so that it is not called if it has not begun by `when`. In a pool with its own clock
/// (see scheduled_pool_options), `when` is a time on that clock.
///
///     const auto limit = std::chrono::steady_clock::now() + 50ms;
///     auto page = pool.submit(spool::expires_at(limit, [] { return render(); }));
///
/// What happens after `when`:
/// - submit(): the future fails with timed_out when a worker reaches the task.
/// - task_group: wait() throws timed_out.
/// - A periodic task: every run fails with timed_out.
/// - execute(): the task is dropped silently. Hooks and counts see a task without an exception.
///
/// Priority, due time and is_cancelled() are those of `f`.
template <task_callable F, class Duration>
[[nodiscard]] expiring<std::decay_t<F>> expires_at(
    std::chrono::time_point<std::chrono::steady_clock, Duration> when, F&& f) {
    return {due_time{saturated(when.time_since_epoch())}, std::forward<F>(f)};
}

/// The name of a kind of tasks: a string literal. Anything else does not compile.
class kind_name {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): for named("thumbnail", f)
    consteval kind_name(const char* literal) : text_(literal) {
        if (literal == nullptr || *literal == '\0') {
            throw "the name of a kind must not be empty";
        }
    }
    [[nodiscard]] constexpr const char* text() const noexcept { return text_; }

private:
    const char* text_;
};

/// A callable with a name. named() makes it.
template <class F>
class named_callable {
public:
    named_callable(kind_name name, F f) : f_(std::move(f)), name_(name.text()) {}

    decltype(auto) operator()() requires(!stoppable_callable<F> && std::invocable<F&>) {
        return std::invoke(f_);
    }
    decltype(auto) operator()(std::stop_token stop) requires stoppable_callable<F> {
        return std::invoke(f_, std::move(stop));
    }
    [[nodiscard]] int priority() const requires detail::has_priority<F> { return f_.priority(); }
    [[nodiscard]] due_time due() const requires detail::has_due_time<F> { return f_.due(); }
    [[nodiscard]] bool is_cancelled() const requires detail::has_cancellation<F> { return f_.is_cancelled(); }
    friend bool operator==(const named_callable& n, std::nullptr_t) noexcept {
        return detail::is_empty_callable(n.f_);
    }

private:
    friend struct detail::task_traits<named_callable>;
    F f_;
    const char* name_;
};

/// Wraps `f` so that a pool that measures counts its tasks under this name, instead of the name of
/// their type. `name` must be a string literal.
///
///     pool.submit(spool::named("thumbnail", [&] { return scale(image); }));
template <task_callable F>
[[nodiscard]] named_callable<std::decay_t<F>> named(kind_name name, F&& f) {
    return {name, std::forward<F>(f)};
}

namespace detail {

template <class F>
struct task_traits<named_callable<F>> : no_task_traits {
    static constexpr bool can_expire = task_traits<F>::can_expire;
    [[nodiscard]] static bool is_expired(const named_callable<F>& f) requires can_expire {
        return task_traits<F>::is_expired(f.f_);
    }
    static constexpr bool has_kind = true;
    [[nodiscard]] static const char* kind(const named_callable<F>& f) noexcept { return f.name_; }
};
template <class F>
struct task_traits<expiring<F>> : no_task_traits {
    static constexpr bool has_kind = task_traits<F>::has_kind;
    [[nodiscard]] static const char* kind(const expiring<F>& f) noexcept requires has_kind {
        return task_traits<F>::kind(f.f_);
    }
    static constexpr bool can_expire = true;
    [[nodiscard]] static bool is_expired(const expiring<F>& f) {
        if constexpr (task_traits<F>::can_expire) {
            return f.is_expired() || task_traits<F>::is_expired(f.f_);
        } else {
            return f.is_expired();
        }
    }
};
template <class F>
struct task_traits<prioritized<F>> : no_task_traits {
    static constexpr bool has_kind = task_traits<F>::has_kind;
    [[nodiscard]] static const char* kind(const prioritized<F>& f) noexcept requires has_kind {
        return task_traits<F>::kind(f.f_);
    }
    static constexpr bool can_expire = task_traits<F>::can_expire;
    [[nodiscard]] static bool is_expired(const prioritized<F>& f) requires can_expire {
        return task_traits<F>::is_expired(f.f_);
    }
};

}  // namespace detail
}  // namespace spool::inline v1
