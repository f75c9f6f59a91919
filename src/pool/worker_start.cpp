// A worker is started: counted, enrolled, and its thread made by the factory.
//
// The thread may begin, and even end, before the factory has returned its handle. So a worker is in the list before the factory
// is called, and the handle is put into it afterwards, or at once among those to be joined.
#include <algorithm>
#include <utility>

#include "pool/pool_core.hpp"
#include "pool/worker_body.hpp"
#include "spool/base/error.hpp"
#include "spool/base/pause_point.hpp"

namespace spool::inline v1 {

// `*first` is moved from only if the answer is `started`.
auto thread_pool_executor::core::start_worker(task* first, bound limit, std::exception_ptr& error)
    -> start_result {
    return steps().start_worker(first, limit, error);
}

// While one was being started in vain, others may have queued tasks in the belief that there was a worker. They have nobody else, so
// one more failure is not the end.
void thread_pool_executor::core::try_for_the_stranded() {
    constexpr int enough = 8;
    for (int attempt = 0; attempt < enough; ++attempt) {
        const pool_control c = control();
        if (!runs_queue(c.state) || c.workers != 0 || queue_is_empty()) {
            return;
        }
        std::exception_ptr error;
        start_worker(nullptr, bound::maximum_size, error);
    }
}

auto thread_pool_executor::core::launch(task* first, std::exception_ptr& error,
                                        std::optional<task_id> lent_for) -> start_result {
    std::shared_ptr<worker> w;
    try {
        w = enrol(first);
        if (w == nullptr) {
            return start_result::not_allowed;
        }
        w->lent_for = lent_for;
        worker_thread thread = thread_factory()(task{worker_body{shared_from_this(), w}}, w->info);
        SPOOL_PAUSE_POINT("start: the thread runs");
        if (keep_thread(w, std::move(thread))) {
            return start_result::started;
        }
    } catch (...) {
        error = std::current_exception();
        if (w == nullptr) {
            return start_result::failed;
        }
    }
    // A factory may throw, or return nothing, and its thread run all the same: it just cannot be joined.
    return strike_off(*w, first) ? start_result::failed : start_result::started;
}

// Puts a new worker into the list, unless the pool has shut down since it was counted.
std::shared_ptr<worker> thread_pool_executor::core::enrol(task* first) {
    auto w = std::make_shared<worker>();
    w->info.pool = name_;
    const detail::lock_guard lock{workers_mutex_};
    const run_state state = control().state;
    if (!accepts_tasks(state) && (first != nullptr || !runs_queue(state))) {
        return nullptr;
    }
    w->info.number = last_number_ + 1;
    w->info.name = name_ + "-" + std::to_string(w->info.number);
    w->position = workers_.insert(workers_.end(), w);
    ++last_number_;
    if (first != nullptr) {
        w->first = std::move(*first);
        w->holds_first = true;
        w->started.store(1);
        w->depth.store(1);
    }
    return w;
}

// False: there is no thread that would run the body.
bool thread_pool_executor::core::keep_thread(const std::shared_ptr<worker>& self, worker_thread&& thread) {
    worker& w = *self;
    worker_stage stage;
    {
        const detail::lock_guard lock{workers_mutex_};
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
    if (thread && stage == worker_stage::let_go) {
        thread.detach();
    } else if (thread && (stage != worker_stage::ended || !leave_to_others(self, thread))) {
        thread.join();  // ended already, or a thread that dropped the body: it is about to end
    }
    return stage != worker_stage::dropped;
}

// Under workers_mutex_, once there is a thread. A dying worker and its successor share one place in the control word.
void thread_pool_executor::core::count_alive(worker& w) {
    if (!std::exchange(w.counted, true)) {
        ++alive_;
        largest_ = std::max(largest_, std::min(alive_, control().workers));
    }
}

// False: it runs after all.
bool thread_pool_executor::core::strike_off(worker& w, task* first) {
    const detail::lock_guard lock{workers_mutex_};
    if (w.stage != worker_stage::starting && w.stage != worker_stage::dropped) {
        return false;
    }
    w.stage = worker_stage::void_;
    workers_.erase(w.position);
    if (first != nullptr) {
        *first = std::move(w.first);
    }
    return true;
}

// A factory destroyed the body without running it: before it returned (the starter will see), or later, in its thread.
void thread_pool_executor::core::body_dropped(worker& w) noexcept {
    task first;
    {
        const detail::lock_guard lock{workers_mutex_};
        if (w.stage != worker_stage::starting) {
            return;
        }
        w.stage = worker_stage::dropped;
        if (!w.thread) {
            return;
        }
        note_left_here();  // from now on others may join this thread
        left_.splice(left_.end(), workers_, w.position);
        first = std::move(w.first);
        if (w.counted) {
            --alive_;
        }
    }
    control_.release_worker();
    tell_of_free_place();
    uncaught(w.info,
             std::make_exception_ptr(std::logic_error("the thread factory dropped the body of a worker")));
    guarded(w.info, [&] {
        std::exception_ptr error;
        if (!first.empty() && admit(first, error) != admission_result::accepted && unprepare(first)) {
            count_rejection(first, rejection_reason::no_thread);
        }
        try_for_the_stranded();
        try_terminate();
    });
}

}  // namespace spool::inline v1
