#include "pool/worker/worker_roster.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "pool/measure/thread_clock.hpp"
#include "spool/detail/thread_sanitizer.hpp"

namespace spool::inline v1 {
namespace {

// The serial of the pool that this thread has left as a worker; 0: none.
constinit thread_local task_id pool_left_here = 0;

}  // namespace

worker_roster::~worker_roster() {
    for (const std::shared_ptr<worker>& w : ended_) {
        if (w->thread) {
            w->thread.detach();
        }
    }
}

// ---- A worker is started

// To move a task calls user code, so the worker gets it before the lock, and gives it back after the
// lock if the worker is not added.
std::shared_ptr<worker> worker_roster::enlist(task* first) {
    auto w = std::make_shared<worker>();
    w->info.pool = pool_;
    struct give_back {
        task* to;
        worker& from;
        ~give_back() {
            if (to != nullptr) {
                *to = std::move(from.first);
            }
        }
    } unless_enlisted{first, *w};
    if (first != nullptr) {
        w->first = std::move(*first);
        w->holds_first = true;
        w->started.store(1);
        w->depth.store(1);
    }
    const detail::lock_guard lock{mutex_};
    const run_state state = control_.load().state;
    if (!accepts_tasks(state) && (first != nullptr || !runs_queue(state))) {
        return nullptr;
    }
    w->info.number = last_number_ + 1;
    w->info.name = pool_ + "-" + std::to_string(w->info.number);
    w->position = workers_.insert(workers_.end(), w);
    ++last_number_;
    unless_enlisted.to = nullptr;
    return w;
}

bool worker_roster::keep_thread(const std::shared_ptr<worker>& self, worker_thread&& thread) {
    worker& w = *self;
    worker_stage stage;
    {
        const detail::lock_guard lock{mutex_};
        stage = w.stage;
        if (stage == worker_stage::starting || stage == worker_stage::working) {
            const bool runs = thread || stage == worker_stage::working;
            w.thread = std::move(thread);
            if (runs) {
                count_alive(w);
            }
            return runs;
        }
    }
    if (thread && stage == worker_stage::detached) {
        thread.detach();
    } else if (thread && (stage != worker_stage::ended || !leave_to_others(self, thread))) {
        thread.join();  // it has ended, or has dropped the body and is about to end
    }
    return stage != worker_stage::dropped;
}

// Takes over the thread of worker `w`, which ended before its starter could store the thread.
// Returns false, and leaves the thread to the starter, unless the starter itself has left the pool.
// Such a starter must not join: `w` may be joining the starter. So the next thread that joins gets
// the thread.
bool worker_roster::leave_to_others(const std::shared_ptr<worker>& w, worker_thread& thread) noexcept {
    if (!has_left_here()) {
        return false;
    }
    const detail::lock_guard lock{mutex_};
    try {
        if (std::find(ended_.begin(), ended_.end(), w) == ended_.end()) {
            ended_.push_back(w);
        }
    } catch (const std::bad_alloc&) {
        thread.detach();
        return true;
    }
    w->thread = std::move(thread);
    return true;
}

// Precondition: the worker has a thread. The minimum: a dying worker and its successor share one
// place in the control word.
void worker_roster::count_alive(worker& w) {
    if (!std::exchange(w.counted, true)) {
        ++alive_;
        largest_ = std::max(largest_, std::min(alive_, control_.load().workers));
    }
}

bool worker_roster::strike_off(worker& w, task* first) {
    {
        const detail::lock_guard lock{mutex_};
        if (w.stage != worker_stage::starting && w.stage != worker_stage::dropped) {
            return false;
        }
        w.stage = worker_stage::abandoned;
        workers_.erase(w.position);
    }
    if (first != nullptr) {  // not under the lock: to move a task calls user code
        *first = std::move(w.first);
    }
    return true;
}

bool worker_roster::begin(worker& w, task_scope& scope) {
    const thread_identity self = identity_of_this_thread();
    const detail::lock_guard lock{mutex_};
    if (w.stage != worker_stage::starting) {
        return false;
    }
    w.stage = worker_stage::working;
    w.thread_id = std::this_thread::get_id();
    w.meter.begun = std::chrono::steady_clock::now();
    w.meter.thread = self.id;
    w.meter.cpu_clock = self.cpu_clock;
    count_alive(w);
    w.scope = &scope;
    return true;
}

// The body is destroyed either before the factory returned, which the starter will see, or later, in
// the factory's thread.
std::optional<task> worker_roster::drop(worker& w) noexcept {
    {
        const detail::lock_guard lock{mutex_};
        if (w.stage != worker_stage::starting) {
            return std::nullopt;
        }
        w.stage = worker_stage::dropped;
        if (!w.thread) {
            return std::nullopt;
        }
        mark_left_here();  // from now on other threads may join this thread
        ended_.splice(ended_.end(), workers_, w.position);
        if (w.counted) {
            --alive_;
        }
    }
    return std::move(w.first);  // not under the lock: to move a task calls user code
}

void worker_roster::record_start() noexcept {
    if (start_failed_.load()) {
        start_failed_.store(false);
    }
}

void worker_roster::record_start_failure(std::exception_ptr error) noexcept {
    {
        const detail::lock_guard lock{mutex_};
        start_error_.swap(error);
    }
    start_failed_.store(true);
    // Another thread may still handle the previous exception, whose destructor is user code.
    const detail::unwatched_release quiet;
    error = nullptr;
}

std::exception_ptr worker_roster::last_start_error() const {
    const detail::lock_guard lock{mutex_};
    return start_error_;
}

// ---- A worker leaves

auto worker_roster::retire(worker& w) noexcept -> worker_list {
    mark_left_here();
    worker_list ended_before;
    const detail::lock_guard lock{mutex_};
    w.stage = worker_stage::ended;
    w.scope = nullptr;
    completed_by_ended_ += w.completed.load();
    take_over(w);
    --alive_;
    ended_before.swap(ended_);
    ended_.splice(ended_.end(), workers_, w.position);
    return ended_before;
}

void worker_roster::release(worker& w) noexcept {
    worker_thread own;
    {
        const detail::lock_guard lock{mutex_};
        w.stage = worker_stage::detached;
        w.needs_attention = true;
        w.scope = nullptr;
        completed_by_ended_ += w.completed.load();
        take_over(w);
        --alive_;
        own = std::move(w.thread);
        workers_.erase(w.position);
    }
    if (own) {
        own.detach();
    }
}

// The workers are off the list: each is in the last part of its departure, past it, or has dropped
// its body. Such a thread may still end the pool, join workers that left before it, and run its
// thread_local destructors. No worker is on two lists, so no two of them join each other.
void worker_roster::join(worker_list& ended) {
    for (const std::shared_ptr<worker>& w : ended) {
        if (w->thread) {
            w->thread.join();
        }
    }
}

// A thread that has left the pool may close it, in a thread_local destructor or the terminated hook.
// Another worker that left may be joining this thread, so this thread joins none.
void worker_roster::join_ended() {
    if (has_left_here()) {
        return;
    }
    worker_list ended;
    {
        const detail::lock_guard lock{mutex_};
        ended.swap(ended_);
    }
    join(ended);
}

void worker_roster::mark_left_here() const noexcept {
    pool_left_here = serial_;
}
bool worker_roster::has_left_here() const noexcept {
    return pool_left_here == serial_;
}

// ---- All workers

// Requests stop on one worker after the other, each outside of the lock, since stop callbacks are
// user code. A worker that begins a task later sees the state. Idle workers get a request too: to
// find out whether a worker is idle would need a fence in every task.
//
// A worker that got its request goes to the end of the list, so the next one is always at the
// front, and the whole takes linear time. No new worker follows, because enlist() refuses once the
// pool is stopping.
void worker_roster::request_stops() {
    for (;;) {
        std::stop_source source{std::nostopstate};
        {
            const detail::lock_guard lock{mutex_};
            if (workers_.empty() || workers_.front()->asked_to_stop) {
                return;
            }
            worker& next = *workers_.front();
            next.asked_to_stop = true;
            workers_.splice(workers_.end(), workers_, workers_.begin());
            if (next.scope != nullptr) {
                source = next.scope->interrupt();
            }
        }
        detail::request_stop_of(source);
    }
}

std::uint64_t worker_roster::count(pool_snapshot& s) const {
    const detail::lock_guard lock{mutex_};
    const pool_control c = control_.load();
    s.state = c.state;
    s.pool_size = c.workers;
    s.largest_pool_size = largest_;
    s.active = 0;
    s.completed = completed_by_ended_;
    std::uint64_t started = completed_by_ended_;
    for (const std::shared_ptr<worker>& w : workers_) {
        s.active += w->depth.load() != 0 ? 1 : 0;
        s.completed += w->completed.load();
        started += w->started.load();
    }
    return started;
}

}  // namespace spool::inline v1
