// A worker leaves: it carries on after all, hands its place to a successor, or departs.
#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/self_service.hpp"
#include "spool/base/error.hpp"

namespace spool::inline v1 {
namespace {

// The serial of the pool that this thread has left as a worker; 0: none.
constinit thread_local task_id pool_left_here = 0;

}  // namespace

void thread_pool_executor::core::depart(worker& w) {
    forget_closer(w);  // before `leaving` is set: as a working closer
    w.leaving = true;
    if (hooks_ != nullptr) {
        guarded(w.info, [&] { hooks_->worker_stopped(w.info); });
    }
    run_kept(w);
    // Set by this very thread: the hook has destroyed the pool.
    if (w.stage == worker_stage::let_go) {
        return;
    }
    note_left_here();
    worker_list left_before;
    {
        const detail::lock_guard lock{workers_mutex_};
        w.stage = worker_stage::ended;
        w.scope = nullptr;
        completed_by_left_ += w.completed.load();
        --alive_;
        left_before.swap(left_);
        left_.splice(left_.end(), workers_, w.position);
    }
    forget_closer(w);
    detail::hand_over_in_library(this);
    steps().departed();
    join(left_before);
}

void thread_pool_executor::core::forget_closer(worker& w) noexcept {
    if (std::exchange(w.closing, false)) {
        closers_like(w).fetch_sub(1);
    }
}

// Wakes submitters that wait for a free place, and a destructor that waits for the last worker.
// pair (S): the count was lowered before.
void thread_pool_executor::core::tell_of_free_place() noexcept {
    backlog_.wake_producers();
    changed_.notify_all();
}

// Joins workers that are off the list of workers: each is in the last part of depart(), past it, or
// in body_dropped(). Such a thread may still end the pool, join workers that left before it, and
// run its thread_local destructors. No worker is on two lists, so no two of them join each other.
void thread_pool_executor::core::join(worker_list& left) {
    for (const std::shared_ptr<worker>& w : left) {
        if (w->thread) {
            w->thread.join();
        }
    }
}

void thread_pool_executor::core::note_left_here() const noexcept {
    pool_left_here = serial_;
}
bool thread_pool_executor::core::left_here() const noexcept {
    return pool_left_here == serial_;
}

// Takes over the thread of worker `w`, which ended before its starter could store the thread.
// Returns false, and leaves the thread to the starter, unless the starter itself has left the pool.
// Such a starter must not join: `w` may be joining the starter. So the next thread that joins gets
// the thread.
bool thread_pool_executor::core::leave_to_others(const std::shared_ptr<worker>& w,
                                                 worker_thread& thread) noexcept {
    if (!left_here()) {
        return false;
    }
    const detail::lock_guard lock{workers_mutex_};
    try {
        if (std::find(left_.begin(), left_.end(), w) == left_.end()) {
            left_.push_back(w);
        }
    } catch (const std::bad_alloc&) {
        thread.detach();
        return true;
    }
    w->thread = std::move(thread);
    return true;
}

// Does nothing on a thread that has left the pool, though its thread_local destructor or the
// terminated hook may close the pool: another worker that left may be joining this thread.
void thread_pool_executor::core::join_those_who_left() {
    if (left_here()) {
        return;
    }
    worker_list left;
    {
        const detail::lock_guard lock{workers_mutex_};
        left.swap(left_);
    }
    join(left);
}

// The queue throws at every call: retries it less and less often, down to once a second.
void thread_pool_executor::core::back_off() {
    const unsigned failures = backlog_.count_poll_failure();
    const std::chrono::milliseconds pause{1U << std::min(failures, 10U)};
    static_cast<void>(
        changed_.await([this] { return !runs_queue(control().state); }, {.until = deadline::after(pause)}));
}

void thread_pool_executor::core::report(const std::exception_ptr& error) const noexcept {
    const worker* const self = self_service::of(*this);
    if (self == nullptr) {
        uncaught(pool_info_, error);
    } else {
        const task_id id = self->current.load(std::memory_order_relaxed);  // relaxed, owner
        uncaught(task_info{.id = id, .worker = &self->info}, error);
    }
}

}  // namespace spool::inline v1
