// What happens to an exception that leaves a task given to execute(), or a hook.
#pragma once

#include <concepts>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "spool/base/callable.hpp"
#include "spool/pool/pool_hooks.hpp"
#include "spool/pool/thread_factory.hpp"

namespace spool::inline v1 {

/// One of three: report (the default: one line on stderr with the pool, the worker and what()), a
/// handler of your own, or terminate. With terminate the body runs in a noexcept call, so that the
/// crash shows the place that threw.
///
///     .uncaught = spool::uncaught_policy::terminate()
///     .uncaught = [](const spool::worker_info& worker, const std::exception_ptr& error) {
///         log(worker.name, error);
///     }
///     .uncaught = [](const spool::task_info& task, const std::exception_ptr& error) {
///         log(task.id, error);
///     }
///
/// A handler of the second form learns which task threw, or during which task a hook did. Its
/// `worker` is never null; `id` is 0 where there was no task, as in worker_started. A handler that
/// can be called in both forms gets the worker.
///
/// Except with terminate, the pool replaces the worker and goes on. What a handler throws is
/// reported.
class uncaught_policy {
public:
    using handler = std::function<void(const worker_info&, const std::exception_ptr&)>;
    using task_handler = std::function<void(const task_info&, const std::exception_ptr&)>;

    uncaught_policy() noexcept = default;
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, uncaught_policy> &&
                 std::invocable<std::decay_t<F>&, const worker_info&, const std::exception_ptr&>)
    uncaught_policy(F&& f) : empty_handler_(detail::is_empty_callable(f)) {
        if (!empty_handler_) {
            handler_ = [f = std::forward<F>(f)](const task_info& task,
                                                const std::exception_ptr& error) mutable {
                static_cast<void>(std::invoke(f, *task.worker, error));
            };
        }
    }
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, uncaught_policy> &&
                 !std::invocable<std::decay_t<F>&, const worker_info&, const std::exception_ptr&> &&
                 std::invocable<std::decay_t<F>&, const task_info&, const std::exception_ptr&>)
    uncaught_policy(F&& f) : handler_(std::forward<F>(f)), empty_handler_(handler_ == nullptr) {}

    [[nodiscard]] static uncaught_policy report() noexcept { return {}; }
    [[nodiscard]] static uncaught_policy terminate() noexcept {
        uncaught_policy policy;
        policy.terminates_ = true;
        return policy;
    }

    [[nodiscard]] bool terminates() const noexcept { return terminates_; }
    /// False for a policy made from an empty std::function, which a pool refuses.
    explicit operator bool() const noexcept { return !empty_handler_; }

    /// Never throws.
    SPOOL_API void operator()(const worker_info& worker, const std::exception_ptr& error) const noexcept;
    /// The same for an exception that left a task. `task.worker` must not be null.
    SPOOL_API void operator()(const task_info& task, const std::exception_ptr& error) const noexcept;

private:
    task_handler handler_;
    bool empty_handler_ = false;
    bool terminates_ = false;
};

}  // namespace spool::inline v1
