// A worker works: it fetches a task, runs it between the hooks, and in the end leaves.
#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"
#include "pool/timed_body.hpp"
#include "spool/base/error.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1 {
namespace {

// Two frames, and neither is ever inlined: merged into one, the handler would be found first and the stack unwound to it before
// the process ends. As it is no handler is found for what leaves the body, and the crash shows the place that threw.
[[gnu::noinline]] void call_to_the_end(const task_scope& scope, function_ref<void()> body) {
    try {
        body();
    } catch (const interrupted&) {
        if (!scope.stop_requested()) {
            throw;
        }
    }
}

// A worker that is needed, though it has been idle for longer than the keep-alive, asks again at most so often.
constexpr std::chrono::nanoseconds least_patience = std::chrono::seconds{1};

[[gnu::noinline]] void call_or_terminate(const task_scope& scope, function_ref<void()> body) noexcept {
    call_to_the_end(scope, body);
}

// A worker's place at a queue that keeps a store per consumer. One that could not be attached (no memory) works without: null.
class consumer_place {
public:
    explicit consumer_place(blocking_queue<task>* queue) noexcept : queue_(queue) {}
    consumer_place(const consumer_place&) = delete;
    consumer_place& operator=(const consumer_place&) = delete;
    ~consumer_place() {
        if (queue_ != nullptr) {
            queue_->detach_consumer();
        }
    }

private:
    blocking_queue<task>* const queue_;
};

}  // namespace

void thread_pool_executor::core::work(const std::shared_ptr<worker>& self) {
    worker& w = *self;
    task_scope scope;
    if (!begin(w, scope)) {
        return;
    }
    self_service waits{*this, w};
    join_those_who_left();
    {
        const consumer_place place{attach(w) ? queue_.get() : nullptr};
        if (hooks_ != nullptr) {
            guarded(w.info, [&] { hooks_->worker_started(w.info); });
        }
        for (;;) {
            const served how = serve(w, scope);
            if (how == served::let_go) {
                return;  // the pool is gone but for what this thread holds
            }
            if (how == served::died ? hands_over() : !stays()) {
                break;
            }
        }
    }
    depart(w);
}

bool thread_pool_executor::core::begin(worker& w, task_scope& scope) {
    const std::lock_guard lock{workers_mutex_};
    if (w.stage != worker_stage::starting) {
        return false;
    }
    w.stage = worker_stage::working;
    w.thread_id = std::this_thread::get_id();
    count_alive(w);
    w.scope = &scope;
    return true;
}

// For want of memory it works on without a place of its own: nothing is lost by that.
bool thread_pool_executor::core::attach(const worker& w) {
    try {
        queue_->attach_consumer();
        return true;
    } catch (const std::bad_alloc&) {
    } catch (...) {
        uncaught(w.info, std::current_exception());
    }
    return false;
}

auto thread_pool_executor::core::serve(worker& w, task_scope& scope) -> served {
    task next = std::move(w.first);
    for (;;) {
        try {
            if (next.empty() && !fetch(next)) {
                return served::leave;
            }
        } catch (...) {  // from the queue
            uncaught(w.info, std::current_exception());
            back_off();
            return served::died;
        }
        if (const future_link link{next}; link && !link.claim()) {
            drop_husk();
            next = nullptr;
            if (std::exchange(w.holds_first, false)) {
                w.started.store(0);
                w.depth.store(0);
            }
            continue;
        }
        const bool fine = run(w, scope, next);
        if (w.stage == worker_stage::let_go) {  // set by this very thread, in the task that has just ended
            return served::let_go;
        }
        if (!fine) {
            return served::died;
        }
    }
}

// The next task; false if the worker is to leave, and then it is counted out already. It leaves when
//   1. the pool is stopping,
//   2. the pool is shutting down and the queue is empty,
//   3. there are more workers than the maximum,
//   4. it has waited for the keep-alive and that applies to it;
// for 3 and 4 only if others are left or the queue is empty.
bool thread_pool_executor::core::fetch(task& next) {
    bool timed_out = false;
    bool idle = false;
    bool needed = false;
    deadline::time_point idle_since{};
    for (;;) {
        // The version first: a setting that changes after it was read is noticed before the next sleep.
        const std::uint64_t version = settings_version_.load();
        const admission::sizes now = sizes();
        pool_control seen = control();
        const bool queue_matters = !accepts_tasks(seen.state) || timed_out || seen.workers > now.maximum;
        const bool queue_empty = queue_matters && queue_->empty();
        if (admission::must_leave(seen, queue_empty) ||
            admission::may_leave(seen, now, timed_out, queue_empty)) {
            departing_.fetch_add(1);  // before it is counted out: see try_terminate()
            if (control_.try_release_worker(seen)) {
                return false;
            }
            departing_.fetch_sub(1);
            continue;
        }
        if (std::exchange(timed_out, false)) {
            idle = false;  // it has to stay, for tasks that are not due: another turn of the keep-alive
            needed = true;
        }
        std::optional<task> polled = queue_->poll();
        if (!polled.has_value()) {
            deadline until = deadline::never();
            // The clock is read only by a worker that has run dry.
            if (admission::waits_with_limit(seen, now)) {
                if (!std::exchange(idle, true)) {
                    idle_since = deadline::clock::now();
                }
                const std::chrono::nanoseconds patience =
                    needed ? std::max(keep_alive(), least_patience) : keep_alive();
                if (patience < deadline::time_point::max() - idle_since) {
                    until = deadline::at(idle_since + patience);
                }
            }
            // pair (S): whoever changes one of these words wakes the consumers afterwards
            const auto look_again = [&] {
                const run_state state = control().state;
                return state != seen.state || settings_version_.load() != version ||
                       (!accepts_tasks(state) && queue_->empty());
            };
            timed_out = queue_->pop_until(polled, {.until = until}, look_again) == wait_result::timed_out;
        }
        if (polled.has_value()) {
            next = *std::move(polled);
            // relaxed, hint: decides only how long to back off
            poll_failures_.store(0, std::memory_order_relaxed);
            return true;
        }
    }
}

// False: something threw, and the worker is to be replaced.
bool thread_pool_executor::core::run(worker& w, task_scope& scope, task& work) {
    scope.reset(work);
    task_info info = info_of(w, work);
    const bool fine = run_counted(
        w, scope, work, [&work] { work(); }, info);
    if (w.stage != worker_stage::let_go) {
        scope.reset(work);  // nothing that comes now may reach what the task left behind
    }
    return fine;
}

task_info thread_pool_executor::core::info_of(const worker& w, const task& work) const {
    task_info info{.id = work.id(), .worker = &w.info};
    if (!task_times_) {
        return info;
    }
    if (const auto* timed = work.target<timed_body>()) {
        info.waited = std::chrono::steady_clock::now() - timed->submitted();
    } else if (queue_first_ && work.due() != due_time::min()) {
        // from when it could have run
        info.waited = (clock_ != nullptr ? clock_->now() : due_time::clock::now()) - work.due();
    }
    return info;
}

// A task run inside another on the same thread.
void thread_pool_executor::core::run_inside(worker& w, task& work) {
    task_scope scope{work};
    task_info info = info_of(w, work);
    run_counted(
        w, scope, work, [&work] { work(); }, info);
}

// The same with the stop of the task that waits for it passed on.
void thread_pool_executor::core::run_taken(worker& w, task& work, const std::stop_token& stop) {
    task_scope scope{work};
    const std::stop_callback pass_on{stop, [&scope] { scope.interrupt().request_stop(); }};
    task_info info = info_of(w, work);
    run_counted(
        w, scope, work, [&work] { work(); }, info);
}

void thread_pool_executor::core::run_claimed(worker& w, future_link body, const std::stop_token& stop) {
    husks_.fetch_add(1);
    if (queue_->remaining_capacity() == 0) {
        sweep_husks();  // somebody may wait for this very place
    }
    task_scope scope{task_scope::of_future{}};
    const std::stop_callback pass_on{stop, [&scope] { scope.interrupt().request_stop(); }};
    task none;
    task_info info{.id = body.id(), .priority = body.priority(), .worker = &w.info};
    if (task_times_) {
        info.waited = std::chrono::steady_clock::now() - body.submitted();
    }
    if (!run_counted(
            w, scope, none, [body] { body.run(); }, info)) {
        body.cancel();  // if a hook kept it from running; else it is done, and this changes nothing
    }
}

bool thread_pool_executor::core::run_counted(worker& w, task_scope& scope, task& work,
                                             function_ref<void()> body, task_info& info) {
    const task_id outer = w.current.load(std::memory_order_relaxed);  // relaxed, owner
    const bool first = std::exchange(w.holds_first, false);           // counted since it was enrolled
    const std::uint32_t depth = first ? 0 : w.depth.load();
    w.current.store(info.id, std::memory_order_relaxed);  // relaxed, statistic: describe()
    if (!first) {
        w.started.store(w.started.load() + 1);
        w.depth.store(depth + 1);
    }
    // A stop that shutdown_now() sent before scope.reset() is repeated here; one that it sends later arrives by itself:
    // it moves the state before it sends.
    if (!runs_queue(control().state)) {
        scope.interrupt().request_stop();
    }
    const bool fine = run_hooked(w, scope, work, body, info);
    if (w.stage == worker_stage::let_go) {
        return fine;
    }
    work = nullptr;  // before it counts as completed
    // relaxed, owner: only this thread writes it
    w.completed.store(w.completed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    w.depth.store(depth);
    w.current.store(outer, std::memory_order_relaxed);  // relaxed, statistic: describe()
    return fine;
}

bool thread_pool_executor::core::run_hooked(worker& w, task_scope& scope, task& work,
                                            function_ref<void()> body, task_info& info) {
    std::chrono::steady_clock::time_point started{};
    const std::int64_t outer_started = w.started_at.load();
    if (task_times_) {
        started = std::chrono::steady_clock::now();
        w.started_at.store(started.time_since_epoch().count());
    }
    const auto before = [&] {
        info.priority = work.empty() ? info.priority : work.priority();  // asks the callable: it may throw
        hooks_->before_execute(info);
    };
    if (hooks_ != nullptr && !guarded(w.info, before)) {
        return false;  // the body is skipped; its future is cancelled when the task is destroyed
    }
    const std::exception_ptr thrown = call(scope, body);
    w.started_at.store(outer_started);
    if (w.stage == worker_stage::let_go) {
        if (thrown != nullptr) {
            uncaught(w.info, thrown);
        }
        return true;
    }
    bool fine = thrown == nullptr;
    if (hooks_ != nullptr) {
        info.ran = task_times_ ? std::chrono::steady_clock::now() - started : std::chrono::nanoseconds{0};
        fine = guarded(w.info, [&] { hooks_->after_execute(info, thrown); }) && fine;
    }
    if (thrown != nullptr) {
        uncaught(w.info, thrown);
    }
    return fine;
}

// What left the body; `interrupted` after a stop request is a normal end.
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
