#include "pool/worker/task_runner.hpp"

#include <utility>

#include "pool/worker/timed_body.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/pause_point.hpp"

namespace spool::inline v1 {
namespace {

// Two frames, and neither is ever inlined. In one frame, the handler would be found first, and the
// stack unwound to it before the process ends. With two, no handler is found for what leaves the
// body, and the crash shows the place that threw.
[[gnu::noinline]] void call_until_normal_exit(const task_scope& scope, function_ref<void()> body) {
    try {
        body();
    } catch (const interrupted&) {
        if (!is_normal_exit(std::current_exception(), &scope)) {
            throw;
        }
    }
}

std::exception_ptr catch_all_of(function_ref<void()> body) noexcept {
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
    call_until_normal_exit(scope, body);
}

}  // namespace

// A pool with hooks or clocks times the task in run_counted().
[[gnu::noinline]] bool task_runner::run_timed(worker& w, task_scope& scope, task& work) {
    if (!pool_.is_bare) {
        return run_observed(w, scope, work);
    }
    const task_meter::run timed = pool_.meter.begin(pool_, w, work);
    const bool fine = run_bare(w, scope, work);
    if (w.stage != worker_stage::detached) {
        pool_.meter.end(pool_, w, timed);
    }
    return fine;
}

bool task_runner::run_observed(worker& w, task_scope& scope, task& work) {
    scope.reset(work);
    task_info info = info_of(w, work);
    const bool fine = run_counted(
        w, scope, work, [&work] { work(); }, info);
    if (w.stage != worker_stage::detached) {
        scope.reset();  // later stops must not reach the stop state that the task left
    }
    return fine;
}

// Returns true for a normal end: `interrupted` after a stop request. Reports any other exception.
bool task_runner::report_unless_normal(const worker& w, const task_scope& scope,
                                       const std::exception_ptr& thrown) const noexcept {
    if (is_normal_exit(thrown, &scope)) {
        return true;
    }
    pool_.meter.count_failure();
    const task_id id = w.current.load(std::memory_order_relaxed);  // relaxed, owner
    pool_.config.uncaught(task_info{.id = id, .worker = &w.info}, thrown);
    return false;
}

task_info task_runner::info_of(const worker& w, const task& work) const {
    task_info info{.id = work.id(), .worker = &w.info};
    if (!pool_.config.task_times) {
        return info;
    }
    if (const auto* timed = work.target<timed_body>()) {
        info.waited = std::chrono::steady_clock::now() - timed->submitted();
    } else if (pool_.config.queue_first && work.due() != due_time::min()) {
        // since the time when the task could have run
        info.waited = pool_.config.now() - work.due();
    }
    return info;
}

// For a body whose task the worker does not have.
task_info task_runner::info_of(const worker& w, future_link body) const {
    task_info info{.id = body.id(), .priority = body.priority(), .worker = &w.info};
    if (pool_.config.task_times) {
        info.waited = std::chrono::steady_clock::now() - body.submitted();
    }
    return info;
}

[[gnu::noinline]] void task_runner::run_nested(worker& w, task& work, std::exception_ptr* thrown) {
    task_scope scope{work};
    task_info info = info_of(w, work);
    run_counted(
        w, scope, work, [&work] { work(); }, info, thrown);
}

void task_runner::run_nested(worker& w, task& work, const std::stop_token& stop) {
    task_scope scope{work};
    const std::stop_callback pass_on{stop, [&scope] { interrupt(scope); }};
    task_info info = info_of(w, work);
    run_counted(
        w, scope, work, [&work] { work(); }, info);
}

// A waiter has claimed the body of a queued task. If the queue throws, the claimed body must run all
// the same.
void task_runner::count_stale_entry() noexcept {
    try {
        pool_.backlog.add_stale_entry();
    } catch (...) {
        pool_.config.report_queue_failure();
    }
}

void task_runner::run_claimed(worker& w, future_link body, const std::stop_token& stop) {
    count_stale_entry();
    task_scope scope{task_scope::of_future{}};
    const std::stop_callback pass_on{stop, [&scope] { interrupt(scope); }};
    task none;
    task_info info = info_of(w, body);
    if (!run_counted(
            w, scope, none, [body] { body.run(); }, info, nullptr, body)) {
        body.cancel();  // cancels if a hook kept the body from running; else changes nothing
    }
}

void task_runner::run_claimed_child(worker& w, future_link entry, task& child) {
    count_stale_entry();
    if (pool_.config.hooks == nullptr && !pool_.config.task_times && !pool_.backlog.samples().is_on()) {
        run_child(w, child);
        return;
    }
    task_scope scope{child};
    task_info info = info_of(w, entry);
    run_counted(
        w, scope, child, [&child] { child(); }, info, nullptr, entry);
}

bool task_runner::run_counted(worker& w, task_scope& scope, task& work, function_ref<void()> body,
                              task_info& info, std::exception_ptr* thrown,
                              const std::optional<future_link>& claimed) {
    const task_id outer = w.current.load(std::memory_order_relaxed);  // relaxed, owner
    const bool first = std::exchange(w.holds_first, false);           // already counted by enlist()
    const std::uint32_t depth = first ? 0 : w.depth.load();
    w.current.store(info.id, std::memory_order_relaxed);  // relaxed, statistic: describe()
    if (!first) {
        count_start(w, depth + 1);
    }
    stop_if_stopping(scope);
    const task_meter::run timed =
        claimed.has_value() ? pool_.meter.begin(pool_, w, *claimed) : pool_.meter.begin(pool_, w, work);
    const bool fine = run_hooked(w, scope, work, body, info, thrown);
    if (w.stage == worker_stage::detached) {
        return fine;
    }
    pool_.meter.end(pool_, w, timed);
    work = nullptr;  // before it counts as completed
    count_end(w, depth);
    w.current.store(outer, std::memory_order_relaxed);  // relaxed, statistic: describe()
    return fine;
}

// Repeats a stop that shutdown_now() requested before the scope was reset, or could not request
// because the worker had not begun. A later stop arrives by itself: shutdown_now() changes the
// state before it requests stops, and both shutdown_now() and the reset lock the scope.
void task_runner::stop_if_stopping(task_scope& scope) const {
    if (!runs_queue(pool_.control.load().state)) {
        interrupt(scope);
    }
}

// What leaves the body goes to `*to_caller` if `to_caller` is not null, else to `uncaught`.
bool task_runner::run_hooked(worker& w, task_scope& scope, task& work, function_ref<void()> body,
                             task_info& info, std::exception_ptr* to_caller) {
    std::chrono::steady_clock::time_point started{};
    std::int64_t outer_started = 0;
    if (pool_.config.task_times) {
        started = std::chrono::steady_clock::now();
        outer_started = w.started_at.exchange(started.time_since_epoch().count());
    }
    const auto before = [&] {
        // Calls the callable's priority(), which may throw.
        info.priority = work.empty() ? info.priority : work.priority();
        pool_.config.hooks->before_execute(info);
    };
    if (pool_.config.hooks != nullptr && !pool_.config.guarded(info, before)) {
        if (pool_.config.task_times) {
            w.started_at.store(outer_started);
        }
        return false;  // the body is skipped; its future is cancelled when the task is destroyed
    }
    const std::exception_ptr thrown = to_caller != nullptr ? catch_all_of(body) : call(scope, body);
    if (thrown != nullptr) {
        pool_.meter.count_failure();
    }
    const auto pass_on = [&] {
        if (thrown != nullptr && to_caller != nullptr) {
            *to_caller = thrown;
        } else if (thrown != nullptr) {
            pool_.config.uncaught(info, thrown);
        }
    };
    if (pool_.config.task_times) {
        w.started_at.store(outer_started);
    }
    if (w.stage == worker_stage::detached) {
        pass_on();
        return true;
    }
    bool fine = thrown == nullptr;
    if (pool_.config.hooks != nullptr) {
        info.ran = pool_.config.task_times ? std::chrono::steady_clock::now() - started
                                           : std::chrono::nanoseconds{0};
        fine = pool_.config.guarded(info, [&] { pool_.config.hooks->after_execute(info, thrown); }) && fine;
    }
    pass_on();
    return fine;
}

// Returns what left the body; null for `interrupted` after a stop request, which is a normal end.
std::exception_ptr task_runner::call(const task_scope& scope, function_ref<void()> body) const {
    if (pool_.config.uncaught.terminates()) {
        call_or_terminate(scope, body);
        return nullptr;
    }
    try {
        call_until_normal_exit(scope, body);
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace spool::inline v1
