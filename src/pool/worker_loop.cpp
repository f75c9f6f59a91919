// The loop of a worker: it fetches tasks, has them run, and leaves in the end.
#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "pool/hot_path.hpp"
#include "pool/pool.hpp"
#include "pool/task_runner.hpp"
#include "pool/worker_wait_context.hpp"
#include "spool/base/error.hpp"
#include "spool/detail/pause_point.hpp"
#include "spool/sync/this_task.hpp"

namespace spool::inline v1 {
namespace {

// A worker that has been idle for the keep-alive but is needed asks again at most this often.
constexpr std::chrono::nanoseconds least_patience = std::chrono::seconds{1};

// A worker's attachment to a queue that keeps a store per consumer. Null: the worker could not be
// attached (see attach()) and works without a store of its own.
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
    void forget() noexcept { queue_ = nullptr; }

private:
    blocking_queue<task>* queue_;
};

}  // namespace

void detail::pool::work(const std::shared_ptr<worker>& self) {
    worker& w = *self;
    task_scope scope;
    scope.set_clock(config.clock.get());
    if (!roster.begin(w, scope)) {
        return;
    }
    w.stack = stack_room::of_this_thread();
    worker_wait_context waits{*this, w};
    {
        consumer_place place{attach(w) ? &backlog.queue() : nullptr};
        if (config.hooks != nullptr) {
            config.guarded(w.info, [&] { config.hooks->worker_started(w.info); });
            // Set by this very thread: the hook destroyed the pool.
            if (w.stage == worker_stage::let_go) {
                return;
            }
        }
        for (;;) {
            const served how = w.lent_for.has_value() ? serve_lent(w, scope) : serve(w, scope);
            if (how == served::let_go) {
                if (is_lost()) {  // in a forked child
                    place.forget();
                    end_in_child();
                }
                return;  // the pool is gone, but for what this thread holds
            }
            if (how == served::died ? hands_over() : !steps().stays()) {
                break;
            }
        }
    }
    depart(w);
}

// Returns false if the queue throws, say for lack of memory: the worker then works without a store
// of its own, which loses nothing.
bool detail::pool::attach(const worker& w) {
    try {
        backlog.queue().attach_consumer();
        return true;
    } catch (const std::bad_alloc&) {
    } catch (...) {
        config.uncaught(w.info, std::current_exception());
    }
    return false;
}

auto detail::pool::serve(worker& w, task_scope& scope) -> served {
    task next = std::move(w.first);
    if (w.needs_attention && next.empty()) {  // after worker_started
        if (const served how = attend(w, scope, true); how != served::and_on) {
            return how;
        }
    }
    if (!next.empty()) {
        if (const served how = serve_first(w, scope, next); how != served::and_on) {
            return how;
        }
    }
    for (;;) {
        try {
            if (!fetch_quickly(next) && !fetch(next)) {
                return served::leave;
            }
        } catch (...) {  // from the queue
            config.uncaught(w.info, std::current_exception());
            back_off();
            return served::died;
        }
        if (const served how = serve_one(w, scope, next); how != served::and_on) [[unlikely]] {
            return how;
        }
    }
}

// Out of line, so that the loop does not test for a first task.
[[gnu::noinline]] auto detail::pool::serve_first(worker& w, task_scope& scope, task& first) -> served {
    return serve_one(w, scope, first);
}

// Runs one task. `next` is empty afterwards if the worker goes on.
inline auto detail::pool::serve_one(worker& w, task_scope& scope, task& next) -> served {
    const bool fine = claim_and_run(w, scope, next);
    // Set by this very thread, in the task or in the task's destructor.
    if (w.needs_attention) [[unlikely]] {
        return attend(w, scope, fine);
    }
    return fine ? served::and_on : served::died;
}

// Returns false if something threw and the worker must be replaced.
[[gnu::always_inline]] inline bool detail::pool::claim_and_run(worker& w, task_scope& scope, task& next) {
    SPOOL_PAUSE_POINT("worker: has a task in hand");
    if (next.is_plain()) [[likely]] {
        // A queue or a factory may have asked for a token since the last task.
        scope.drop_leftover_token();
    } else if (try_claim(w, next)) {
        scope.reset(next);
    } else {
        return true;
    }
    return task_runner{*this}.run(w, scope, next);
}

// Slow path after a task that destroyed the pool, or that left tasks for the worker to keep. After
// each kept task the worker serves the queue once: otherwise tasks that submit themselves again
// would starve the queue.
[[gnu::noinline]] auto detail::pool::attend(worker& w, task_scope& scope, bool fine) -> served {
    task next;
    while (w.stage != worker_stage::let_go && take_kept(w, next)) {
        fine = claim_and_run(w, scope, next) && fine;
        try {
            if (w.stage != worker_stage::let_go && !w.kept.empty() && fetch_quickly(next)) {
                fine = claim_and_run(w, scope, next) && fine;
            }
        } catch (...) {  // from the queue
            config.uncaught(w.info, std::current_exception());
        }
    }
    if (w.stage == worker_stage::let_go) {
        return served::let_go;
    }
    w.needs_attention = false;
    return fine ? served::and_on : served::died;
}

// Claims the task for this worker. Returns false, and drops the task, if the entry is stale.
[[gnu::noinline]] bool detail::pool::try_claim(worker& w, task& next) {
    if (backlog.try_claim(next)) {
        return true;
    }
    if (std::exchange(w.holds_first, false)) {
        w.started.store(0);
        w.depth.store(0);
    }
    return false;
}

// How a worker gets its next task: the `Turn` of pool_steps::fetch().
class detail::pool::turn {
public:
    turn(pool& pool, task& next) noexcept : pool_(pool), next_(next) {}

    bool poll() { return pool_.backlog.poll_into(next_); }
    // The worker stays, for tasks that are not due: another keep-alive period begins.
    void has_to_stay() noexcept {
        spell_.idle = false;
        spell_.needed = true;
    }
    template <class LookAgain>
    wait_result wait(bool limited, LookAgain& look_again) {
        const deadline until = limited ? pool_.patience(spell_) : deadline::never();
        std::optional<task> polled;
        const wait_limits limits{.until = until, .stop = {}, .spin = pool_.spin_time(spell_)};
        const wait_result how = pool_.backlog.pop_until(polled, limits, look_again);
        if (polled.has_value()) {
            next_ = *std::move(polled);
            pool_.idle_waits.note(deadline::clock::now() - spell_.since);
        }
        return how;
    }

private:
    pool& pool_;
    task& next_;
    dry_spell spell_;
};

// Slow path of fetch_quickly(). Returns false if the worker must leave; it is then counted out.
[[gnu::noinline]] bool detail::pool::fetch(task& next) {
    turn now{*this, next};
    return steps().fetch(now);
}

// For a worker that died of an exception: see pool_steps.
bool detail::pool::hands_over() {
    return steps().hands_over([this] {
        std::exception_ptr error;
        return launch(nullptr, error);
    });
}

// How long an idle worker may wait for a task. Only idle workers read the clock.
deadline detail::pool::patience(dry_spell& spell) const noexcept {
    if (!std::exchange(spell.idle, true)) {
        spell.idle_since = deadline::clock::now();
    }
    const std::chrono::nanoseconds most =
        spell.needed ? std::max(settings.keep_alive(), least_patience) : settings.keep_alive();
    return most < deadline::time_point::max() - spell.idle_since ? deadline::at(spell.idle_since + most)
                                                                 : deadline::never();
}

// How much of that time the worker may spin.
std::chrono::nanoseconds detail::pool::spin_time(dry_spell& spell) const noexcept {
    const deadline::time_point now = deadline::clock::now();
    if (spell.since == deadline::time_point{}) {
        spell.since = now;
    }
    const std::chrono::nanoseconds none{0};
    std::chrono::nanoseconds budget = config.idle_spin.time();
    if (config.idle_spin.is_adaptive()) {
        budget = spinning_pays(now) ? idle_waits.worth_spinning() : none;
    } else if (config.idle_spin.is_low_latency()) {
        budget = spinning_can_help() ? idle_waits.worth_spinning() : none;
    }
    return std::max(none, budget - (now - spell.since));
}

std::chrono::nanoseconds detail::pool::patience_of_join() const noexcept {
    const bool may_spin = config.idle_spin.is_low_latency() ? spinning_can_help() : spinning_pays();
    return may_spin ? spin_budget : std::chrono::nanoseconds{0};
}

}  // namespace spool::inline v1
