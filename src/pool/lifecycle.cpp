// The pool ends: shutdown, stop, tidy, terminate, and the destructor on any thread.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "pool/pool.hpp"
#include "pool/task_runner.hpp"
#include "pool/worker_wait_context.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1 {
namespace {

// A destructor must wait even if there is no memory for a token.
std::stop_token token_or_none() noexcept {
    try {
        return this_task::stop_token();
    } catch (...) {
        return {};
    }
}

}  // namespace

// Wakes every thread that may have to check the control word again. pair (S): the word was changed
// before.
void detail::pool::wake_everybody() noexcept {
    backlog.wake_consumers();
    backlog.wake_producers();
    termination.notify();
}

void detail::pool::shutdown() {
    std::exception_ptr error;
    task* const none = nullptr;
    steps().shutdown(none, error);
}

std::vector<task> detail::pool::shutdown_now() {
    control.advance_to(run_state::stopping);
    SPOOL_PAUSE_POINT("shutdown_now: moved");
    settle_queue();  // see pool_steps
    wake_everybody();
    roster.request_stops();
    struct at_end {  // also if there is no memory for the list
        detail::pool& pool;
        ~at_end() {
            pool.config.guarded(pool.config.pool_info, [this] { pool.try_terminate(); });
        }
    };
    const at_end terminate{*this};
    SPOOL_PAUSE_POINT("shutdown_now: about to drain");
    return backlog.take_all();
}

// Called by each thread that may have removed the last obstacle: the last worker, a queued task.
void detail::pool::try_terminate() {
    if (!steps().try_tidy()) {
        return;
    }
    detail::receive_in_library(this);
    if (config.hooks != nullptr) {
        termination.run_hook(
            [this] { config.guarded(config.pool_info, [this] { config.hooks->terminated(); }); });
    }
    detail::hand_over_in_library(this);
    SPOOL_PAUSE_POINT("terminate: about to be terminated");
    control.advance_to(run_state::terminated);
    termination.notify();  // pair (S): the control word
}

bool detail::pool::await_termination(deadline until, const std::stop_token& stop) {
    if (until.is_never() && termination.is_hook_here()) {
        throw std::logic_error(config.label + ": the terminated hook would wait for itself");
    }
    const auto ended = [this] { return control.load().state == run_state::terminated; };
    // pair (S): the control word and the roster's flag are changed before the notification
    const auto ended_or_abandoned = [&] { return ended() || (until.is_never() && is_abandoned()); };
    for (;;) {
        const wait_result how = termination.await(ended_or_abandoned, {.until = until, .stop = stop});
        if (how == wait_result::timed_out || (how == wait_result::ready && ended())) {
            detail::receive_in_library(this);
            return how == wait_result::ready;
        }
        if (stop.stop_requested()) {
            throw interrupted(config.label + ": stop requested while waiting for its termination");
        }
        run_what_nobody_can(stop);
    }
}

void detail::pool::close() {
    if (termination.is_hook_here()) {  // only the terminated hook is left, and it makes this call
        roster.join_ended();
        return;
    }
    if (worker* const self = worker_wait_context::of(this)) {
        close_on_worker(*self);
        return;
    }
    shutdown();
    wait_for_the_end(token_or_none());
    detail::receive_in_library(this);
    roster.join_ended();
}

// Waits without limit; a stop turns the wait into shutdown_now(). Throws nothing: destructors call
// it.
void detail::pool::wait_for_the_end(const std::stop_token& stop) {
    const auto ended_or_stranded = [this] {
        return control.load().state == run_state::terminated || steps().is_stranded();
    };
    std::stop_token patience = stop;
    while (control.load().state != run_state::terminated) {
        const wait_result how = termination.await(ended_or_stranded, {.stop = patience});
        if (how == wait_result::interrupted || (patience.stop_requested() && steps().is_stranded())) {
            patience = {};
            discard_the_queue();
        } else {
            run_what_nobody_can(patience);
        }
    }
}

// Destroys what shutdown_now() hands back, which cancels the futures.
void detail::pool::discard_the_queue() noexcept {
    try {
        static_cast<void>(shutdown_now());
    } catch (...) {  // no memory for the list: the tasks are destroyed with the queue
    }
}

// No worker is left and none could be started: runs the queued tasks on the caller, each when it is
// due, so that none is lost.
void detail::pool::run_what_nobody_can(const std::stop_token& stop) {
    const auto nothing_to_do = [this] {
        const pool_control c = control.load();
        return c.workers != 0 || c.state != run_state::shutting_down || queue_is_empty();
    };
    while (!nothing_to_do()) {
        std::optional<task> orphan;
        // At most a second per wait: a user's queue may ignore the stop.
        const wait_limits a_while{.until = deadline::after(std::chrono::seconds{1}), .stop = stop};
        if (stop.stop_requested() || !pop_or_report(orphan, config.pool_info, a_while, nothing_to_do)) {
            break;
        }
        if (!backlog.try_claim(*orphan)) {
            continue;
        }
        config.guarded(config.pool_info, [&] {
            task_scope scope{*orphan};
            scope.set_clock(config.clock.get());
            (*orphan)();
        });
    }
    try_terminate();
}

// Returns false if there was no task. An exception of a user's queue must not end the pool's last
// steps: it is reported, and the caller asks the queue again after a pause.
bool detail::pool::pop_or_report(std::optional<task>& next, const worker_info& where,
                                 const wait_limits& limits, function_ref<bool()> give_up) {
    try {
        return backlog.pop_until(next, limits, give_up) == wait_result::ready;
    } catch (...) {
        config.uncaught(where, std::current_exception());
        back_off();
        return false;
    }
}

// close() on a worker of the pool, inside a task or a hook. Runs the queue together with the other
// workers, and waits until those are gone, except workers that are inside close() too.
void detail::pool::close_on_worker(worker& w) {
    shutdown();
    run_first(w);
    worker_wait_context::for_each_of(this, [this](worker& one) { run_kept(one); });
    run_the_rest(w);
    // Workers that waited for tasks which were not due: there is none any more, so they leave.
    backlog.wake_consumers();
    worker_wait_context::for_each_of(this, [this](worker& one) { termination.enter_close(one); });
    termination.notify();  // pair (S): the closers
    const auto alone = [this] { return termination.only_closers_left(control); };
    if (termination.await(alone, {.stop = token_or_none()}) == wait_result::interrupted) {
        discard_the_queue();
        static_cast<void>(termination.await(alone));
    }
    roster.join_ended();
}

// Runs the task that the worker was started with, if worker_started closes the pool.
void detail::pool::run_first(worker& w) {
    task first = std::move(w.first);
    if (first.empty()) {
        return;
    }
    if (try_claim(w, first)) {
        task_runner{*this}.run_nested(w, first);
    }
}

void detail::pool::run_the_rest(worker& w) {
    const auto nothing_to_do = [this] { return !runs_queue(control.load().state) || queue_is_empty(); };
    while (!nothing_to_do()) {
        std::optional<task> next;
        if (!pop_or_report(next, w.info, {}, nothing_to_do)) {
            continue;
        }
        if (backlog.try_claim(*next)) {
            task_runner{*this}.run_nested(w, *next);
        }
    }
}

void detail::pool::destroy() {
    calls.expect_none(config.name);
    close();
    calls.expect_none(config.name);
    worker_wait_context::for_each_of(this, [this](worker& self) {
        if (self.stage == worker_stage::working) {  // changed by this very thread
            let_go(self);
        }
    });
}

// For a pool that a task or a hook destroys on this worker: counts the worker out here and detaches
// its thread, which exits when its task returns.
void detail::pool::let_go(worker& w) {
    if (config.hooks != nullptr && !w.leaving) {
        config.guarded(w.info, [&] { config.hooks->worker_stopped(w.info); });
    }
    roster.release(w);
    termination.leave_close(w);
    if (w.leaving) {
        control.end_departure();
    } else {
        control.release_worker();
    }
    tell_of_free_place();
    try_terminate();
}

}  // namespace spool::inline v1
