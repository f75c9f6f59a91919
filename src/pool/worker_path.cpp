#include "pool/worker_path.hpp"

#include <chrono>
#include <new>
#include <stdexcept>

#include "pool/admission_path.hpp"
#include "pool/fork/pool_fork.hpp"
#include "pool/lifecycle_path.hpp"
#include "pool/rejection_path.hpp"
#include "pool/worker/idle_wait.hpp"
#include "pool/worker/kept_tasks.hpp"
#include "pool/worker/task_runner.hpp"
#include "pool/worker/worker_wait_context.hpp"

namespace spool::inline v1 {
namespace {

// A worker's attachment to a queue that keeps a store per consumer. Null: the worker could not be
// attached (see attach()) and works without a store of its own.
class consumer_attachment {
public:
    explicit consumer_attachment(blocking_queue<task>* queue) noexcept : queue_(queue) {}
    consumer_attachment(const consumer_attachment&) = delete;
    consumer_attachment& operator=(const consumer_attachment&) = delete;
    ~consumer_attachment() {
        if (queue_ != nullptr) {
            queue_->detach_consumer();
        }
    }
    void forget() noexcept { queue_ = nullptr; }

private:
    blocking_queue<task>* queue_;
};

}  // namespace

// ---- A worker is started

template <class Pool>
bool worker_path<Pool>::prestart() {
    std::exception_ptr error;
    if (try_start(nullptr, start_bound::core_size, error) == start_result::started) {
        return true;
    }
    retry_start_for_queued();
    return false;
}

// Raised: starts a worker per queued task, at most as many as the size has grown by. A worker that
// finds no task stays, as a core worker.
template <class Pool>
void worker_path<Pool>::start_after_raised_core(std::size_t before, std::size_t n) {
    if (n <= before) {
        return;
    }
    for (std::size_t wanted = std::min(n - before, pool_.backlog.queue().size());
         wanted > 0 && !pool_.backlog.is_empty(); --wanted) {
        if (!prestart()) {
            break;
        }
    }
}

template <class Pool>
void worker_path<Pool>::body_dropped(worker& w) noexcept {
    std::optional<task> first = pool_.roster.drop(w);
    if (!first.has_value()) {
        return;
    }
    const std::exception_ptr error =
        std::make_exception_ptr(std::logic_error("the thread factory dropped the body of a worker"));
    pool_.roster.record_start_failure(error);
    pool_.control.release_worker();
    notify_slot_free();
    pool_.config.uncaught(w.info, error);
    pool_.config.guarded(w.info, [&] { admit_again(w, *first); });
    pool_.config.guarded(w.info, [this] { retry_start_for_queued(); });
    try_terminate();
}

// Submits the first task of a worker that has lost its thread. Reports what the queue throws, and
// counts the task as rejected if the pool does not take it.
template <class Pool>
void worker_path<Pool>::admit_again(worker& w, task& first) {
    if (first.empty()) {
        return;
    }
    try {
        std::exception_ptr error;
        if (admission_path<Pool>{pool_}.readmit(first, error) == admission_result::accepted) {
            return;
        }
    } catch (...) {
        pool_.config.uncaught(w.info, std::current_exception());
    }
    if (pool_.backlog.try_recover(first)) {
        rejection_path{pool_}.count(first, rejection_reason::no_thread);
    }
}

// ---- On the worker's thread

template <class Pool>
void worker_path<Pool>::work(const std::shared_ptr<worker>& self) {
    worker& w = *self;
    task_scope scope;
    scope.set_clock(pool_.config.clock.get());
    if (!pool_.roster.begin(w, scope)) {
        return;
    }
    w.stack = stack_room::of_this_thread();
    worker_wait_context waits{pool_, w};
    {
        consumer_attachment attachment{attach(w) ? &pool_.backlog.queue() : nullptr};
        if (pool_.config.hooks != nullptr) {
            pool_.config.guarded(w.info, [&] { pool_.config.hooks->worker_started(w.info); });
            // Set by this very thread: the hook destroyed the pool.
            if (w.stage == worker_stage::detached) {
                return;
            }
        }
        for (;;) {
            const served how = w.errand.has_value() ? serve_errand(w, scope) : serve(w, scope);
            if (how == served::detached) {
                if (is_abandoned(pool_)) {  // in a forked child
                    attachment.forget();
                    end_task_in_child(pool_);
                }
                return;  // the pool is gone, but for what this thread holds
            }
            if (how == served::died ? try_replace_self() : !rejoin_if_needed()) {
                break;
            }
        }
    }
    depart(w);
}

// Returns false if the queue throws, say for lack of memory: the worker then works without a store
// of its own, which loses nothing.
template <class Pool>
bool worker_path<Pool>::attach(const worker& w) {
    try {
        pool_.backlog.queue().attach_consumer();
        return true;
    } catch (const std::bad_alloc&) {
    } catch (...) {
        pool_.config.uncaught(w.info, std::current_exception());
    }
    return false;
}

// Makes the calls of its loop on a copy of the path, whose address no call takes: so the compiler
// keeps the pool's address in a register.
template <class Pool>
auto worker_path<Pool>::serve(worker& w, task_scope& scope) -> served {
    worker_path path{pool_};
    task next = std::move(w.first);
    if (w.needs_attention && next.empty()) {  // after worker_started
        if (const served how = attend(w, scope, true); how != served::continue_) {
            return how;
        }
    }
    try {
        if (next.empty() && !fetch_slowly(w, next)) {
            return served::leave;
        }
        do {
            const bool fine = path.claim_and_run(w, scope, next);
            // Set by this very thread, in the task or in the task's destructor.
            if (w.needs_attention) [[unlikely]] {
                if (const served how = attend(w, scope, fine); how != served::continue_) {
                    return how;
                }
            } else if (!fine) [[unlikely]] {
                return served::died;
            }
        } while (path.fetch(w, next));
        return served::leave;
    } catch (...) {  // from the queue
        pool_.config.uncaught(w.info, std::current_exception());
        back_off();
        return served::died;
    }
}

// Dequeues a task. The first line decides for a pool that runs and has no worker too many; in any
// other case, and if the queue is empty, fetch_slowly() decides the same and may wait.
template <class Pool>
[[gnu::always_inline]] inline bool worker_path<Pool>::fetch(worker& w, task& next) {
    const pool_control now = pool_.control.load();
    return (accepts_tasks(now.state) && now.workers <= pool_.settings.maximum_size() &&
            pool_.backlog.poll_into(next)) ||
           worker_path{pool_}.fetch_slowly(w, next);
}

template <class Pool>
[[gnu::noinline]] bool worker_path<Pool>::fetch_slowly(worker& w, task& next) {
    idle_wait idle{pool_, w, next};
    return fetch_or_leave(idle);
}

// Returns false if something threw and the worker must be replaced. `next` is empty afterwards.
template <class Pool>
[[gnu::always_inline]] inline bool worker_path<Pool>::claim_and_run(worker& w, task_scope& scope,
                                                                    task& next) {
    SPOOL_PAUSE_POINT("worker: has a task in hand");
    if (next.is_plain()) [[likely]] {
        // A queue or a factory may have asked for a token since the last task.
        scope.reset_leftover_token();
    } else if (worker_path{pool_}.try_claim(w, next)) {
        scope.reset(next);
        if (pool_.backlog.samples().is_on()) [[unlikely]] {
            return task_runner{pool_}.run_timed(w, scope, next);
        }
    } else {
        return true;
    }
    return task_runner{pool_}.run(w, scope, next);
}

template <class Pool>
[[gnu::noinline]] bool worker_path<Pool>::try_claim(worker& w, task& next) {
    if (pool_.backlog.try_claim(next)) {
        return true;
    }
    w.drop_first();
    return false;
}

// Slow path after a task that destroyed the pool, or that left tasks for the worker to keep. After
// each kept task the worker serves the queue once: otherwise tasks that submit themselves again
// would starve the queue.
template <class Pool>
[[gnu::noinline]] auto worker_path<Pool>::attend(worker& w, task_scope& scope, bool fine) -> served {
    task next;
    while (w.stage != worker_stage::detached && kept_tasks{pool_}.take(w, next)) {
        fine = claim_and_run(w, scope, next) && fine;
        try {
            const pool_control now = pool_.control.load();
            if (w.stage != worker_stage::detached && !w.kept.empty() && accepts_tasks(now.state) &&
                now.workers <= pool_.settings.maximum_size() && pool_.backlog.poll_into(next)) {
                fine = claim_and_run(w, scope, next) && fine;
            }
        } catch (...) {  // from the queue
            pool_.config.uncaught(w.info, std::current_exception());
        }
    }
    if (w.stage == worker_stage::detached) {
        return served::detached;
    }
    w.needs_attention = false;
    return fine ? served::continue_ : served::died;
}

// serve() for an extra worker: runs the task that it was started for, if the task is still queued,
// and counts the worker out.
template <class Pool>
auto worker_path<Pool>::serve_errand(worker& w, task_scope& scope) -> served {
    const task_id wanted = *std::exchange(w.errand, std::nullopt);
    task next;
    try {
        if (wanted == 0) {
            static_cast<void>(pool_.backlog.poll_into(next));
        } else {
            next = pool_.backlog.take_if_due(wanted, pool_.config.now());
        }
    } catch (...) {  // from the queue, or no memory
        pool_.config.uncaught(w.info, std::current_exception());
    }
    if (pool_.backlog.try_claim(next) && !next.empty()) {
        scope.reset(next);
        static_cast<void>(task_runner{pool_}.run(w, scope, next));  // no successor, whatever it throws
        if (w.needs_attention && attend(w, scope, true) == served::detached) {
            return served::detached;
        }
    }
    pool_.control.leave();
    return served::leave;
}

template <class Pool>
void worker_path<Pool>::back_off() {
    const unsigned failures = pool_.backlog.count_poll_failure();
    const std::chrono::milliseconds pause{1U << std::min(failures, 10U)};
    static_cast<void>(pool_.termination.await([this] { return !runs_queue(pool_.control.load().state); },
                                              {.until = deadline::after(pause)}));
}

template <class Pool>
void worker_path<Pool>::depart(worker& w) {
    pool_.termination.leave_close(w);  // before `leaving` is set: as a working closer
    w.leaving = true;
    if (pool_.config.hooks != nullptr) {
        pool_.config.guarded(w.info, [&] { pool_.config.hooks->worker_stopped(w.info); });
    }
    kept_tasks{pool_}.run_all(w);
    // Set by this very thread: the hook has destroyed the pool.
    if (w.stage == worker_stage::detached) {
        return;
    }
    worker_roster::worker_list ended_before = pool_.roster.retire(w);
    pool_.termination.leave_close(w);
    detail::hand_over_in_library(&pool_);
    end_departure();
    worker_roster::join(ended_before);
}

template class worker_path<detail::pool>;

}  // namespace spool::inline v1
