#include "pool/lifecycle_path.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include "pool/worker/kept_tasks.hpp"
#include "pool/worker/task_runner.hpp"
#include "pool/worker/worker_wait_context.hpp"
#include "spool/base/error.hpp"
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

template <class Pool>
std::vector<task> lifecycle_path<Pool>::shutdown_now() {
    pool_.control.advance_to(run_state::stopping);
    SPOOL_PAUSE_POINT("shutdown_now: moved");
    pool_.backlog.synchronize_with_producers();  // see THE HANDSHAKE in admission_path.hpp
    wake_all();
    pool_.roster.request_stops();
    struct at_end {  // also if there is no memory for the list
        lifecycle_path& path;
        ~at_end() {
            const pool_config& config = path.pool_.config;
            config.guarded(config.pool_info, [this] { path.try_terminate(); });
        }
    };
    const at_end terminate{*this};
    SPOOL_PAUSE_POINT("shutdown_now: about to drain");
    std::vector<task> handed_back = pool_.backlog.take_all();
    pool_.meter.count_taken_out(handed_back.size());
    return handed_back;
}

template <class Pool>
bool lifecycle_path<Pool>::await_termination(deadline until, const std::stop_token& stop) {
    if (until.is_never() && pool_.termination.is_hook_here()) {
        throw std::logic_error(pool_.config.label + ": the terminated hook would wait for itself");
    }
    const auto ended = [this] { return pool_.control.load().state == run_state::terminated; };
    // A wait with a limit only waits.
    const auto nobody_ends_it = [&] {
        return until.is_never() && pool_.roster.has_start_failed() && is_stranded();
    };
    for (;;) {
        const wait_result how = pool_.termination.await([&] { return ended() || nobody_ends_it(); },
                                                        {.until = until, .stop = stop});
        if (how == wait_result::timed_out || (how == wait_result::ready && ended())) {
            detail::receive_in_library(&pool_);
            return how == wait_result::ready;
        }
        if (stop.stop_requested()) {
            throw interrupted(pool_.config.label + ": stop requested while waiting for its termination");
        }
        drain_on_caller(stop);
    }
}

template <class Pool>
void lifecycle_path<Pool>::close() {
    if (pool_.termination.is_hook_here()) {  // only the terminated hook is left, and it makes this call
        pool_.roster.join_ended();
        return;
    }
    if (worker* const self = worker_wait_context::of(&pool_)) {
        close_on_worker(*self);
        return;
    }
    shutdown();
    wait_for_end(token_or_none());
    detail::receive_in_library(&pool_);
    pool_.roster.join_ended();
}

// Waits without limit; a stop turns the wait into shutdown_now(). Throws nothing: destructors call
// it.
template <class Pool>
void lifecycle_path<Pool>::wait_for_end(const std::stop_token& stop) {
    const auto ended = [this] { return pool_.control.load().state == run_state::terminated; };
    std::stop_token interrupts = stop;
    while (!ended()) {
        const wait_result how =
            pool_.termination.await([&] { return ended() || is_stranded(); }, {.stop = interrupts});
        if (how == wait_result::interrupted || (interrupts.stop_requested() && is_stranded())) {
            interrupts = {};
            discard_queue();
        } else {
            drain_on_caller(interrupts);
        }
    }
}

// Destroys what shutdown_now() hands back, which cancels the futures.
template <class Pool>
void lifecycle_path<Pool>::discard_queue() noexcept {
    try {
        static_cast<void>(shutdown_now());
    } catch (...) {  // no memory for the list: the tasks are destroyed with the queue
    }
}

// No worker is left and none could be started: runs the queued tasks on the caller, each when it is
// due, so that none is lost.
template <class Pool>
void lifecycle_path<Pool>::drain_on_caller(const std::stop_token& stop) {
    const auto nothing_to_do = [this] {
        const pool_control c = pool_.control.load();
        return c.workers != 0 || c.state != run_state::shutting_down || pool_.backlog.is_surely_empty();
    };
    while (!nothing_to_do()) {
        std::optional<task> orphan;
        // At most a second per wait: a user's queue may ignore the stop.
        const wait_limits a_while{.until = deadline::after(std::chrono::seconds{1}), .stop = stop};
        if (stop.stop_requested() || !pop_or_report(orphan, pool_.config.pool_info, a_while, nothing_to_do)) {
            break;
        }
        if (!pool_.backlog.try_claim(*orphan)) {
            continue;
        }
        pool_.config.guarded(pool_.config.pool_info, [&] {
            task_scope scope{*orphan};
            scope.set_clock(pool_.config.clock.get());
            (*orphan)();
        });
    }
    try_terminate();
}

// Returns false if there was no task. An exception of a user's queue must not end the pool's last
// steps: it is reported, and the caller asks the queue again after a pause.
template <class Pool>
bool lifecycle_path<Pool>::pop_or_report(std::optional<task>& next, const worker_info& where,
                                         const wait_limits& limits, function_ref<bool()> give_up) {
    try {
        return pool_.backlog.pop_until(next, limits, give_up) == wait_result::ready;
    } catch (...) {
        pool_.config.uncaught(where, std::current_exception());
        worker_path<Pool>{pool_}.back_off();
        return false;
    }
}

// close() on a worker of the pool, inside a task or a hook. Runs the queue together with the other
// workers, and waits until those are gone, except workers that are inside close() too.
template <class Pool>
void lifecycle_path<Pool>::close_on_worker(worker& w) {
    shutdown();
    run_first(w);
    worker_wait_context::for_each_of(&pool_, [this](worker& one) { kept_tasks{pool_}.run_all(one); });
    drain_on_worker(w);
    // Workers that waited for tasks which were not due: there is none any more, so they leave.
    pool_.backlog.wake_consumers();
    worker_wait_context::for_each_of(&pool_, [this](worker& one) { pool_.termination.enter_close(one); });
    pool_.termination.notify();  // pair (S): the closers
    const auto alone = [this] { return pool_.termination.only_closers_left(pool_.control); };
    if (pool_.termination.await(alone, {.stop = token_or_none()}) == wait_result::interrupted) {
        discard_queue();
        static_cast<void>(pool_.termination.await(alone));
    }
    pool_.roster.join_ended();
}

// Runs the task that the worker was started with, if worker_started closes the pool.
template <class Pool>
void lifecycle_path<Pool>::run_first(worker& w) {
    task first = std::move(w.first);
    if (!first.empty() && worker_path<Pool>{pool_}.try_claim(w, first)) {
        task_runner{pool_}.run_nested(w, first);
    }
}

template <class Pool>
void lifecycle_path<Pool>::drain_on_worker(worker& w) {
    const auto nothing_to_do = [this] {
        return !runs_queue(pool_.control.load().state) || pool_.backlog.is_surely_empty();
    };
    while (!nothing_to_do()) {
        std::optional<task> next;
        if (pop_or_report(next, w.info, {}, nothing_to_do) && pool_.backlog.try_claim(*next)) {
            task_runner{pool_}.run_nested(w, *next);
        }
    }
}

template <class Pool>
void lifecycle_path<Pool>::destroy() {
    pool_.calls.expect_none(pool_.config.name);
    close();
    pool_.calls.expect_none(pool_.config.name);
    worker_wait_context::for_each_of(&pool_, [this](worker& self) {
        if (self.stage == worker_stage::working) {  // changed by this very thread
            detach_self(self);
        }
    });
}

// For a pool that a task or a hook destroys on this worker: counts the worker out here and detaches
// its thread, which exits when its task returns.
template <class Pool>
void lifecycle_path<Pool>::detach_self(worker& w) {
    const pool_config& config = pool_.config;
    if (config.hooks != nullptr && !w.leaving) {
        config.guarded(w.info, [&] { config.hooks->worker_stopped(w.info); });
    }
    pool_.roster.release(w);
    pool_.termination.leave_close(w);
    if (w.leaving) {
        pool_.control.end_departure();
    } else {
        pool_.control.release_worker();
    }
    worker_path<Pool>{pool_}.notify_slot_free();
    try_terminate();
}

template class lifecycle_path<detail::pool>;

}  // namespace spool::inline v1
