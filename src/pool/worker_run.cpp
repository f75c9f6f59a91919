// A worker runs a task: calls the hooks, counts the task, and handles what it throws.
#include <utility>

#include "pool/hot_path.hpp"
#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"
#include "pool/timed_body.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1 {
namespace {

// Two frames, and neither is ever inlined. In one frame, the handler would be found first, and the
// stack unwound to it before the process ends. With two, no handler is found for what leaves the
// body, and the crash shows the place that threw.
[[gnu::noinline]] void call_to_the_end(const task_scope& scope, function_ref<void()> body) {
    try {
        body();
    } catch (const interrupted&) {
        if (!scope.stop_requested()) {
            throw;
        }
    }
}

std::exception_ptr what_leaves(function_ref<void()> body) noexcept {
    try {
        body();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

// Precondition: the caller holds no lock, since stop callbacks are user code.
void interrupt(task_scope& scope) {
    std::stop_source source = scope.interrupt();
    detail::request_stop_of(source);
}

[[gnu::noinline]] void call_or_terminate(const task_scope& scope, function_ref<void()> body) noexcept {
    call_to_the_end(scope, body);
}

}  // namespace

// Returns false if something threw and the worker must be replaced.
bool thread_pool_executor::core::run(worker& w, task_scope& scope, task& work) {
    scope.reset(work);
    task_info info = info_of(w, work);
    const bool fine = run_counted(
        w, scope, work, [&work] { work(); }, info);
    if (w.stage != worker_stage::let_go) {
        scope.reset_for(false);  // later stops must not reach the stop state that the task left
    }
    return fine;
}

// Whether the exception is a normal end: `interrupted` after a stop request. Reports any other.
bool thread_pool_executor::core::forgiven(const worker& w, const task_scope& scope,
                                          const std::exception_ptr& thrown) const {
    try {
        std::rethrow_exception(thrown);
    } catch (const interrupted&) {
        if (scope.stop_requested()) {
            return true;
        }
    } catch (...) {}
    const task_id id = w.current.load(std::memory_order_relaxed);  // relaxed, owner
    uncaught(task_info{.id = id, .worker = &w.info}, thrown);
    return false;
}

task_info thread_pool_executor::core::info_of(const worker& w, const task& work) const {
    task_info info{.id = work.id(), .worker = &w.info};
    if (!task_times_) {
        return info;
    }
    if (const auto* timed = work.target<timed_body>()) {
        info.waited = std::chrono::steady_clock::now() - timed->submitted();
    } else if (queue_first_ && work.due() != due_time::min()) {
        // since the time when the task could have run
        info.waited = now() - work.due();
    }
    return info;
}

// Runs a task inside another one on the same thread.
[[gnu::noinline]] void thread_pool_executor::core::run_inside(worker& w, task& work,
                                                              std::exception_ptr* thrown) {
    task_scope scope{work};
    task_info info = info_of(w, work);
    run_counted(
        w, scope, work, [&work] { work(); }, info, thrown);
}

// run_inside(), and passes the stop of the task that waits for this one on to it.
void thread_pool_executor::core::run_taken(worker& w, task& work, const std::stop_token& stop) {
    task_scope scope{work};
    const std::stop_callback pass_on{stop, [&scope] { interrupt(scope); }};
    task_info info = info_of(w, work);
    run_counted(
        w, scope, work, [&work] { work(); }, info);
}

// A waiter has claimed the body of a queued task. If the queue throws, the claimed body must run all
// the same.
void thread_pool_executor::core::note_stale_entry() noexcept {
    try {
        backlog_.add_stale_entry();
    } catch (...) {
        report_queue_failure();
    }
}

void thread_pool_executor::core::run_claimed(worker& w, future_link body, const std::stop_token& stop) {
    note_stale_entry();
    task_scope scope{task_scope::of_future{}};
    const std::stop_callback pass_on{stop, [&scope] { interrupt(scope); }};
    task none;
    task_info info{.id = body.id(), .priority = body.priority(), .worker = &w.info};
    if (task_times_) {
        info.waited = std::chrono::steady_clock::now() - body.submitted();
    }
    if (!run_counted(
            w, scope, none, [body] { body.run(); }, info)) {
        body.cancel();  // cancels if a hook kept the body from running; else changes nothing
    }
}

void thread_pool_executor::core::run_claimed_child(worker& w, future_link entry, task& child) {
    note_stale_entry();
    if (hooks_ == nullptr && !task_times_) {
        run_child(w, child);
        return;
    }
    task_scope scope{child};
    task_info info{.id = entry.id(), .priority = entry.priority(), .worker = &w.info};
    if (task_times_) {
        info.waited = std::chrono::steady_clock::now() - entry.submitted();
    }
    run_counted(
        w, scope, child, [&child] { child(); }, info);
}

bool thread_pool_executor::core::run_counted(worker& w, task_scope& scope, task& work,
                                             function_ref<void()> body, task_info& info,
                                             std::exception_ptr* thrown) {
    const task_id outer = w.current.load(std::memory_order_relaxed);  // relaxed, owner
    const bool first = std::exchange(w.holds_first, false);           // already counted by enlist()
    const std::uint32_t depth = first ? 0 : w.depth.load();
    w.current.store(info.id, std::memory_order_relaxed);  // relaxed, statistic: describe()
    if (!first) {
        count_start(w, depth + 1);
    }
    stop_if_stopping(scope);
    const bool fine = run_hooked(w, scope, work, body, info, thrown);
    if (w.stage == worker_stage::let_go) {
        return fine;
    }
    work = nullptr;  // before it counts as completed
    count_end(w, depth);
    w.current.store(outer, std::memory_order_relaxed);  // relaxed, statistic: describe()
    return fine;
}

// Repeats a stop that shutdown_now() requested before the scope was reset, or could not request
// because the worker had not begun. A later stop arrives by itself: shutdown_now() changes the
// state before it requests stops, and both shutdown_now() and the reset lock the scope.
void thread_pool_executor::core::stop_if_stopping(task_scope& scope) const {
    if (!runs_queue(control().state)) {
        interrupt(scope);
    }
}

// What leaves the body goes to `*to_caller` if `to_caller` is not null, else to `uncaught`.
bool thread_pool_executor::core::run_hooked(worker& w, task_scope& scope, task& work,
                                            function_ref<void()> body, task_info& info,
                                            std::exception_ptr* to_caller) {
    std::chrono::steady_clock::time_point started{};
    std::int64_t outer_started = 0;
    if (task_times_) {
        started = std::chrono::steady_clock::now();
        outer_started = w.started_at.exchange(started.time_since_epoch().count());
    }
    const auto before = [&] {
        // Calls the callable's priority(), which may throw.
        info.priority = work.empty() ? info.priority : work.priority();
        hooks_->before_execute(info);
    };
    if (hooks_ != nullptr && !guarded(info, before)) {
        if (task_times_) {
            w.started_at.store(outer_started);
        }
        return false;  // the body is skipped; its future is cancelled when the task is destroyed
    }
    const std::exception_ptr thrown = to_caller != nullptr ? what_leaves(body) : call(scope, body);
    const auto pass_on = [&] {
        if (thrown != nullptr && to_caller != nullptr) {
            *to_caller = thrown;
        } else if (thrown != nullptr) {
            uncaught(info, thrown);
        }
    };
    if (task_times_) {
        w.started_at.store(outer_started);
    }
    if (w.stage == worker_stage::let_go) {
        pass_on();
        return true;
    }
    bool fine = thrown == nullptr;
    if (hooks_ != nullptr) {
        info.ran = task_times_ ? std::chrono::steady_clock::now() - started : std::chrono::nanoseconds{0};
        fine = guarded(info, [&] { hooks_->after_execute(info, thrown); }) && fine;
    }
    pass_on();
    return fine;
}

// Returns what left the body; null for `interrupted` after a stop request, which is a normal end.
std::exception_ptr thread_pool_executor::core::call(const task_scope& scope,
                                                    function_ref<void()> body) const {
    if (uncaught_.terminates()) {
        call_or_terminate(scope, body);
        return nullptr;
    }
    try {
        call_to_the_end(scope, body);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace spool::inline v1
