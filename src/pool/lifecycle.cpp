// The pool ends: shutdown, stop, tidy, terminate, and the destructor on any thread.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"
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
void thread_pool_executor::core::wake_everybody() noexcept {
    backlog_.wake_consumers();
    backlog_.wake_producers();
    changed_.notify_all();
}

void thread_pool_executor::core::shutdown() {
    std::exception_ptr error;
    task* const none = nullptr;
    steps().shutdown(none, error);
}

std::vector<task> thread_pool_executor::core::shutdown_now() {
    control_.advance_to(run_state::stopping);
    SPOOL_PAUSE_POINT("shutdown_now: moved");
    settle_queue();  // see pool_steps
    wake_everybody();
    roster_.request_stops();
    struct at_end {  // also if there is no memory for the list
        core& pool;
        ~at_end() {
            pool.guarded(pool.pool_info_, [this] { pool.try_terminate(); });
        }
    };
    const at_end terminate{*this};
    SPOOL_PAUSE_POINT("shutdown_now: about to drain");
    return backlog_.take_all();
}

// Called by each thread that may have removed the last obstacle: the last worker, a queued task.
void thread_pool_executor::core::try_terminate() {
    if (!steps().try_tidy()) {
        return;
    }
    detail::receive_in_library(this);
    if (hooks_ != nullptr) {
        tidier_.store(std::this_thread::get_id());
        guarded(pool_info_, [&] { hooks_->terminated(); });
        tidier_.store({});
    }
    detail::hand_over_in_library(this);
    SPOOL_PAUSE_POINT("terminate: about to be terminated");
    control_.advance_to(run_state::terminated);
    changed_.notify_all();  // pair (S): the control word
}

bool thread_pool_executor::core::await_termination(deadline until, const std::stop_token& stop) {
    if (until.is_never() && tidies_here()) {
        throw std::logic_error("thread_pool_executor \"" + name_ +
                               "\": the terminated hook would wait for itself");
    }
    const auto ended = [this] { return control().state == run_state::terminated; };
    // pair (S): the control word and the roster's flag are changed before changed_ is notified
    const auto ended_or_abandoned = [&] { return ended() || (until.is_never() && is_abandoned()); };
    for (;;) {
        const wait_result how = changed_.await(ended_or_abandoned, {.until = until, .stop = stop});
        if (how == wait_result::timed_out || (how == wait_result::ready && ended())) {
            detail::receive_in_library(this);
            return how == wait_result::ready;
        }
        if (stop.stop_requested()) {
            throw interrupted("thread_pool_executor \"" + name_ +
                              "\": stop requested while waiting for its termination");
        }
        run_what_nobody_can(stop);
    }
}

void thread_pool_executor::core::close() {
    if (tidies_here()) {  // only the terminated hook is left, and it makes this call
        roster_.join_ended();
        return;
    }
    if (worker* const self = self_service::of(*this)) {
        close_on_worker(*self);
        return;
    }
    shutdown();
    wait_for_the_end(token_or_none());
    detail::receive_in_library(this);
    roster_.join_ended();
}

// Waits without limit; a stop turns the wait into shutdown_now(). Throws nothing: destructors call
// it.
void thread_pool_executor::core::wait_for_the_end(const std::stop_token& stop) {
    const auto ended_or_stranded = [this] {
        return control().state == run_state::terminated || steps().is_stranded();
    };
    std::stop_token patience = stop;
    while (control().state != run_state::terminated) {
        const wait_result how = changed_.await(ended_or_stranded, {.stop = patience});
        if (how == wait_result::interrupted || (patience.stop_requested() && steps().is_stranded())) {
            patience = {};
            discard_the_queue();
        } else {
            run_what_nobody_can(patience);
        }
    }
}

// Destroys what shutdown_now() hands back, which cancels the futures.
void thread_pool_executor::core::discard_the_queue() noexcept {
    try {
        static_cast<void>(shutdown_now());
    } catch (...) {  // no memory for the list: the tasks are destroyed with the queue
    }
}

// No worker is left and none could be started: runs the queued tasks on the caller, each when it is
// due, so that none is lost.
void thread_pool_executor::core::run_what_nobody_can(const std::stop_token& stop) {
    const auto nothing_to_do = [this] {
        const pool_control c = control();
        return c.workers != 0 || c.state != run_state::shutting_down || queue_is_empty();
    };
    while (!nothing_to_do()) {
        std::optional<task> orphan;
        // At most a second per wait: a user's queue may ignore the stop.
        const wait_limits a_while{.until = deadline::after(std::chrono::seconds{1}), .stop = stop};
        if (stop.stop_requested() || !pop_or_report(orphan, pool_info_, a_while, nothing_to_do)) {
            break;
        }
        if (!backlog_.try_claim(*orphan)) {
            continue;
        }
        guarded(pool_info_, [&] {
            task_scope scope{*orphan};
            scope.set_clock(clock_.get());
            (*orphan)();
        });
    }
    try_terminate();
}

// Returns false if there was no task. An exception of a user's queue must not end the pool's last
// steps: it is reported, and the caller asks the queue again after a pause.
bool thread_pool_executor::core::pop_or_report(std::optional<task>& next, const worker_info& where,
                                               const wait_limits& limits, function_ref<bool()> give_up) {
    try {
        return backlog_.pop_until(next, limits, give_up) == wait_result::ready;
    } catch (...) {
        uncaught(where, std::current_exception());
        back_off();
        return false;
    }
}

// close() on a worker of the pool, inside a task or a hook. Runs the queue together with the other
// workers, and waits until those are gone, except workers that are inside close() too.
void thread_pool_executor::core::close_on_worker(worker& w) {
    shutdown();
    run_first(w);
    self_service::for_each_of(*this, [this](worker& one) { run_kept(one); });
    run_the_rest(w);
    // Workers that waited for tasks which were not due: there is none any more, so they leave.
    backlog_.wake_consumers();
    self_service::for_each_of(*this, [this](worker& one) {
        if (!std::exchange(one.closing, true)) {
            closers_like(one).fetch_add(1);  // until the worker leaves
        }
    });
    changed_.notify_all();  // pair (S): closers_, leaving_closers_
    // pair (S): these words change before changed_ is notified
    const auto alone = [this] { return control_.at_most(closers_.load(), leaving_closers_.load()); };
    if (changed_.await(alone, {.stop = token_or_none()}) == wait_result::interrupted) {
        discard_the_queue();
        static_cast<void>(changed_.await(alone));
    }
    roster_.join_ended();
}

// Runs the task that the worker was started with, if worker_started closes the pool.
void thread_pool_executor::core::run_first(worker& w) {
    task first = std::move(w.first);
    if (first.empty()) {
        return;
    }
    if (try_claim(w, first)) {
        run_inside(w, first);
    }
}

void thread_pool_executor::core::run_the_rest(worker& w) {
    const auto nothing_to_do = [this] { return !runs_queue(control().state) || queue_is_empty(); };
    while (!nothing_to_do()) {
        std::optional<task> next;
        if (!pop_or_report(next, w.info, {}, nothing_to_do)) {
            continue;
        }
        if (backlog_.try_claim(*next)) {
            run_inside(w, *next);
        }
    }
}

void thread_pool_executor::core::destroy() {
    calls_.expect_none(name_);
    close();
    calls_.expect_none(name_);
    self_service::for_each_of(*this, [this](worker& self) {
        if (self.stage == worker_stage::working) {  // changed by this very thread
            let_go(self);
        }
    });
}

// For a pool that a task or a hook destroys on this worker: counts the worker out here and detaches
// its thread, which exits when its task returns.
void thread_pool_executor::core::let_go(worker& w) {
    if (hooks_ != nullptr && !w.leaving) {
        guarded(w.info, [&] { hooks_->worker_stopped(w.info); });
    }
    roster_.release(w);
    forget_closer(w);
    if (w.leaving) {
        control_.end_departure();
    } else {
        control_.release_worker();
    }
    tell_of_free_place();
    try_terminate();
}

}  // namespace spool::inline v1
